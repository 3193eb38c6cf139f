// See counters.h.
#include "p2p/counters.h"

#include "p2p/messenger.h"

namespace lanyard {

namespace {

using enum CounterClass;
using enum Audience;
using Counts = MessageCounts;
using Queue = UnexpectedQueue;

// The rate of long messages within a node, by size and copy method (copy_methods.h).
CounterRow<CopyMethods> rate_row(CopyMethods::Kind kind, CopyMethods::Method way, const char *name,
                                 const char *sentence) {
    CounterRow<CopyMethods> row{name, level, expert, "MB/s", sentence, nullptr};
    row.places = CopyMethods::sizes;
    row.value_at = [kind, way](const CopyMethods &ways, int size) {
        return ways.seen(kind, size).rate[static_cast<int>(way)].bytes_per_us;
    };
    return row;
}

}  // namespace

Counters<MessageCounts> &message_counters() {
    static auto &only = *new Counters<MessageCounts>("p2p", {
        {"p2p_messages_sent", counter, user, "messages", "messages sent, of collectives too", &Counts::sent},
        {"p2p_messages_matched", counter, user, "messages",
         "messages that met their receive, of collectives too", &Counts::matched},
        {"p2p_rendezvous_sent", counter, user, "messages",
         "of the messages sent: those that were offered first, as they are long, synchronous or "
         "beyond the receiver's credit",
         &Counts::rendezvous},
        {"p2p_announcements_sent", counter, user, "announcements",
         "posted receives that were announced to their senders", &Counts::announced},
        {"p2p_announcements_used", counter, user, "messages",
         "messages sent to announced receives without being asked for", &Counts::announcements_used},
        {"p2p_announcements_crossed", counter, user, "announcements",
         "announcements that came when something else had been sent, and were left aside", &Counts::crossed},
        {"p2p_bytes_written", counter, user, "bytes", "bytes of messages sent to announced receives",
         &Counts::bytes_written},
    });
    return only;
}

Counters<UnexpectedQueue> &unexpected_counters() {
    static auto &only = *new Counters<UnexpectedQueue>("p2p", {
        {"p2p_unexpected_stored", counter, user, "messages",
         "messages, or offers of them, that came before their receive and were stored", &Queue::added},
        {"p2p_unexpected_messages", level, user, "messages",
         "messages stored that no receive has taken yet", &Queue::count},
        {"p2p_unexpected_messages_most", watermark, user, "messages", "the most messages stored at a time",
         &Queue::count, &Queue::most},
        {"p2p_unexpected_bytes", level, user, "bytes",
         "bytes of memory that hold payload of stored messages", &Queue::payload_bytes},
        {"p2p_unexpected_bytes_most", watermark, user, "bytes",
         "the most bytes of memory that held payload of stored messages",
         &Queue::payload_bytes, &Queue::most_payload_bytes},
    });
    return only;
}

Counters<MatchQueue> &posted_counters() {
    static auto &only = *new Counters<MatchQueue>("p2p", {
        {"p2p_posted_receives", level, user, "receives", "receives that wait for their message",
         &MatchQueue::count},
    });
    return only;
}

Counters<Channels> &channel_counters() {
    static auto &only = *new Counters<Channels>("p2p", {
        {"p2p_peers_without_room", level, expert, "processes",
         "processes for which something waits here until there is room", &Channels::waiting},
    });
    return only;
}

Counters<CopyMethods> &copy_method_counters() {
    using enum CopyMethods::Kind;
    using enum CopyMethods::Method;
    static auto &only = *new Counters<CopyMethods>("p2p", {
        rate_row(contiguous, directly, "p2p_rate_once",
                 "the best rate at which long messages have come within a node that were copied once, by "
                 "sizes from 16 KiB on that double, the last for all longer ones; it is remembered until the "
                 "ways are tried anew"),
        rate_row(contiguous, twice, "p2p_rate_twice",
                 "the same of messages that were copied twice, through shared buffers"),
        rate_row(contiguous, streamed, "p2p_rate_streamed",
                 "the same of messages that were copied twice, out of shared buffers past the caches, which "
                 "is tried from 512 KiB on"),
        rate_row(in_runs, directly, "p2p_rate_once_in_runs",
                 "p2p_rate_once of messages to receive buffers that are not contiguous"),
        rate_row(in_runs, twice, "p2p_rate_twice_in_runs",
                 "p2p_rate_twice of messages to receive buffers that are not contiguous"),
        rate_row(mapped, directly, "p2p_rate_once_mapped",
                 "p2p_rate_once of messages from memory of MPI_Alloc_mem"),
        rate_row(mapped, twice, "p2p_rate_twice_mapped",
                 "p2p_rate_twice of messages from memory of MPI_Alloc_mem"),
    });
    return only;
}

}  // namespace lanyard
