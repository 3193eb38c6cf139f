// Sends the packets of UdpPackets. See udp_packets.h.
// Tested by: tests/unit/net/udp_packets_test.cc, tests/failures/test_refused_calls.py.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/epoll.h"
#include "base/refusal.h"
#include "net/udp_batch.h"
#include "net/udp_calls.h"
#include "net/udp_packets.h"

namespace lanyard {

namespace {

constexpr int most_segments = 64;  // the most packets that one msghdr may hold; older kernels accept no more
constexpr int favoured_after = 64;   // packets in a row after which a destination gets a connected socket

}  // namespace

// Fills the batch with packets from the front of the list, as many as one system call on one socket can send.
// Stops before a packet that is too long. Returns the number of packets.
int UdpPackets::take_batch(const Outgoing *list, int count, Batch &batch) const {
    batch.messages = batch.pieces = 0;
    size_t together = 0, latest = 0;  // bytes of the present message, and bytes of its last packet
    int segments = 0;
    int at = 0;
    for (; at < count; ++at) {
        const Outgoing &packet = list[at];
        const Destination &to = destinations_[packet.destination];
        size_t bytes = packet.bytes();
        if (batch.messages == 0) batch.socket = to.socket;
        if (to.socket != batch.socket || bytes > to.largest ||
            batch.pieces + packet.count > Batch::most_pieces)
            break;
        int last = batch.messages - 1;
        bool joins = cuts_ && batch.messages > 0 && batch.destination[last] == packet.destination &&
                     segments < most_segments && bytes <= batch.segment[last] &&
                     latest == batch.segment[last] && bytes > 0 && together + bytes <= most_udp_payload;
        if (!joins) {
            if (batch.messages == Batch::most_messages) break;
            last = batch.messages++;
            batch.first_packet[last] = at;
            batch.destination[last] = packet.destination;
            batch.segment[last] = bytes;
            msghdr &header = batch.message[last].msg_hdr;
            header = {};
            header.msg_name = const_cast<sockaddr *>(&to.any);
            header.msg_namelen = to.length();
            header.msg_iov = &batch.piece[batch.pieces];
            together = 0;
            segments = 0;
        }
        std::copy_n(packet.parts, packet.count, &batch.piece[batch.pieces]);
        batch.pieces += packet.count;
        batch.message[last].msg_hdr.msg_iovlen += static_cast<size_t>(packet.count);
        together += bytes;
        latest = bytes;
        if (++segments == 2) batch.control_segments(last);
    }
    batch.first_packet[batch.messages] = batch.packets = at;
    return at;
}

// Sends messages from the front of the list, as sendmmsg does. Returns how many were sent, or -errno. The
// system's error may concern the first message, or come from a filter that refuses the call itself. These two
// cases are distinguished by another call, which has no effect. -ENOSYS: the system allows no call that could
// send the messages.
int UdpPackets::send_messages(int socket, mmsghdr *list, int count) {
    if (sends_several_) {
        int sent = system_call(SYS_sendmmsg, socket, list, static_cast<unsigned>(count), MSG_DONTWAIT);
        if (!may_be_refused(sent) || system_call(SYS_sendmmsg, socket, nullptr, 0u, MSG_DONTWAIT) >= 0)
            return sent;
        sends_several_ = false;
    }
    for (int i = 0; i < count; ++i) {
        int sent = system_call(SYS_sendmsg, socket, &list[i].msg_hdr, MSG_DONTWAIT);
        if (may_be_refused(sent) && system_call(SYS_sendmsg, -1, nullptr, MSG_DONTWAIT) != -EBADF)
            sent = -ENOSYS;
        if (sent < 0) return i > 0 ? i : sent;
    }
    return count;
}

// Sends a batch. Returns how many of its packets were sent or dropped. Returns -errno only if send() has
// not sent or dropped any packet yet. Otherwise the endpoint counts as full, and the next send() meets the
// error again.
int UdpPackets::send_batch(Batch &batch, bool first) {
    Socket &socket = sockets_[batch.socket];
    int done = 0;
    while (done < batch.messages) {
        ++counts_.send_calls;
        int sent = send_messages(socket.descriptor, &batch.message[done], batch.messages - done);
        if (sent > 0) {
            counts_.sent += static_cast<uint64_t>(batch.first_packet[done + sent] - batch.first_packet[done]);
            done += sent;
            continue;
        }
        bool full = sent == -EAGAIN || sent == -ENOBUFS;
        if (!full && batch.message[done].msg_hdr.msg_control &&
            (sent == -EIO || sent == -EINVAL || sent == -EOPNOTSUPP)) {
            cuts_ = false;
            break;
        }
        if (!full && forgive(sent, batch, done)) {
            ++done;
            continue;
        }
        if (!full && first && done == 0) return sent;
        await_room(socket, true);
        break;
    }
    return batch.first_packet[done];
}

// Called when a message could not be sent. If the error concerns only this message, counts its packets as
// dropped and returns true.
bool UdpPackets::forgive(int trouble, Batch &batch, int which) {
    auto packets = static_cast<uint64_t>(batch.first_packet[which + 1] - batch.first_packet[which]);
    switch (-trouble) {
        case EMSGSIZE:
            learn_largest(destinations_[batch.destination[which]]);
            counts_.too_long += packets;
            return true;
        case EPERM:
        case EACCES:
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
        case EHOSTDOWN:
        case ECONNREFUSED:
        case EADDRNOTAVAIL:
            counts_.refused += packets;
            return true;
        default: return false;
    }
}

void UdpPackets::await_room(Socket &socket, bool awaits) {
    if (socket.awaits_room == awaits) return;
    if (awaits) watch(true);
    socket.awaits_room = awaits;
    epoll_change(epoll_, socket.descriptor, awaits ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

bool UdpPackets::on_this_host(const Destination &destination) const {
    sockaddr_storage place{};
    std::memcpy(&place, &destination.any, destination.length());
    return std::ranges::any_of(
        sockets_, [&](const Socket &socket) { return same_host(socket.bound, from_system(place)); });
}

// Counts the packets that are sent singly to this destination. After favoured_after packets in a row,
// connects the additional socket to the destination if it is on this host.
void UdpPackets::favour(uint64_t number) {
    if (std::exchange(favourite_.latest, number) != number) favourite_.in_a_row = 0;
    if (++favourite_.in_a_row != favoured_after || favourite_.destination == number) return;
    const Destination &to = destinations_[number];
    if (may_note_origins() || !on_this_host(to)) return;
    favourite_.destination = Favourite::none;
    int &socket = favourite_.descriptor;
    if (socket >= 0) close(socket);
    socket = ::socket(to.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    bool six = to.any.sa_family == AF_INET6;
    set_option(socket, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
               IP_PMTUDISC_DO);
    set_option(socket, SOL_SOCKET, SO_RCVBUF, 0);  // the smallest, because no packets are sent to this socket
    sockaddr_storage own{};
    socklen_t length = to_system(sockets_[to.socket].bound.with_port(0), own);
    if (bind(socket, reinterpret_cast<sockaddr *>(&own), length) == 0 &&
        connect(socket, &to.any, to.length()) == 0)
        favourite_.destination = number;
}

// Sends a packet by the call for one packet. If this returns false, send_several() must send the packet, or
// find out what is wrong.
bool UdpPackets::send_one(const Outgoing &packet) {
    const Destination &to = destinations_[packet.destination];
    if (packet.bytes() > to.largest || std::ranges::any_of(sockets_, &Socket::awaits_room)) return false;
    favour(packet.destination);
    bool connected = packet.destination == favourite_.destination;
    int socket = connected ? favourite_.descriptor : sockets_[to.socket].descriptor;
    sockaddr *name = connected ? nullptr : const_cast<sockaddr *>(&to.any);
    socklen_t name_bytes = connected ? 0 : to.length();
    ++counts_.send_calls;
    int sent;
    if (packet.count == 1) {
        sent = system_call(SYS_sendto, socket, packet.parts[0].iov_base, packet.parts[0].iov_len,
                           MSG_DONTWAIT, name, name_bytes);
    } else {
        msghdr header{};
        header.msg_name = name;
        header.msg_namelen = name_bytes;
        header.msg_iov = const_cast<iovec *>(packet.parts);
        header.msg_iovlen = static_cast<size_t>(packet.count);
        sent = system_call(SYS_sendmsg, socket, &header, MSG_DONTWAIT);
    }
    if (sent < 0) return false;
    ++counts_.sent;
    return true;
}

int UdpPackets::send(const Outgoing *list, int count) {
    if (count == 1 && send_one(*list)) return 1;
    return send_several(list, count);
}

int UdpPackets::send_several(const Outgoing *list, int count) {
    Batch &batch = *batch_;
    for (int done = 0; done < count;) {
        bool cut = cuts_;
        int taken = take_batch(list + done, count - done, batch);
        if (taken == 0) {
            ++counts_.too_long;
            ++done;
            continue;
        }
        int dealt = send_batch(batch, done == 0);
        if (dealt < 0) return dealt;
        done += dealt;
        if (dealt < taken && cut == cuts_) return done;  // the endpoint is full
    }
    for (Socket &socket : sockets_) await_room(socket, false);
    return count;
}

}  // namespace lanyard
