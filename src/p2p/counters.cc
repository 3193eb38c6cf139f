// See counters.h.
#include "p2p/counters.h"

#include "p2p/messenger.h"

namespace lanyard {

namespace {

using enum CounterClass;
using enum Audience;
using Counts = MessageCounts;
using Queue = UnexpectedQueue;

// A counter that shows the best rate of one copy method, by size class (copy_methods.h).
CounterRow<CopyMethods> rate_row(CopyMethods::Kind kind, CopyMethods::Method method, const char *name,
                                 const char *sentence) {
    CounterRow<CopyMethods> row{name, level, expert, "MB/s", sentence, nullptr};
    row.places = CopyMethods::sizes;
    row.value_at = [kind, method](const CopyMethods &methods, int size) {
        return methods.seen(kind, size).rate[static_cast<int>(method)].bytes_per_us;
    };
    return row;
}

}  // namespace

Counters<MessageCounts> &message_counters() {
    static auto &only = *new Counters<MessageCounts>(
        "p2p", {
                   {"p2p_messages_sent", counter, user, "messages",
                    "messages sent, including those of collectives", &Counts::sent},
                   {"p2p_messages_matched", counter, user, "messages",
                    "messages matched by a receive, including those of collectives", &Counts::matched},
                   {"p2p_rendezvous_sent", counter, user, "messages",
                    "messages sent that were offered first because they are long, synchronous, in memory of "
                    "MPI_Alloc_mem that the receiver can map, or beyond the receiver's credit",
                    &Counts::rendezvous},
                   {"p2p_sends_retained", counter, user, "messages",
                    "blocking sends of long messages that ended with a copy of the message, because the "
                    "receiver was late",
                    &Counts::retained},
                   {"p2p_announcements_sent", counter, user, "announcements",
                    "posted receives that were announced to their senders", &Counts::announced},
                   {"p2p_announcements_used", counter, user, "messages",
                    "messages sent to announced receives without a request from the receiver",
                    &Counts::announcements_used},
                   {"p2p_announcements_crossed", counter, user, "announcements",
                    "announcements that were ignored because they arrived too late, because too many were "
                    "stored, or "
                    "because the receiver had taken the announced receive back",
                    &Counts::crossed},
                   {"p2p_bytes_written", counter, user, "bytes",
                    "bytes of messages sent to announced receives", &Counts::bytes_written},
               });
    return only;
}

Counters<UnexpectedQueue> &unexpected_counters() {
    static auto &only = *new Counters<UnexpectedQueue>("p2p", {
        {"p2p_unexpected_stored", counter, user, "messages",
         "messages, or offers of messages, that arrived before their receive and were stored", &Queue::added},
        {"p2p_unexpected_messages", level, user, "messages",
         "stored messages that no receive has taken yet", &Queue::count},
        {"p2p_unexpected_messages_most", watermark, user, "messages",
         "the largest number of messages stored at one time",
         &Queue::count, &Queue::most},
        {"p2p_unexpected_bytes", level, user, "bytes",
         "bytes of memory that hold the payload of stored messages", &Queue::payload_bytes},
        {"p2p_unexpected_bytes_most", watermark, user, "bytes",
         "the largest number of bytes of memory that held the payload of stored messages",
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
         "processes to which something waits to be sent until there is room", &Channels::waiting},
    });
    return only;
}

Counters<CopyMethods> &copy_method_counters() {
    using enum CopyMethods::Kind;
    using enum CopyMethods::Method;
    static auto &only = *new Counters<CopyMethods>(
        "p2p",
        {
            rate_row(
                contiguous, directly, "p2p_rate_once",
                "the best rates of long messages within a node that were copied once: one for each size "
                "from 16 KiB on, each twice the one before, and the last for all longer messages. They are "
                "kept until the copy methods are tried again"),
            rate_row(contiguous, twice, "p2p_rate_twice",
                     "the same for messages that were copied twice, through shared buffers"),
            rate_row(
                contiguous, streamed, "p2p_rate_streamed",
                "the same for messages that were copied twice, out of shared buffers past the caches; tried "
                "from 512 KiB on"),
            rate_row(in_runs, directly, "p2p_rate_once_in_runs",
                     "p2p_rate_once for messages to receive buffers that are not contiguous"),
            rate_row(in_runs, twice, "p2p_rate_twice_in_runs",
                     "p2p_rate_twice for messages to receive buffers that are not contiguous"),
            rate_row(mapped, directly, "p2p_rate_once_mapped",
                     "p2p_rate_once for messages from memory of MPI_Alloc_mem"),
            rate_row(mapped, twice, "p2p_rate_twice_mapped",
                     "p2p_rate_twice for messages from memory of MPI_Alloc_mem"),
        });
    return only;
}

}  // namespace lanyard
