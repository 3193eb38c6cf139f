// What this process and one peer remember about each other, whatever connections come and go between them. tcp_path.h is what
// uses it; its rules are at the head there. An idle link is a few hundred bytes.
#pragma once

#include <algorithm>

#include "path/tcp/connection.h"
#include "path/tcp/hot_links.h"
#include "path/tcp/incoming_order.h"
#include "path/tcp/routes.h"

namespace lanyard {

// As Links has counted a link.
struct Counted {
    bool busy = false, unsettled = false, slow = false;
    bool operator==(const Counted &) const = default;
};

struct Link {
    Link(uint32_t number, SpareBlocks &spare, size_t check_bytes) : peer(number), connection(number), log(spare, check_bytes) {}

    // When something was sent or came.
    uint64_t used_ns() const { return std::max(sent_ns, connection.last_received_ns()); }

    const uint32_t peer;
    bool was_connected = false;
    bool told_waiting = false;  // that there is no connection yet
    bool lost = false;          // given up for ever
    bool idle_closed = false;       // one side closes the connection, or has closed it, as it is quiet
    bool to_flush = false;      // something was said inside poll(), at whose end it is written
    bool keeps = false;         // in the list of those whose log keeps payload of the program
    bool due = false;           // in the list of those with something due
    Counted counted;
    Heat heat;
    uint64_t sent_ns = 0;
    uint64_t parted_ns = 0;     // since when there is no connection; 0: nobody has missed it
    Connection connection;
    Route route;

    // Envelopes to the peer.
    OutgoingLog log;
    uint64_t next_number = 0;
    bool answer_asked = false;  // for all of them

    // Envelopes from the peer.
    IncomingOrder incoming;
};

}  // namespace lanyard
