// An Inbox has the packets that the kernel passes to UdpPackets by one system call. Only the files of
// UdpPackets use this header.
// Thread rule: that of UdpPackets.
// Tested by: tests/unit/net/udp_packets_test.cc, tests/failures/test_refused_calls.py.
#pragma once

#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/refusal.h"
#include "net/udp_calls.h"
#include "net/udp_packets.h"

namespace lanyard {

// An Inbox has the messages that one system call has received, and notes how much of them has been lent to
// the caller of UdpPackets::receive(). The call for several messages receives each message in two pieces. The
// beginning of each message goes into `near`, where the beginnings of all messages lie close together, so
// short messages touch few pages. The rest of a longer message goes into a slot, and the beginning is then
// copied into the slot, before the rest. The call for one packet receives into the first slot directly.
struct UdpPackets::Inbox {
    static constexpr int slots = 16;
    static constexpr size_t slot_bytes = 65'536, near_bytes = 1'536;
    struct Slot {
        std::byte bytes[slot_bytes];
    };
    struct Near {
        std::byte bytes[near_bytes];
    };
    struct alignas(cmsghdr) Control {
        char bytes[CMSG_SPACE(sizeof(int))];
    };

    std::unique_ptr<Slot[]> slot{new Slot[slots]};
    std::unique_ptr<Near[]> near{new Near[slots]};
    mmsghdr message[slots];
    iovec piece[slots][2];
    const std::byte *bytes[slots];  // where each message begins
    Control control[slots];
    size_t segment[slots];  // the bytes of each packet of a message; the last packet may be shorter
    int received = 0, lent = 0;  // numbers of messages
    // The sender's address of each message, in the form of IPv6 or IPv4.
    std::unique_ptr<sockaddr_in6[]> origin{new sockaddr_in6[slots]()};
    bool notes_origins = false;
    bool joins = false;      // the kernel joins packets that arrive into one message
    bool one = true, several = true;  // the system has not refused the call for one packet, for several
    bool single = false;     // ask for one packet only, because packets arrive singly and are not joined
    int alone = 0;           // how many calls in a row found one short message and no other
    bool found = false;      // the last call found something
    bool for_one = false;    // the last call asked for one packet only, and was not refused
    size_t lent_bytes = 0;   // how many bytes of message number `lent` have been lent

    Inbox() { prepare(slots); }
    void prepare(int count) {
        for (int i = 0; i < count; ++i) {
            auto place = static_cast<size_t>(i);
            piece[i][0] = {near[place].bytes, near_bytes};
            piece[i][1] = {slot[place].bytes + near_bytes, slot_bytes - near_bytes};
            message[i] = {};
            message[i].msg_hdr.msg_iov = piece[i];
            message[i].msg_hdr.msg_iovlen = 2;
            message[i].msg_hdr.msg_control = control[i].bytes;
            message[i].msg_hdr.msg_controllen = sizeof control[i].bytes;
            if (!notes_origins) continue;
            origin[place] = {};
            message[i].msg_hdr.msg_name = &origin[place];
            message[i].msg_hdr.msg_namelen = sizeof origin[place];
        }
    }
    // Prepares for the next receive. A waiting process calls this far more often than packets arrive, so only
    // the messages that were used are prepared again.
    void empty() {
        prepare(received);
        received = lent = 0;
        lent_bytes = 0;
    }
    // Receives what has arrived and returns the number of messages, or -errno. If `single` is set, asks for
    // one packet only, which costs less than asking for several.
    int look(int socket) {
        for_one = single && one;
        int count = for_one ? look_for_one(socket) : look_for_several(socket);
        found = count > 0;
        received = std::max(count, 0);
        return count;
    }
    int look_for_one(int socket) {
        socklen_t length = sizeof origin[0];
        int got = system_call(SYS_recvfrom, socket, slot[0].bytes, slot_bytes, MSG_DONTWAIT,
                              notes_origins ? &origin[0] : nullptr, notes_origins ? &length : nullptr);
        if (may_be_refused(got)) {
            one = for_one = false;
            return look_for_several(socket);
        }
        if (got < 0) return got;
        // The packet arrived directly behind another one, or is long and so is usually followed by another.
        // So the next calls ask for several.
        if (found || static_cast<size_t>(got) > near_bytes) {
            alone = 0;
            single = false;
        }
        message[0].msg_len = static_cast<unsigned>(got);
        bytes[0] = slot[0].bytes;
        segment[0] = message[0].msg_len;
        return 1;
    }
    int look_for_several(int socket) {
        int count = several ? system_call(SYS_recvmmsg, socket, message, static_cast<unsigned>(slots),
                                          MSG_DONTWAIT, nullptr)
                            : look_for_each(socket);
        if (several && may_be_refused(count)) {
            several = false;
            count = look_for_each(socket);
        }
        if (count > 0) alone = count == 1 && message[0].msg_len <= near_bytes ? alone + 1 : 0;
        for (int i = 0; i < count; ++i) {
            segment[i] = segment_of(i);
            join(i);
        }
        return count;
    }
    // Does what recvmmsg does, by one call for each message.
    int look_for_each(int socket) {
        for (int i = 0; i < slots; ++i) {
            int got = system_call(SYS_recvmsg, socket, &message[i].msg_hdr, MSG_DONTWAIT);
            if (got < 0) return i > 0 ? i : got;
            message[i].msg_len = static_cast<unsigned>(got);
        }
        return slots;
    }
    // Puts message `i` into contiguous memory.
    void join(int i) {
        auto place = static_cast<size_t>(i);
        bytes[i] = near[place].bytes;
        if (message[i].msg_len <= near_bytes) return;
        std::memcpy(slot[place].bytes, near[place].bytes, near_bytes);
        bytes[i] = slot[place].bytes;
    }
    // The bytes of each packet in message `i`, as the kernel reports them; all bytes of the message if the
    // kernel has joined no packets.
    size_t segment_of(int i) {
        for (cmsghdr *said = CMSG_FIRSTHDR(&message[i].msg_hdr); said;
             said = CMSG_NXTHDR(&message[i].msg_hdr, said))
            if (said->cmsg_level == SOL_UDP && said->cmsg_type == UDP_GRO) {
                int segment_bytes = 0;
                std::memcpy(&segment_bytes, CMSG_DATA(said), sizeof segment_bytes);
                if (segment_bytes > 0) return static_cast<size_t>(segment_bytes);
            }
        return message[i].msg_len;
    }
};

}  // namespace lanyard
