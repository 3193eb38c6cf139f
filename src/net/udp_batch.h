// The packets that UdpPackets passes to the kernel at once. It has 16 KiB, too much for the stack of a thread
// of the program, so each endpoint owns one. Only the files of UdpPackets use it.
// Thread rule: that of UdpPackets.
#pragma once

#include <netinet/udp.h>
#include <sys/socket.h>

#include <cstring>

#include "net/udp_packets.h"

namespace lanyard {

// Packets of a list that leave by one system call. Each message is one packet, or several that the kernel
// separates.
struct UdpPackets::Batch {
    static constexpr int most_messages = 64;  // of one system call
    static constexpr int most_pieces = most_messages * PacketIo::most_parts * 2;

    size_t socket = 0;
    int messages = 0, pieces = 0, packets = 0;
    mmsghdr message[most_messages];
    iovec piece[most_pieces];
    int first_packet[most_messages + 1];  // the first packet of each message, by its place in the list
    uint64_t destination[most_messages];
    size_t segment[most_messages];  // bytes of each packet of the message; the last packet may be shorter
    struct alignas(cmsghdr) Control {
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control[most_messages];

    void control_segments(int which) {
        msghdr &header = message[which].msg_hdr;
        control[which] = {};  // also clears what follows the number
        header.msg_control = control[which].bytes;
        header.msg_controllen = sizeof control[which].bytes;
        cmsghdr *said = CMSG_FIRSTHDR(&header);
        said->cmsg_level = SOL_UDP;
        said->cmsg_type = UDP_SEGMENT;
        said->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        auto bytes = static_cast<uint16_t>(segment[which]);
        std::memcpy(CMSG_DATA(said), &bytes, sizeof bytes);
    }
};

}  // namespace lanyard
