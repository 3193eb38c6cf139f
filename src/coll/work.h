// What an algorithm costs. The work is counted exactly where possible (a test compares it with the
// schedules), and the time is estimated from the machine's time for each part.
// Thread rule: plain values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lanyard {

// A team as the model sees it: how many ranks, and on which nodes.
struct Crew {
    int size = 1;
    int nodes = 1;
    int most = 1, fewest = 1;  // ranks on a node
    int most_on_host = 1;      // more than `most` if processes of a host do not share memory
    bool runs = true;          // the ranks of each node follow one another

    Crew(int ranks) : size(ranks), most(ranks), fewest(ranks), most_on_host(ranks) {}  // on one node
    // As even as possible, with the ranks of a node one after the other.
    Crew(int ranks, int count)
        : size(ranks),
          nodes(std::min(ranks, count)),
          most((ranks + nodes - 1) / nodes),
          fewest(ranks / nodes),
          most_on_host(most) {}

    bool spread() const { return nodes > 1; }
    // In a tree or butterfly of this radix, the ranks of a node are a subtree, so only the upper rounds leave
    // it.
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

// The part of the work that crosses nodes: exact if the nodes are aligned, otherwise an upper limit.
struct Far {
    int rounds = 0;  // in the longest chain
    int turns = 0;   // other messages that a rank of the chain sends or receives, one after the other
    int64_t messages = 0;
    // Along the chain, with what other ranks of its nodes move meanwhile, because they share the network.
    double path_bytes = 0;
};

// Shorter messages are sent without waiting; for longer ones the sender waits.
constexpr int64_t sent_at_once_bytes = 16 * 1024;

// The work of all ranks together, for a team and a number of bytes. Each algorithm states which bytes are
// meant.
struct Work {
    int rounds = 0;           // at most; longest chain of messages that wait for each other or a busy rank
    int64_t messages = 0;     // exactly
    int64_t waits = 0;        // how often ranks wait for a message; 0: for most, as some are there already
    int64_t busiest = 0;      // messages of the rank that has most, if more than in the chain
    int64_t bytes = 0;        // sent; exact if blocks divide evenly
    double path_bytes = 0;    // moved one after the other along the chain
    double path_reduced = 0;  // bytes combined along the chain
    int64_t slots_read = 0;   // of the node area, by the rank that reads most
    int64_t slots_read_in_all = 0;
    int64_t reads = 0;         // of other ranks' memory, by the rank that reads most
    int64_t reads_in_all = 0;
    double copied_in_all = 0;   // by additional copies in ranks, if there are many
    double reduced_in_all = 0;  // bytes combined by all, if less than the chain suggests
    double fresh_bytes = 0;     // along the chain: bytes that their sender has only just made or received
    double busiest_bytes = 0;   // moved by the rank that moves most, if less than along the chain
    int uses = 0;               // of the node area
    bool one_way = false;       // no rank waits for one behind it, so calls overlap if oversubscribed
    Far far = {};               // part of the above, except path_bytes of other ranks
};

constexpr double waits_of(const Work &work) {
    constexpr double missing = 0.6;  // the part of messages that are not there yet
    return work.waits ? double(work.waits) : missing * double(work.messages);
}

// The work of both, one after the other.
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

// Both sides move long messages at the same time (p2p/dual_copy.h) if neither has other peers to serve.
constexpr int64_t moved_by_both_bytes = 64 * 1024;
constexpr double moved_in_time(int64_t bytes) {
    return bytes > moved_by_both_bytes ? double(bytes) / 2 : double(bytes);
}

// Times of the parts. Only their ratios matter. Measured in shared memory on a small virtual machine.
struct Costs {
    double message_ns = 350;  // from a send to the other rank's receive, both processors awake
    double offer_ns = 1200;   // additional time for a long message, which is offered first
    double byte_ns = 0.12;    // one copy by the receiver
    double reduced_byte_ns = 0.06;
    double slot_ns = 70;         // to read a cache line that another processor wrote
    double fresh_byte_ns = 0.2;  // additional to byte_ns, for bytes that another processor has just made
    // One use of the node area by each rank. Half as much again if processors are shared and caches cold.
    double use_ns = 200;
    double read_ns = 300;     // to read what does not fit a slot, in addition to the time for its bytes
    double switch_ns = 1500;  // to yield a processor to another rank
    // Between nodes, over TCP.
    double far_message_ns = 15'000;
    double far_turn_ns = 3'000;  // a processor is busy with a message for this time, before the next one
    double far_packet_ns = 700;  // a node handles one message at a time for this time, for any of its ranks
    double far_byte_ns = 0.9;    // for a network of 10 Gbit/s
};

// Sets the time of a byte on a network whose slowest part has this speed; 0: unknown.
inline void set_network(Costs &costs, int64_t mbit_per_s) {
    constexpr double overhead = 1.12;  // headers, acknowledgements, copies that do not overlap
    if (mbit_per_s > 0) costs.far_byte_ns = overhead * 8000 / static_cast<double>(mbit_per_s);
}
// For processes that are all on one host but connected by TCP.
inline void set_network_of_one_host(Costs &costs) {
    costs.far_message_ns = 12'000;
    costs.far_byte_ns = 0.35;
}

// The part that crosses nodes: the chain, and what a node does meanwhile for messages of its other ranks.
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
    // Oversubscribed: processors are never idle. What counts is all the work, and that nearly every message
    // waits for a switch of processes. But one rank has only one processor.
    int hosts = (crew.size + crew.most_on_host - 1) / crew.most_on_host;
    // With long messages the sender waits as well.
    double switches = work.one_way ? 0 : (waits_of(work) + crew.size) * (is_long ? 2 : 1);
    double reduced_in_all = work.reduced_in_all > 0 ? work.reduced_in_all : work.path_reduced * crew.size;
    double busy_ns =
        static_cast<double>(work.messages - far.messages) * costs.message_ns + switches * costs.switch_ns +
        static_cast<double>(far.messages) * 2 * costs.far_turn_ns +
        (static_cast<double>(work.bytes) + work.copied_in_all) * costs.byte_ns +
        reduced_in_all * costs.reduced_byte_ns + static_cast<double>(work.slots_read_in_all) * costs.slot_ns +
        work.uses * crew.size * 1.5 * costs.use_ns + static_cast<double>(work.reads_in_all) * costs.read_ns;
    double busiest_bytes = work.busiest_bytes > 0 ? work.busiest_bytes : work.path_bytes;
    double one_ns = static_cast<double>(work.busiest) * costs.message_ns + busiest_bytes * costs.byte_ns +
                    static_cast<double>(work.reads) * costs.read_ns;
    double near_ns = std::max(busy_ns / processors / hosts, one_ns);
    return hosts > 1 ? near_ns + far_ns : near_ns;  // on one host the network takes processor time too
}

