// Contains the cost model of algorithms. The work of an algorithm is counted exactly where possible (a test
// compares the counts with the schedules). The time of an algorithm is estimated from the time that the
// machine needs for each kind of work.
// Thread rule: values without a lock; a thread uses its own.
// Tested by: tests/unit/coll/reductions_test.cc, tests/unit/coll/two_level_test.cc.
// Tested by: tests/unit/coll/select_test.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/bytes.h"

namespace lanyard {

// A Crew is a team as the cost model sees it: the number of ranks, and how they are spread over nodes.
struct Crew {
    int size = 1;
    int nodes = 1;
    int most = 1, fewest = 1;  // the most and the fewest ranks on a node
    int most_on_host = 1;  // the most ranks on a host; not `most` if processes of a host do not share memory
    bool runs = true;      // each node has consecutive ranks

    Crew(int ranks) : size(ranks), most(ranks), fewest(ranks), most_on_host(ranks) {}  // all on one node
    // Spread over `count` nodes as evenly as possible, with consecutive ranks on each node.
    Crew(int ranks, int count)
        : size(ranks),
          nodes(std::min(ranks, count)),
          most((ranks + nodes - 1) / nodes),
          fewest(ranks / nodes),
          most_on_host(most) {}

    bool spread() const { return nodes > 1; }
    // In a tree or butterfly of this radix, are the ranks of each node a whole subtree, so that only messages
    // of the upper rounds leave the node?
    bool aligned(int radix = 2) const {
        int power = 1;
        while (power < most) power *= radix;
        return runs && most == fewest && power == most;
    }
    Crew leaders() const { return {nodes, nodes}; }
    Crew in_runs() const {
        Crew crew = *this;
        crew.runs = true;
        return crew;
    }
};

// The part of the work that crosses nodes. Exact if the nodes are aligned (Crew::aligned), otherwise an upper
// limit.
struct Far {
    int rounds = 0;  // in the longest chain of messages
    int turns = 0;   // further messages that a rank of the chain sends or receives one after the other
    int64_t messages = 0;
    // Bytes along the chain, including those that other ranks of the same nodes move at the same time,
    // because these ranks share the network.
    double path_bytes = 0;
};

// The model assumes that a message of up to this size is sent without waiting for the receiver, and that the
// sender of a longer message waits.
constexpr int64_t sent_at_once_bytes = 16 * KiB;

// The work of all ranks together, for a team and a number of bytes (the n of algorithms.h).
struct Work {
    // An upper limit: the longest chain of messages that wait for each other or for a busy rank.
    int rounds = 0;
    int64_t messages = 0;     // exact
    int64_t waits = 0;        // how often ranks wait for a message; 0: a usual share (waits_of())
    int64_t busiest = 0;      // messages of the rank that has the most, if these are more than the chain has
    int64_t bytes = 0;        // bytes sent; exact if blocks divide evenly
    double path_bytes = 0;    // bytes moved one after the other along the chain
    double path_reduced = 0;  // bytes combined along the chain
    int64_t slots_read = 0;   // slots of the node area that are read by the rank that reads the most
    int64_t slots_read_in_all = 0;
    int64_t reads = 0;  // reads of other ranks' memory by the rank that reads the most
    int64_t reads_in_all = 0;
    double copied_in_all = 0;   // bytes of additional copies within ranks, if there are many
    double reduced_in_all = 0;  // bytes combined by all ranks; 0: each rank combines path_reduced
    double fresh_bytes = 0;     // along the chain: bytes that their sender has only just computed or received
    double busiest_bytes = 0;   // bytes moved by the rank that moves the most, if fewer than along the chain
    int uses = 0;               // uses of the node area
    // No rank waits for an answer of a later rank, so that calls overlap if ranks are oversubscribed.
    bool one_way = false;
    Far far = {};  // the part of all this that crosses nodes
};

constexpr double waits_of(const Work &work) {
    // The share of messages that have not arrived when their receiver needs them.
    constexpr double missing = 0.6;
    return work.waits ? double(work.waits) : missing * double(work.messages);
}

// The work of two algorithms that run one after the other.
inline Work operator+(const Work &a, const Work &b) {
    Work sum = a;
    sum.rounds += b.rounds;
    sum.messages += b.messages;
    sum.waits = static_cast<int64_t>(waits_of(a) + waits_of(b));
    sum.busiest += b.busiest;
    sum.bytes += b.bytes;
    sum.path_bytes += b.path_bytes;
    sum.path_reduced += b.path_reduced;
    sum.slots_read += b.slots_read;
    sum.slots_read_in_all += b.slots_read_in_all;
    sum.reads += b.reads;
    sum.reads_in_all += b.reads_in_all;
    sum.copied_in_all += b.copied_in_all;
    sum.reduced_in_all += b.reduced_in_all;
    sum.uses += b.uses;
    sum.fresh_bytes += b.fresh_bytes;
    sum.busiest_bytes += b.busiest_bytes;
    sum.one_way = a.one_way && b.one_way;
    sum.far = {a.far.rounds + b.far.rounds, a.far.turns + b.far.turns, a.far.messages + b.far.messages,
               a.far.path_bytes + b.far.path_bytes};
    return sum;
}

// A message of more than moved_by_both_bytes takes half the time, because sender and receiver copy it
// together (p2p/dual_copy.h) if neither of them has other messages to copy.
constexpr int64_t moved_by_both_bytes = 64 * KiB;
constexpr double moved_in_time(int64_t bytes) {
    return bytes > moved_by_both_bytes ? double(bytes) / 2 : double(bytes);
}

// The times of the kinds of work. Only their ratios matter for the choice of an algorithm. They were measured
// in shared memory on a small virtual machine.
struct Costs {
    double message_ns = 350;  // from a send to the end of the receive, if both processors are awake
    double offer_ns = 1200;   // the additional time for a long message, which is offered first
    double byte_ns = 0.12;    // one byte, copied by the receiver
    double reduced_byte_ns = 0.06;
    double slot_ns = 70;         // to read a cache line that another processor has written
    double fresh_byte_ns = 0.2;  // in addition to byte_ns, for bytes that another processor has just written
    double use_ns = 180;         // one use of the node area by one rank
    // Messages and uses take this many times as long if ranks share processors, because caches are cold.
    double cold = 1.3;
    // To begin to read data that does not fit in a slot, in addition to the time for its bytes.
    double read_ns = 300;
    double switch_ns = 1500;  // to yield a processor to another rank
    // Between nodes, over TCP.
    double far_message_ns = 15'000;
    double far_turn_ns = 3'000;  // a processor is busy with one message for this time
    // The network of a node is busy with one message of any of its ranks for this time.
    double far_packet_ns = 700;
    double far_byte_ns = 0.9;  // for a network of 10 Gbit/s
};

// Sets the time of a byte on a network whose slowest part has this speed. If the speed is 0, which means
// unknown, changes nothing.
inline void set_network(Costs &costs, int64_t mbit_per_s) {
    constexpr double overhead = 1.12;  // headers, acknowledgements, copies that do not overlap
    if (mbit_per_s > 0) costs.far_byte_ns = overhead * 8000 / static_cast<double>(mbit_per_s);
}
// Sets the times for processes that are all on one host but connected by TCP.
inline void set_network_of_one_host(Costs &costs) {
    costs.far_message_ns = 12'000;
    costs.far_byte_ns = 0.35;
}

// The time of the work that crosses nodes: the chain, and what a node does in addition for messages of its
// other ranks.
inline double estimate_far_ns(const Far &far, const Costs &costs, const Crew &crew) {
    double of_others = static_cast<double>(far.messages) / crew.nodes - far.rounds - far.turns;
    return far.rounds * costs.far_message_ns + far.turns * costs.far_turn_ns +
           std::max(of_others, 0.0) * costs.far_packet_ns + far.path_bytes * costs.far_byte_ns;
}

inline double estimate_ns(const Work &work, const Costs &costs, const Crew &crew, int processors) {
    const Far &far = work.far;
    int near_rounds = std::max(work.rounds - far.rounds - far.turns, 0);
    double far_ns = crew.spread() ? estimate_far_ns(far, costs, crew) : 0;
    bool oversubscribed = processors > 0 && crew.most_on_host > processors;
    bool is_long = work.messages > 0 && work.bytes > work.messages * sent_at_once_bytes;
    if (!oversubscribed)
        return near_rounds * (costs.message_ns + (is_long ? costs.offer_ns : 0)) +
               work.path_bytes * costs.byte_ns + work.path_reduced * costs.reduced_byte_ns +
               work.fresh_bytes * costs.fresh_byte_ns + work.uses * costs.use_ns +
               static_cast<double>(work.slots_read) * costs.slot_ns +
               static_cast<double>(work.reads) * costs.read_ns + far_ns;
    // If oversubscribed, processors are never idle. The time is then the sum for the work of all ranks, and
    // nearly every message also waits for a switch of processes. But it is at least the time of the busiest
    // rank, which has only one processor.
    int hosts = (crew.size + crew.most_on_host - 1) / crew.most_on_host;
    // With long messages the sender waits as well.
    double switches = work.one_way ? 0 : (waits_of(work) + crew.size) * (is_long ? 2 : 1);
    double reduced_in_all = work.reduced_in_all > 0 ? work.reduced_in_all : work.path_reduced * crew.size;
    double busy_ns = costs.cold * static_cast<double>(work.messages - far.messages) * costs.message_ns +
                     switches * costs.switch_ns + static_cast<double>(far.messages) * 2 * costs.far_turn_ns +
                     (static_cast<double>(work.bytes) + work.copied_in_all) * costs.byte_ns +
                     reduced_in_all * costs.reduced_byte_ns +
                     static_cast<double>(work.slots_read_in_all) * costs.slot_ns +
                     costs.cold * work.uses * crew.size * costs.use_ns +
                     static_cast<double>(work.reads_in_all) * costs.read_ns;
    // The share of what is moved and combined along the chain that one rank does. Combining overlaps in part
    // with moving.
    constexpr double not_overlapped = 0.75;
    double share = work.busiest_bytes > 0 ? work.busiest_bytes / work.path_bytes : 1;
    double one_ns = static_cast<double>(work.busiest) * costs.message_ns +
                    share * (work.path_bytes * costs.byte_ns +
                             not_overlapped * work.path_reduced * costs.reduced_byte_ns) +
                    static_cast<double>(work.reads) * costs.read_ns;
    double near_ns = std::max(busy_ns / processors / hosts, one_ns);
    return hosts > 1 ? near_ns + far_ns : near_ns;  // on one host busy_ns includes the work of the network
}

// How often 1 must be doubled until it reaches `size`.
inline int doublings(int size) {
    return size <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
}
inline int power_of_two_below(int size) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
}
// How often 1 must be multiplied by `radix` until it reaches `size`.
inline int growths(int size, int radix) {
    int rounds = 0;
    for (int64_t grown = 1; grown < size; grown *= radix) ++rounds;
    return rounds;
}

