// PacketIo is the interface to unreliable packets, reduced to what the datagram path needs. An endpoint sends
// packets to any peer and receives the packets of all peers. Packets may be lost, duplicated, reordered and
// damaged; the layer above repairs that (path/dgram/flow.h). The kinds of endpoint are UDP sockets,
// libfabric's datagram endpoints, and the simulated network (net/sim/packet_network.h). HarmedPackets
// (harmed_packets.h) can wrap any of these.
//
// Contract
// - Nothing blocks. Results are numbers >= 0 or -errno. An errno concerns this endpoint, never one peer: what
//   the network reports about a peer (such as ECONNREFUSED) counts as a loss, because any host can forge such
//   a report. An errno for which lasts() is true ends the endpoint: the system refuses the calls that the
//   endpoint needs, or other code has closed its descriptor.
// - send() takes packets from the front of the list. When it returns, all bytes of the packets taken have
//   been copied or sent. The endpoint owns whatever its kind needs for that (registered memory, room in a
//   completion queue). If send() takes fewer packets than given, the endpoint is *full*; there is no other
//   back-pressure. descriptor() becomes readable when another attempt is worthwhile; without a descriptor,
//   the caller tries again after a later receive(). If send() returns an errno, it has taken no packet: an
//   error behind packets that were taken leaves the endpoint full, and the next send() reports it. A packet
//   longer than the endpoint can carry to its destination is dropped and counted. largest() may shrink at any
//   time, when the MTU of the route is found to be smaller.
// - receive() lends packets: their bytes lie in the endpoint's buffers until the next receive() takes the
//   packets back. The bytes are not aligned. Headers that the kind of endpoint adds to a packet are not lent.
//   receive() does not report the sender: the contents of a packet name its sender and authenticate it.
// - A name is what another process needs to reach this endpoint; names are published through the launcher. A
//   destination is a small number that this endpoint gives to a name. The layers above use only this number,
//   and never store or compare a system's addresses. A name may stand for several routes, and only the
//   network can show which of these lead to the peer. Each route has a destination of its own. A packet that
//   arrives identifies a route that works (origin()).
//
// Thread rule: only the owner of the engine calls these functions; the thread that sleeps may use
// descriptor().
// Tested by: tests/unit/net/udp_packets_test.cc, tests/unit/net/fabric_packets_test.cc.
#pragma once

#include <errno.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanyard {

// Every network carries packets of this size.
constexpr size_t least_packet = 512;

class PacketIo {
public:
    static constexpr int most_parts = 4;  // the most parts of one packet

    struct Outgoing {
        uint64_t destination;
        const iovec *parts;
        int count;

        size_t bytes() const {
            size_t sum = 0;
            for (int i = 0; i < count; ++i) sum += parts[i].iov_len;
            return sum;
        }
    };
    struct Arrived {
        const std::byte *data;
        size_t size;
        uint32_t note = 0;  // set by receive() for the endpoint's own use in origin()
    };

    static bool lasts(int trouble) {
        return trouble == EPERM || trouble == EACCES || trouble == ENOSYS || trouble == EBADF ||
               trouble == ENOTSOCK;
    }

    virtual ~PacketIo() = default;

    virtual std::string name() const = 0;
    // The destination for a name. The same name always has the same destination. -EINVAL if this endpoint
    // cannot reach an endpoint with such a name.
    virtual int64_t destination(std::string_view name) = 0;
    // The destinations of all routes to this name, including the one that destination() returns. The name
    // must be one that destination() accepts.
    virtual std::vector<uint64_t> routes(std::string_view name) {
        return {static_cast<uint64_t>(destination(name))};
    }
    // The route back to the sender of a packet that is lent now; -1 if the packet's origin was not noted.
    virtual int64_t origin(const Arrived &) { return -1; }
    // Sets whether the origins of packets are noted from now on. Noting origins delays each packet slightly.
    // Returns whether origins are noted. An endpoint that cannot note origins, or has only one route, returns
    // false.
    virtual bool note_origins(bool) { return false; }
    // The bytes of the longest packet that can reach this destination, as far as is known now; at least
    // least_packet.
    virtual size_t largest(uint64_t destination) const = 0;
    // The two addresses between which packets to this destination travel, for reports: "10.0.1.2:4711 and
    // 10.0.1.3:4712". Empty if this kind has no addresses to report.
    virtual std::string ends(uint64_t) const { return {}; }
    // True if the destination is within this host. Packets within this host share no network line with
    // packets to other hosts.
    virtual bool within_host(uint64_t) const { return false; }
    // Returns the number of packets taken from the front of the list, or -errno.
    virtual int send(const Outgoing *list, int count) = 0;
    // Returns the number of packets lent, 0 if none has arrived, or -errno. Takes back the packets of the
    // last call.
    virtual int receive(Arrived *list, int most) = 0;
    // Whether further packets have arrived behind those that the last receive() lent. `nothing`: the endpoint
    // has seen that there are none. `unlikely`: the endpoint has not looked, but packets arrived singly of
    // late. `perhaps`: there may be more.
    enum class Behind { nothing, unlikely, perhaps };
    virtual Behind behind() const { return Behind::perhaps; }
    // A descriptor that is readable when a packet has arrived, or when there is room again after send() was
    // full; -1 if there is none, so that the caller must poll.
    virtual int descriptor() const = 0;
    // Sets whether the descriptor must report arrivals; true at first. Reporting delays each packet and is
    // not needed while the engine polls all the time.
    virtual void watch(bool) {}
    virtual uint64_t now_ns() = 0;
    // One line for reports about this endpoint, with counts of packets that were dropped: too long, refused
    // by the system or the provider.
    virtual std::string describe() const = 0;
};

}  // namespace lanyard
