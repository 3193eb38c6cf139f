// What an algorithm costs: counted exactly where it can be (a test compares with the schedules), estimated in time by
// what the machine takes for the parts. Plain values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lanyard {

// Of all ranks together, for a team size and a number of bytes; which bytes is said with each algorithm.
struct Work {
    int rounds = 0;            // longest chain of messages that wait for each other, at most
    int64_t messages = 0;      // exactly
    int64_t waits = 0;         // how often ranks wait for a message, where that is less often than for each
    int64_t busiest = 0;       // messages sent and received by the rank that has most, where that is more than the chain
    int64_t bytes = 0;         // sent, exactly where blocks divide evenly
    double path_bytes = 0;     // sent and received one after the other along the chain
    double path_reduced = 0;   // bytes combined along the chain
    int64_t slots_read = 0;    // of the node area, by the rank that reads most
    int64_t slots_read_in_all = 0;
};

// Times of the parts. They matter by their ratios only; measured on shared memory of a small virtual machine.
struct Costs {
    double message_ns = 350;      // from one rank's send to the other's receive, processors awake
    double byte_ns = 0.12;        // one copy by the receiver
    double reduced_byte_ns = 0.15;
    double slot_ns = 70;          // reading a cache line that another processor wrote
    double switch_ns = 1500;      // giving a processor to another rank
};

inline double estimate_ns(const Work &work, const Costs &costs, int ranks, int processors) {
    bool crowded = processors > 0 && ranks > processors;
    if (!crowded)
        return work.rounds * costs.message_ns + work.path_bytes * costs.byte_ns + work.path_reduced * costs.reduced_byte_ns +
               static_cast<double>(work.slots_read) * costs.slot_ns;
    // Processors never idle: what counts is all that must be done, and that nearly every message waits for a switch; but one rank has only
    // one processor.
    double switches = static_cast<double>(work.waits ? work.waits : work.messages) + ranks;
    double busy_ns = static_cast<double>(work.messages) * costs.message_ns + switches * costs.switch_ns +
                     static_cast<double>(work.bytes) * costs.byte_ns + work.path_reduced * ranks * costs.reduced_byte_ns +
                     static_cast<double>(work.slots_read_in_all) * costs.slot_ns;
    double one_ns = static_cast<double>(work.busiest) * costs.message_ns + work.path_bytes * costs.byte_ns;
    return std::max(busy_ns / processors, one_ns);
}

// Rounds in which something doubles from 1 until it reaches `size`.
inline int doublings(int size) { return size <= 1 ? 0 : std::bit_width(static_cast<unsigned>(size - 1)); }
inline int power_of_two_below(int size) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size))); }

}  // namespace lanyard
