// UdpPackets sends and receives packets over UDP. For each address of this process there is one socket, which
// serves all peers.
//
// - Several packets to one destination are sent by one system call, and as one message if the kernel can
//   separate them (UDP_SEGMENT). Several packets may be received as one message that the kernel has joined
//   (UDP_GRO). The endpoint tries both, and stops using what the kernel or a driver has refused. The same
//   holds for the calls for several messages (sendmmsg, recvmmsg): if a filter of system calls refuses them,
//   one call is made for each message.
// - No packet is fragmented (IP_PMTUDISC_DO). The largest packet for a destination is the largest that the
//   kernel believes the route to carry. A packet that proves too long is dropped, and the kernel is queried
//   again. The flow (path/dgram/flow.h) must notice a router that drops long packets silently.
// - The calls for several packets cost 100 ns (sending) and 300 ns (receiving) more than the calls for one.
//   So a single packet is sent by the call for one packet. If packets arrived singly of late and were short,
//   an endpoint with one socket also receives packets by the call for one packet. After that call it is not
//   known whether a further packet has arrived; behind() reports this. That call also does not report the
//   lengths of joined packets, so the kernel is told not to join packets meanwhile. When a long packet
//   arrives, or one directly behind another, receiving returns to the calls for several.
// - The kernel looks up the route of each packet anew (300 ns), except for a connected socket. So the
//   endpoint has one additional socket. If 64 packets in a row (`favoured_after`) were sent singly to one
//   destination on this host, this socket is connected to that destination, which is then the *favourite*.
//   The packets of this socket have another source port. Between hosts a firewall may check the source port,
//   so the additional socket is not used for other hosts. A receiver that notes origins would answer to that
//   port, so no endpoint with several routes (may_note_origins()) has a favourite. (If the additional socket
//   had the same port, it would receive the packets from that destination, and two sockets would have to be
//   polled.)
// - If a socket is in an epoll set, its packets arrive 250 ns later, and later still if other epoll sets
//   watch that set. So the sockets leave the set while the engine polls all the time.
// - A packet that the kernel refuses for one destination (no route, a firewall) counts as lost.
// - Receive buffers are touched only as far as they are used. A destination takes 36 bytes, and at most 16
//   more in the table by which it is found again.
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
        Tally<uint64_t> too_long, refused;  // packets dropped before they were sent
        Tally<uint64_t> cut;                // messages received that are longer than any packet may be
        Tally<uint64_t> send_calls, receive_calls;
    };
    struct Options {
        int buffer = 4 << 20;  // bytes of the kernel's receive buffer to request; the kernel may grant less
        bool join = true;      // let the kernel join and separate packets if it can
        bool routes_within_host = false;  // note origins even if all addresses are loopback addresses
    };

    UdpPackets() : UdpPackets(Options{}) {}
    explicit UdpPackets(const Options &options);
    ~UdpPackets() override;
    UdpPackets(const UdpPackets &) = delete;
    UdpPackets &operator=(const UdpPackets &) = delete;

    // Opens a socket at each address. All sockets have the same port. The port is from `least` to `most`, or
    // any port if `least` is 0. Must succeed before any other function is called.
    Error open(const std::vector<Address> &addresses, uint16_t least, uint16_t most);

    uint16_t port() const { return sockets_.front().bound.port; }
    // A name as in "10.0.1.2:4711,[fd00::1]:4711".
    std::string name() const override;
    int64_t destination(std::string_view name) override;
    std::vector<uint64_t> routes(std::string_view name) override;
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
    // The bytes that the kernel can hold for the first socket until they are read.
    int granted_buffer() const;

private:
    struct Destination {
        union {
            sockaddr any;
            sockaddr_in four;
            sockaddr_in6 six;
        };
        uint16_t socket, largest;  // an index in sockets_; the bytes of the largest packet

        socklen_t length() const { return any.sa_family == AF_INET6 ? sizeof six : sizeof four; }
    };
    static_assert(sizeof(Destination) <= 36);
    struct Socket {
        int descriptor;
        Address bound;
        bool awaits_room = false;
    };
    // A destination on this host to which many packets were sent in a row, and a socket that is connected to
    // that destination.
    struct Favourite {
        static constexpr uint64_t none = UINT64_MAX;
        uint64_t destination = none, latest = none;
        int in_a_row = 0;  // how many packets in a row were sent singly to `latest`
        int descriptor = -1;
    };
    struct Batch;
    struct Inbox;

    int open_at(const std::vector<Address> &addresses, uint16_t port);
    void close_all();
    void learn_largest(Destination &destination) const;
    // One of the addresses in a name, with the socket of this process that is closest to the address.
    // `kinship` is the number of leading bits that the address and the socket's address share.
    struct UdpRoute {
        Destination to;
        int kinship;
    };
    std::vector<UdpRoute> find_routes(std::string_view name) const;
    uint64_t number_of(Destination destination);
    uint32_t &place_of(const Destination &destination);
    void make_room();
    int take_batch(const Outgoing *list, int count, Batch &batch) const;
    int send_messages(int socket, mmsghdr *list, int count);
    int send_batch(Batch &batch, bool first);
    int send_several(const Outgoing *list, int count);
    bool forgive(int trouble, Batch &batch, int first);
    bool on_this_host(const Destination &destination) const;
    bool may_note_origins() const;
    void favour(uint64_t number);
    bool send_one(const Outgoing &packet);
    void await_room(Socket &socket, bool awaits);
    int read(Socket &socket);
    void ask_to_join(bool on);
    int lend(Arrived *list, int most);

    const Options options_;
    int epoll_ = -1;
    std::vector<Socket> sockets_;
    size_t next_socket_ = 0, read_socket_ = 0;  // the socket to read next; the socket that was read last
    bool watched_ = true;
    bool wants_origins_ = false;
    Favourite favourite_;
    std::vector<Destination> destinations_;
    // A hash table by address and socket: an index in destinations_ plus 1, or 0 if the entry is free.
    std::vector<uint32_t> known_;
    std::unique_ptr<Inbox> inbox_;
    std::unique_ptr<Batch> batch_;  // not on the stack, because the stack of a thread may be small
    bool cuts_ = true;           // the kernel separates the packets of a message (UDP_SEGMENT)
    bool sends_several_ = true;  // the system allows sending several messages by one call
    Counts counts_;
};

}  // namespace lanyard
