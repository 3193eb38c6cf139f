// Packets over UDP: one socket for each address of this process, for all peers.
//
// - Several packets to one destination leave by one system call, and as one where the kernel cuts them (UDP_SEGMENT); several that came arrive
//   by one, joined (UDP_GRO). Whether that works is found by using it: what the kernel or a driver refuses is not tried again. Nor are
//   the calls for several (sendmmsg, recvmmsg) where a filter of system calls refuses them: each message has a call of its own then.
// - No packet is cut on its way (IP_PMTUDISC_DO). A destination's largest packet is what the kernel believes of the path; one that proves to
//   be too long is dropped, and the kernel asked again. A router that drops long packets without saying so is for the flow to notice.
// - A single packet leaves by the call for one, and one is asked for where they came one by one of late, and short: the calls for several cost
//   100 ns and 300 ns more. Who goes on after a look that was for one packet has not seen whether another is there; behind() says so. A look for one
//   does not learn what the kernel has joined, so it does not join then; the first packet that comes right behind another ends that.
// - The kernel looks for the route of each packet anew (300 ns), but for those of a connected socket. So one socket more, for all peers, is connected
//   to the destination to which the last favoured_after packets went singly. What is sent by it comes from another port, which
//   only says nothing within this host: between hosts a firewall may ask where a packet comes from, so it is not done there. (With the same port
//   it would receive what comes from there, and two sockets would have to be asked.)
// - What an epoll set watches arrives 250 ns later, and more where other sets watch that set: sockets leave it while somebody asks all the time.
// - What the kernel refuses for one destination (no route, a firewall) counts as loss.
// - Buffers for what comes are touched as far as they are used. A destination is 36 bytes, and at most 16 by which it is found again.
// Thread rule: as PacketIo.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/tally.h"
#include "net/address.h"
#include "net/packet_io.h"

namespace lanyard {

class UdpPackets final : public PacketIo {
public:
    struct Counts {
        Tally<uint64_t> sent, received;
        Tally<uint64_t> too_long, refused;  // dropped before they left
        Tally<uint64_t> cut;                // that came longer than any packet may be
        Tally<uint64_t> send_calls, receive_calls;
    };
    struct Options {
        int buffer = 4 << 20;  // bytes of the kernel's receive buffer, of which it may grant less
        bool join = true;      // packets, in the kernel, where it can
        bool ways_within_host = false;  // are taken to be several
    };

    UdpPackets() : UdpPackets(Options{}) {}
    explicit UdpPackets(const Options &options);
    ~UdpPackets() override;
    UdpPackets(const UdpPackets &) = delete;
    UdpPackets &operator=(const UdpPackets &) = delete;

    // With a port between `least` and `most`, the same at all addresses; any where `least` is 0.
    Error open(const std::vector<Address> &addresses, uint16_t least, uint16_t most);

    uint16_t port() const { return sockets_.front().bound.port; }
    // "10.0.1.2:4711,[fd00::1]:4711"
    std::string name() const override;
    int64_t destination(std::string_view name) override;
    std::vector<uint64_t> ways(std::string_view name) override;
    int64_t origin(const Arrived &packet) override;
    bool note_origins(bool on) override;
    size_t largest(uint64_t destination) const override { return destinations_[destination].largest; }
    std::string ends(uint64_t destination) const override;
    bool within_host(uint64_t destination) const override { return on_this_host(destinations_[destination]); }
    int send(const Outgoing *list, int count) override;
    int receive(Arrived *list, int most) override;
    Behind behind() const override;
    int descriptor() const override { return epoll_; }
    void watch(bool on) override;
    uint64_t now_ns() override;
    std::string describe() const override;

    const Counts &counts() const { return counts_; }
    // Bytes that the kernel keeps for this process at one address until they are read.
    int granted_buffer() const;

private:
    struct Destination {
        union {
            sockaddr any;
            sockaddr_in four;
            sockaddr_in6 six;
        };
        uint16_t socket, largest;  // place in sockets_; bytes

        socklen_t length() const { return any.sa_family == AF_INET6 ? sizeof six : sizeof four; }
    };
    static_assert(sizeof(Destination) <= 36);
    struct Socket {
        int descriptor;
        Address bound;
        bool awaits_room = false;
    };
    // The destination on this host that most goes to, and a socket that is connected to it.
    struct Favourite {
        static constexpr uint64_t none = UINT64_MAX;
        uint64_t destination = none, latest = none;
        int in_a_row = 0;  // packets to the latest, sent one by one
        int descriptor = -1;
    };
    struct Batch;
    struct Inbox;

    int open_at(const std::vector<Address> &addresses, uint16_t port);
    void close_all();
    void learn_largest(Destination &destination) const;
    // One of a name's addresses, by that of our sockets which is closest to it.
    struct Way {
        Destination to;
        int kinship;
    };
    std::vector<Way> find_ways(std::string_view name) const;
    uint64_t number_of(Destination destination);
    uint32_t &place_of(const Destination &destination);
    void make_room();
    int take_batch(const Outgoing *list, int count, Batch &batch) const;
    int send_messages(int socket, mmsghdr *list, int count);
    int send_batch(Batch &batch);
    int send_several(const Outgoing *list, int count);
    bool forgive(int trouble, Batch &batch, int first);
    bool on_this_host(const Destination &destination) const;
    void favour(uint64_t number);
    bool send_one(const Outgoing &packet);
    void await_room(Socket &socket, bool awaits);
    int read(Socket &socket);
    void ask_to_join(bool on);
    int lend(Arrived *list, int most);

    const Options options_;
    int epoll_ = -1;
    std::vector<Socket> sockets_;
    size_t next_socket_ = 0, read_socket_ = 0;  // read_socket_: from which the packets that are lent have come
    bool watched_ = true;
    bool wants_origins_ = false;
    Favourite favourite_;
    std::vector<Destination> destinations_;
    std::vector<uint32_t> known_;  // their numbers, each plus one, by a hash of the address; 0: free
    std::unique_ptr<Inbox> inbox_;
    std::unique_ptr<Batch> batch_;  // not on the stack, of which a thread of the program may have little
    bool cuts_ = true;           // the kernel, by UDP_SEGMENT
    bool sends_several_ = true;  // by one call
    Counts counts_;
};

}  // namespace lanyard