// Rounds in which something doubles from 1 until it reaches `size`.
inline int doublings(int size) { return size <= 1 ? 0 : std::bit_width(static_cast<unsigned>(size - 1)); }
inline int power_of_two_below(int size) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
}
// Rounds in which something grows by the factor `radix` from 1 until it reaches `size`.
inline int growths(int size, int radix) {
    int rounds = 0;
    for (int64_t grown = 1; grown < size; grown *= radix) ++rounds;
    return rounds;
}

// ---- the part of common patterns that crosses nodes

// The messages that cross nodes, if each of these messages connects any two ranks.
inline int64_t far_share(const Crew &c, int64_t messages) {
    return c.spread() ? (messages * (c.size - c.fewest) + c.size - 2) / (c.size - 1) : 0;
}
// A tree from rank 0, whose children are numbered by digits. Each edge has one message of `bytes`.
inline Far far_tree(const Crew &c, double bytes, int radix = 2) {
    if (!c.spread()) return {};
    bool aligned = c.aligned(radix);
    int rounds = growths(aligned ? c.nodes : c.size, radix), turns = (radix - 2) * rounds;
    return {rounds, turns, aligned ? c.nodes - 1 : far_share(c, c.size - 1),
            (rounds + turns) * bytes * (aligned ? 1 : c.most)};
}
// The same from any root. With another root than rank 0 nodes are no subtrees, which costs one more round.
inline Far far_tree_of_any_root(const Crew &c, double bytes, int radix = 2) {
    Far far = far_tree(c, bytes, radix);
    if (c.most == 1 || far.rounds == 0 || far.rounds == growths(c.size, radix)) return far;
    ++far.rounds;
    far.path_bytes += bytes;
    return far;
}
// Each of a power of two of ranks exchanges with the rank at distance 1, 2, 4 ...; the other ranks with a
// neighbour (`folds` rounds).
inline Far far_butterfly(const Crew &c, int folds, double bytes_each_round) {
    if (!c.spread()) return {};
    int active = power_of_two_below(c.size),
        rounds = c.aligned() && active == c.size ? doublings(c.nodes) : doublings(active) + folds;
    int64_t messages =
        active == c.size && c.aligned() ? int64_t{c.size} * rounds : int64_t{c.size} * (rounds + folds);
    return {rounds, 0, messages, rounds * bytes_each_round * c.most};
}
// Each rank sends to the rank 1, 2, 4 ... above it. A near round also leaves a node at its edge, once along a
// chain.
inline Far far_dissemination(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int all = doublings(c.size), upper = doublings(c.nodes);
    if (!c.aligned()) return {all, 0, int64_t{c.size} * all, all * bytes * c.most};
    int rounds = std::min(all, upper + (c.most > 1));
    return {rounds, 0, int64_t{c.size} * upper + int64_t{c.nodes} * (c.most - 1), rounds * bytes * c.most};
}
// All data once round the ring of all ranks, in `messages` messages, with `bytes` through each rank.
inline Far far_ring(const Crew &c, int64_t messages, double bytes) {
    if (!c.spread()) return {};
    int hops = c.runs ? c.nodes : c.size;
    return {std::min(hops, c.size - 1), 0, messages * hops / c.size, c.runs ? bytes : bytes * c.most};
}
// One rank with each other rank, all at once, `bytes` each.
inline Far far_star(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest;
    return {1, others - 1, others, others * bytes};
}
// Each rank with each other rank, `bytes` each; `at_once` of these messages at the same time.
inline Far far_pairs(const Crew &c, double bytes, int at_once) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest, rounds = (others + at_once - 1) / at_once;
    return {rounds, others - rounds, int64_t{c.size} * others, bytes * others * c.most};
}

}  // namespace lanyard
