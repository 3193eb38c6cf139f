// What this process and one peer remember about each other, whatever connections come and go between them. tcp_path.h is what
// uses it; its rules are at the head there. An idle link is a few hundred bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "net/address.h"
#include "path/assembly.h"
#include "path/path.h"
#include "path/tcp/address_choice.h"
#include "path/tcp/frame.h"
#include "path/tcp/outgoing_log.h"

namespace lanyard {

struct Link {
    Link(uint32_t number, SpareBlocks &spare, size_t check_bytes) : peer(number), log(spare, check_bytes) {}

    const uint32_t peer;
    std::vector<Address> addresses;  // once asked for: at the end of the job nobody may answer any more
    Address last_address;            // of the peer, by which the latest connection goes, or the next should
    std::unique_ptr<AddressChoice> choice;  // once bulk has flowed, where there are several
    uint64_t bulk_flowed = 0;        // bytes that this connection has taken
    int socket = -1;
    bool was_connected = false;
    bool told_waiting = false;  // that there is no connection yet
    bool failed = false;        // the connection was found unusable outside poll(), which will close it
    bool awaits_room = false;   // the socket is watched for room
    bool lost = false;          // given up for ever
    bool resting = false;       // one side closes the connection, or has closed it, as it is quiet
    bool to_flush = false;      // something was said inside poll(), at whose end it is written
    bool keeps = false;         // in the list of those whose log keeps payload of the program
    bool hot = false;           // read without asking first, as something came lately; its socket is not watched
    uint32_t came_awake = 0;    // how often something came since this process slept last
    uint32_t sleeps = 0;        // that many times it had slept then
    bool tended = false;        // in the list of those with something due
    bool busy = false, unsettled = false;  // as TcpPath has counted it
    bool slow = false;          // a chunk of payload takes longer to come than a sleeper to wake up
    size_t wake_at = 1;         // bytes at which the socket is readable for who asks
    uint64_t last_came_ns = 0;
    uint64_t used_ns = 0;       // when something was sent or came
    uint64_t check_silence_at_ns = 0;  // when it is asked next whether the other host acknowledges; 0: not
    uint64_t silence_checked_ns = 0;   // when that was done last
    uint64_t heard_ns = 0;      // when it had acknowledged something since the time before
    uint64_t heard_bulk = 0;    // of bulk_flowed: bytes that it had acknowledged then
    uint64_t asked_ns = 0;      // when the peer was asked last whether it is there
    uint64_t parted_ns = 0;     // since when there is no connection; 0: nobody has missed it

    // Envelopes to the peer.
    OutgoingLog log;
    uint64_t next_number = 0;
    bool answer_asked = false;  // for all of them

    // Envelopes from the peer.
    uint64_t expected = 0;      // the number of the next
    size_t untold_bytes = 0;    // that came since it was last told
    bool answer_wanted = false;
    uint64_t answer_due_ns = UINT64_MAX;

    // The one bulk frame that is being written.
    struct {
        CheckedBulk head;
        size_t head_bytes = 0;  // with its check or without
        const std::byte *payload = nullptr;
        std::unique_ptr<std::byte[]> packed;  // of a payload that is not contiguous
        uint64_t token = 0;
        size_t written = 0;  // of head and payload
        uint64_t begun_ns = 0;
        size_t most = max_bulk_frame;  // payload of the next, where it has a place
        bool open = false;

        size_t bytes() const { return head_bytes + head.frame.header.size; }
    } bulk;

    // The frame that is being read. Its head comes in whole or in parts, its payload goes where it belongs if that is known.
    struct {
        union {
            FrameHeader header;
            EnvelopeFrame envelope;
            BulkFrame bulk;
            std::byte bytes[sizeof(CheckedEnvelope)];  // its check is behind its body
        } head;
        size_t head_come = 0;
        bool was_long = false;  // the latest payload came in parts: the next may too
        Assembly payload;       // open: the head is complete, and the payload comes in parts
        size_t come_at_once = 0;
        uint64_t begun_ns = 0;  // to come, but what came at once
        uint32_t checksum = 0;  // of the payload's first `summed` bytes, which do not lie at the place
        size_t summed = 0;
    } frame;
};

}  // namespace lanyard
