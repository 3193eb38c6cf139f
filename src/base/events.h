// Reports events to which a tool may subscribe (src/tool/event.h). As with log.h, a layer reports an event
// where it happens. If no tool has subscribed, that costs only the test event_wanted(). The engine's owner,
// which may be the helper thread, records the event. A thread of the program calls the tool's functions
// later.
// Tested by: tests/unit/tool/event_test.cc, tests/mpi/tool/events.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "base/clock.h"

namespace lanyard {

enum class Event : uint8_t {
    unexpected_message, rendezvous, algorithm, connection_made, connection_broken, peer_lost, peer_silent,
    count_of_them
};

constexpr int most_event_values = 4;

struct EventRecord {
    Event event;
    uint64_t context;  // the context id of the communicator concerned, or 0
    uint64_t time_ns;  // the time of the event, by clock_ns()
    int64_t values[most_event_values];  // src/tool/event.cc defines their meaning
};

namespace detail {
inline std::atomic<uint32_t> wanted_events{0};  // one bit for each Event
inline std::atomic<void (*)(const EventRecord &)> event_taker{nullptr};
}  // namespace detail

inline bool event_wanted(Event event) {
    return detail::wanted_events.load(std::memory_order_relaxed) >> static_cast<int>(event) & 1;
}

[[gnu::cold, gnu::noinline]] inline void tell_event(Event event, uint64_t context,
                                                    std::initializer_list<int64_t> values) {
    EventRecord record{event, context, clock_ns(), {}};
    int i = 0;
    for (int64_t value : values) record.values[i++] = value;
    if (auto taker = detail::event_taker.load(std::memory_order_acquire)) taker(record);
}

}  // namespace lanyard
