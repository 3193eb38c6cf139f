// Packets over UDP: one socket for each address of this process, for all peers.
//
// - Several packets to one destination leave by one system call, and as one message if the kernel separates
//   them (UDP_SEGMENT). Several packets may be received by one call, joined (UDP_GRO). The endpoint finds out
//   whether this works by using it, and does not retry what the kernel or a driver refuses. The same holds
//   for the calls for several messages (sendmmsg, recvmmsg): if a filter of system calls refuses them, each
//   message has a call of its own.
// - No packet is fragmented (IP_PMTUDISC_DO). A destination's largest packet is what the kernel believes of
//   the route. A packet that proves too long is dropped, and the kernel is queried again. The flow must
//   notice a router that drops long packets silently.
// - The calls for several packets cost 100 ns (sending) and 300 ns (receiving) more than those for one. So a
//   single packet is sent by the call for one. A single packet is also requested if packets arrived singly of
//   late, and short. After such a receive it is not known whether another packet is there; behind() reports
//   this. A receive for one packet does not learn what the kernel has joined, so the kernel does not join
//   then. The first packet that arrives directly behind another ends this.
// - The kernel looks up the route of each packet anew (300 ns), except for a connected socket. So one further
//   socket, for all peers together, is connected to the destination to which the last favoured_after packets
//   went singly. Its packets have another source port. Within this host that has no effect. Between hosts a
//   firewall may check the source port, so it is not done there. (With the same port it would receive packets
//   from that destination, and two sockets would have to be polled.)
// - Packets for a socket in an epoll set arrive 250 ns later, and later still if other sets watch that set.
//   So sockets leave the set while the engine polls all the time.
// - A packet that the kernel refuses for one destination (no route, a firewall) counts as lost.
// - Receive buffers are touched only as far as they are used. A destination has 36 bytes, and at most 16 more
//   in the table that finds it again.
//
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
        Tally<uint64_t> cut;                // received, but longer than any packet may be
        Tally<uint64_t> send_calls, receive_calls;
    };
    struct Options {
        int buffer = 4 << 20;  // bytes of the kernel's receive buffer; the kernel may grant less
        bool join = true;      // let the kernel join packets if it can
        bool ways_within_host = false;  // assume several routes within this host
    };

    UdpPackets() : UdpPackets(Options{}) {}
    explicit UdpPackets(const Options &options);
    ~UdpPackets() override;
    UdpPackets(const UdpPackets &) = delete;
    UdpPackets &operator=(const UdpPackets &) = delete;

    // Opens a socket at each address, with one port for all of them between `least` and `most`; any port if
    // `least` is 0.
    Error open(const std::vector<Address> &addresses, uint16_t least, uint16_t most);

    uint16_t port() const { return sockets_.front().bound.port; }
    // As in "10.0.1.2:4711,[fd00::1]:4711".
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
    // Bytes that the kernel holds for this process at one address until they are read.
    int granted_buffer() const;

private:
    struct Destination {
        union {
            sockaddr any;
            sockaddr_in four;
            sockaddr_in6 six;
        };
        uint16_t socket, largest;  // index in sockets_; bytes

        socklen_t length() const { return any.sa_family == AF_INET6 ? sizeof six : sizeof four; }
    };
    static_assert(sizeof(Destination) <= 36);
    struct Socket {
        int descriptor;
        Address bound;
        bool awaits_room = false;
    };
    // The destination on this host to which most packets go, and a socket that is connected to it.
    struct Favourite {
        static constexpr uint64_t none = UINT64_MAX;
        uint64_t destination = none, latest = none;
        int in_a_row = 0;  // packets sent singly to the latest destination
        int descriptor = -1;
    };
    struct Batch;
    struct Inbox;

    int open_at(const std::vector<Address> &addresses, uint16_t port);
    void close_all();
    void learn_largest(Destination &destination) const;
    // One of a name's addresses, with the one of our sockets that is closest to it.
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
    size_t next_socket_ = 0, read_socket_ = 0;  // read_socket_: the socket of the packets that are lent
    bool watched_ = true;
    bool wants_origins_ = false;
    Favourite favourite_;
    std::vector<Destination> destinations_;
    std::vector<uint32_t> known_;  // their numbers, each plus one, by a hash of the address; 0: free
    std::unique_ptr<Inbox> inbox_;
    std::unique_ptr<Batch> batch_;  // not on the stack, because a thread of the program may have a small one
    bool cuts_ = true;           // the kernel separates packets by UDP_SEGMENT
    bool sends_several_ = true;  // the kernel sends several messages by one call
    Counts counts_;
};

}  // namespace lanyard