// ---- the part of the work of common patterns that crosses nodes

// How many of these messages cross nodes, if each of them connects two arbitrary ranks.
inline int64_t far_share(const Crew &c, int64_t messages) {
    return c.spread() ? (messages * (c.size - c.fewest) + c.size - 2) / (c.size - 1) : 0;
}
// A tree whose root is rank 0, as in tree.h. Each edge has one message of `bytes`.
inline Far far_tree(const Crew &c, double bytes, int radix = 2) {
    if (!c.spread()) return {};
    bool aligned = c.aligned(radix);
    int rounds = growths(aligned ? c.nodes : c.size, radix), turns = (radix - 2) * rounds;
    return {rounds, turns, aligned ? c.nodes - 1 : far_share(c, c.size - 1),
            (rounds + turns) * bytes * (aligned ? 1 : c.most)};
}
// The same with any root. If the root is not rank 0, the ranks of a node do not form a subtree, and this
// costs one more round.
inline Far far_tree_of_any_root(const Crew &c, double bytes, int radix = 2) {
    Far far = far_tree(c, bytes, radix);
    if (c.most == 1 || far.rounds == 0 || far.rounds == growths(c.size, radix)) return far;
    ++far.rounds;
    far.path_bytes += bytes;
    return far;
}
// A butterfly. The number of ranks is rounded down to a power of two. Each of these ranks exchanges data with
// the ranks at distance 1, 2, 4 ... The remaining ranks exchange data with a neighbour, in `folds` rounds.
inline Far far_butterfly(const Crew &c, int folds, double bytes_each_round) {
    if (!c.spread()) return {};
    int active = power_of_two_below(c.size),
        rounds = c.aligned() && active == c.size ? doublings(c.nodes) : doublings(active) + folds;
    int64_t messages =
        active == c.size && c.aligned() ? int64_t{c.size} * rounds : int64_t{c.size} * (rounds + folds);
    return {rounds, 0, messages, rounds * bytes_each_round * c.most};
}
// Each rank sends to the rank 1, 2, 4 ... above it. In rounds with a short distance, only messages of ranks
// at the edge of a node leave the node, which costs one more round along the chain.
inline Far far_dissemination(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int all = doublings(c.size), upper = doublings(c.nodes);
    if (!c.aligned()) return {all, 0, int64_t{c.size} * all, all * bytes * c.most};
    int rounds = std::min(all, upper + (c.most > 1));
    return {rounds, 0, int64_t{c.size} * upper + int64_t{c.nodes} * (c.most - 1), rounds * bytes * c.most};
}
// All data travels once round the ring of all ranks, in `messages` messages, and `bytes` pass through each
// rank.
inline Far far_ring(const Crew &c, int64_t messages, double bytes) {
    if (!c.spread()) return {};
    int hops = c.runs ? c.nodes : c.size;
    return {std::min(hops, c.size - 1), 0, messages * hops / c.size, c.runs ? bytes : bytes * c.most};
}
// One rank exchanges `bytes` with each other rank, all at the same time.
inline Far far_star(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest;
    return {1, others - 1, others, others * bytes};
}
// Each rank sends `bytes` to each other rank, with `at_once` of these messages at the same time.
inline Far far_pairs(const Crew &c, double bytes, int at_once) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest, rounds = (others + at_once - 1) / at_once;
    return {rounds, others - rounds, int64_t{c.size} * others, bytes * others * c.most};
}

}  // namespace lanyard
