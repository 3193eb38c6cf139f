// A Batch has the packets that UdpPackets passes to the kernel by one system call. A Batch takes 16 KiB, too
// much for the stack of a thread of the program, so each endpoint owns one. Only the files of UdpPackets use
// this header.
// Thread rule: that of UdpPackets.
// Tested by: tests/unit/net/udp_packets_test.cc.
#pragma once

#include <netinet/udp.h>
#include <sys/socket.h>

#include <cstring>

#include "net/udp_packets.h"

namespace lanyard {

// A Batch has the first packets of a list, as messages for one system call. Each message is one packet, or
// several packets that the kernel separates.
struct UdpPackets::Batch {
    static constexpr int most_messages = 64;  // the most messages of one system call
    static constexpr int most_pieces = most_messages * PacketIo::most_parts * 2;

    size_t socket = 0;
    int messages = 0, pieces = 0, packets = 0;
    mmsghdr message[most_messages];
    iovec piece[most_pieces];
    int first_packet[most_messages + 1];  // for each message: the place of its first packet in the list
    uint64_t destination[most_messages];
    size_t segment[most_messages];  // bytes of each packet of a message; its last packet may be shorter
    struct alignas(cmsghdr) Control {
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control[most_messages];

    void control_segments(int which) {
        msghdr &header = message[which].msg_hdr;
        control[which] = {};  // also clears the padding after the number
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
