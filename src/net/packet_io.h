// Unreliable packets, as little of them as the datagram path needs: an endpoint sends packets to any peer and receives those of all. Packets may be
// lost, doubled, overtaken and damaged; who sends them repairs that (path/dgram/flow.h). Kinds: UDP sockets, libfabric's datagram endpoints, the
// simulated network (net/sim/packet_network.h); any may be wrapped by one that does harm on purpose.
//
// Contract
// - Nothing blocks. Results are numbers >= 0 or -errno; an errno concerns this endpoint, never one peer: what the network says of a peer
//   (ECONNREFUSED and its like) counts as loss, since anybody can forge it. One that lasts() ends the endpoint: the system refuses the calls that it
//   needs, or its descriptor was closed by somebody else.
// - send() takes packets from the front of the list: all bytes of those taken have been copied or sent when it returns, so the endpoint owns
//   what its kind needs for that (registered memory, the room of a completion queue). Fewer taken than given means *full*, the only
//   back-pressure: descriptor() becomes readable when it is worth trying again; without one, after a later receive().
//   A packet longer than largest() is dropped and counted, and largest() may shrink at any time (the path's MTU was found to be less).
// - receive() lends packets: their bytes lie in the endpoint's buffers, whatever offload or prefix the kind has is taken off, and they are given back
//   by the next receive(). They are not aligned. Who sent one is for the packet itself to say and to prove.
// - A name is what another process needs to reach this endpoint, as published through the launcher; a destination is the small number by which
//   this endpoint knows it from then on: so no system's form of address is kept or compared above. Where a name stands for several ways, only
//   the network knows which of them lead there: each has a destination of its own, and a packet that came shows one that does.
// Thread rule: the owner of the engine; descriptor() by whoever sleeps.
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
        uint32_t note = 0;  // the endpoint's own, for origin()
    };

    static bool lasts(int trouble) { return trouble == EPERM || trouble == EACCES || trouble == ENOSYS || trouble == EBADF || trouble == ENOTSOCK; }

    virtual ~PacketIo() = default;

    virtual std::string name() const = 0;
    // -EINVAL when this kind cannot reach such a name. The same name gives the same number.
    virtual int64_t destination(std::string_view name) = 0;
    // The destinations of all ways to this name, that of destination() among them.
    virtual std::vector<uint64_t> ways(std::string_view name) { return {static_cast<uint64_t>(destination(name))}; }
    // The way back to who sent a packet that receive() lends now; -1: that was not noted.
    virtual int64_t origin(const Arrived &) { return -1; }
    // Whether the origins of packets that come from now on are noted, which makes each a little later. False: this kind cannot, or has one way only.
    virtual bool note_origins(bool) { return false; }
    // Bytes of the longest packet that gets there, as far as is known now; at least 512.
    virtual size_t largest(uint64_t destination) const = 0;
    // Between which addresses packets to it go, for reports: "10.0.1.2:4711 and 10.0.1.3:4712"; empty: this kind has no addresses to speak of.
    virtual std::string ends(uint64_t) const { return {}; }
    // Is it within this host, so that what goes there shares no line with what others send?
    virtual bool within_host(uint64_t) const { return false; }
    // The number taken from the front.
    virtual int send(const Outgoing *list, int count) = 0;
    // The number of packets lent; 0 when none are there. Gives back those of the last call.
    virtual int receive(Arrived *list, int most) = 0;
    // What is behind that which the last receive() lent: nothing; hardly anything, as it came alone of late, but nobody has looked; or perhaps more.
    enum class Behind { nothing, unlikely, perhaps };
    virtual Behind behind() const { return Behind::perhaps; }
    // Readable when receive() has something, or when there is room again after send() was full; -1: must be asked.
    virtual int descriptor() const = 0;
    // Need the descriptor tell of what comes? Not while somebody asks all the time anyway, as telling makes each packet later. True at first.
    virtual void watch(bool) {}
    virtual uint64_t now_ns() = 0;
    // One line for reports, with what was counted here: taken, dropped because too long, refused by the system.
    virtual std::string describe() const = 0;
};

}  // namespace lanyard
