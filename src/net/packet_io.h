// Unreliable packets, reduced to what the datagram path needs: an endpoint sends packets to any peer and
// receives those of all peers. Packets may be lost, doubled, overtaken and damaged; the layer above repairs
// that (path/dgram/flow.h). The kinds are UDP sockets, libfabric's datagram endpoints, and the simulated
// network (net/sim/packet_network.h). Any of them may be wrapped by one that does harm on purpose.
//
// Contract
// - Nothing blocks. Results are numbers >= 0 or -errno. An errno concerns this endpoint, never one peer: what
//   the network reports about a peer (such as ECONNREFUSED) counts as loss, because any host can forge it. An
//   errno for which lasts() is true ends the endpoint: the system refuses the calls that it needs, or other
//   code has closed its descriptor.
// - send() takes packets from the front of the list. When it returns, all bytes of the packets taken have
//   been copied or sent, so the endpoint owns whatever its kind needs for that (registered memory, room in a
//   completion queue). If it takes fewer than given, it is *full*; there is no other back-pressure.
//   descriptor() becomes readable when another attempt is worthwhile; without a descriptor, try after a later
//   receive(). A packet longer than largest() is dropped and counted. largest() may shrink at any time, when
//   the path's MTU is found to be smaller.
// - receive() lends packets. Their bytes lie in the endpoint's buffers, without the kind's offload or prefix,
//   and the next receive() takes them back. They are not aligned. The packet itself states and proves its
//   sender.
// - A name is what another process needs to reach this endpoint; it is published through the launcher. A
//   destination is the small number by which this endpoint identifies a name from then on, so the layers
//   above never store or compare a system's addresses. A name may stand for several routes, and only the
//   network can show which of them lead to the peer. Each route has a destination of its own, and a packet
//   that arrives identifies one that works.
//
// Thread rule: the owner of the engine; the thread that sleeps may use descriptor().
#pragma once

#include <errno.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanyard {

class PacketIo {
public:
    static constexpr int most_parts = 4;  // of one packet

    struct Outgoing {
        uint64_t destination;
        const iovec *parts;
        int count;
    };
    struct Arrived {
        const std::byte *data;
        size_t size;
        uint32_t note = 0;  // for the endpoint's own use, in origin()
    };

    static bool lasts(int trouble) {
        return trouble == EPERM || trouble == EACCES || trouble == ENOSYS || trouble == EBADF ||
               trouble == ENOTSOCK;
    }

    virtual ~PacketIo() = default;

    virtual std::string name() const = 0;
    // The destination for a name; the same name has the same number. -EINVAL if this kind cannot reach such a
    // name.
    virtual int64_t destination(std::string_view name) = 0;
    // The destinations of all routes to this name, including destination().
    virtual std::vector<uint64_t> ways(std::string_view name) {
        return {static_cast<uint64_t>(destination(name))};
    }
    // The route back to the sender of a packet that receive() lends now; -1: it was not noted.
    virtual int64_t origin(const Arrived &) { return -1; }
    // Sets whether the origins of packets are noted from now on, which delays each packet slightly. False:
    // this kind cannot note them, or has only one route.
    virtual bool note_origins(bool) { return false; }
    // Bytes of the longest packet that can arrive there, as far as is known now; at least 512.
    virtual size_t largest(uint64_t destination) const = 0;
    // The addresses between which packets to it travel, for reports: "10.0.1.2:4711 and 10.0.1.3:4712".
    // Empty: this kind has no addresses to report.
    virtual std::string ends(uint64_t) const { return {}; }
    // True if it is within this host, so that its packets share no line with those of other hosts.
    virtual bool within_host(uint64_t) const { return false; }
    // Returns the number of packets taken from the front.
    virtual int send(const Outgoing *list, int count) = 0;
    // Returns the number of packets lent, 0 if there are none. Takes back those of the last call.
    virtual int receive(Arrived *list, int most) = 0;
    // What has arrived behind the packets that the last receive() lent. `nothing`: the endpoint has looked.
    // `unlikely`: it has not looked, but packets arrived singly of late. `perhaps`: there may be more.
    enum class Behind { nothing, unlikely, perhaps };
    virtual Behind behind() const { return Behind::perhaps; }
    // Readable when receive() has something, or when there is room again after send() was full; -1: the
    // caller must poll.
    virtual int descriptor() const = 0;
    // Sets whether the descriptor must report arrivals. It need not while the engine polls all the time, and
    // reporting delays each packet. True at first.
    virtual void watch(bool) {}
    virtual uint64_t now_ns() = 0;
    // One line for reports, with the counts of this endpoint: packets taken, dropped as too long, refused by
    // the system.
    virtual std::string describe() const = 0;
};

}  // namespace lanyard
