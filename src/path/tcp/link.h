// A Link is what this process stores about one peer while connections between the two are made and broken.
// The parts of the TCP path use it; the head of tcp_path.h lists the parts and states the rules. An idle link
// costs a few hundred bytes. The class Links creates each link at first contact and owns it as long as the
// path exists, so references remain valid.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/links_test.cc.
#pragma once

#include <algorithm>

#include "path/tcp/connection.h"
#include "path/tcp/hot_links.h"
#include "path/tcp/incoming_order.h"
#include "path/tcp/routes.h"

namespace lanyard {

// The state of a link as counted in Links.
struct Counted {
    bool busy = false, unacknowledged = false, slow = false;
    bool operator==(const Counted &) const = default;
};

struct Link {
    Link(uint32_t number, SpareBlocks &spare, size_t check_bytes)
        : peer(number), connection(number), log(spare, check_bytes) {}

    // When something was last received, or was last to be sent.
    uint64_t used_ns() const { return std::max(sent_ns, connection.last_received_ns()); }

    const uint32_t peer;
    bool was_connected = false;
    bool told_waiting = false;  // it has been reported that no connection exists yet
    bool lost = false;          // the peer has been given up for good
    bool idle_closed = false;   // one side closes or has closed the connection because it is idle
    bool to_flush = false;      // something was sent inside poll() and will be written at the end of poll()
    bool keeps = false;         // the link is in the list of those whose log keeps payload of the program
    bool due = false;           // the link is in the list of those for which something is due
    Counted counted;
    Heat heat;
    uint64_t sent_ns = 0;
    // Since when a needed connection has been missing, or when the peer last showed that it lives
    // (Connector::User::alive), if that was later; 0: none is missing. Moved on while the time is over but an
    // attempt still waits for the peer's answer.
    uint64_t parted_ns = 0;
    Connection connection;
    Route route;

    // Envelopes to the peer.
    OutgoingLog log;
    uint64_t next_number = 0;
    bool answer_asked = false;  // an acknowledgement of all envelopes so far has been requested

    // Envelopes from the peer.
    IncomingOrder incoming;
};

}  // namespace lanyard
