// What an algorithm costs: counted exactly where it can be (a test compares with the schedules), estimated in time by
// what the machine takes for the parts. Plain values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lanyard {

// A team as the model sees it: how many ranks, on which nodes.
struct Crew {
    int size = 1;
    int nodes = 1;
    int most = 1, fewest = 1;  // ranks on a node
    int most_on_host = 1;      // more than `most` where processes of a host do not share memory
    bool runs = true;          // ranks of a node follow one another

    Crew(int ranks) : size(ranks), most(ranks), fewest(ranks), most_on_host(ranks) {}  // on one node
    // As even as can be, those of a node one after the other.
    Crew(int ranks, int count)
        : size(ranks), nodes(std::min(ranks, count)), most((ranks + nodes - 1) / nodes), fewest(ranks / nodes), most_on_host(most) {}

    bool spread() const { return nodes > 1; }
    // In a tree or butterfly of this radix a node's ranks are a subtree: only the upper rounds leave it.
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

// What of the work goes between nodes: exactly where the nodes are aligned, elsewhere at most.
struct Far {
    int rounds = 0;         // of the longest chain
    int turns = 0;          // further messages that a rank of the chain sends or receives beside, one after the other
    int64_t messages = 0;
    double path_bytes = 0;  // along the chain, with what other ranks of a node send or receive meanwhile: they share its network
};

// Messages up to here are sent and forgotten; for longer ones the sender waits.
constexpr int64_t sent_at_once_bytes = 16 * 1024;

// Of all ranks together, for a team and a number of bytes; which bytes is said with each algorithm.
struct Work {
    int rounds = 0;            // longest chain of messages that wait for each other, or for a rank that has many, at most
    int64_t messages = 0;      // exactly
    int64_t waits = 0;         // how often ranks wait for a message; 0: for most, some being there already
    int64_t busiest = 0;       // messages sent and received by the rank that has most, where that is more than the chain
    int64_t bytes = 0;         // sent, exactly where blocks divide evenly
    double path_bytes = 0;     // sent and received one after the other along the chain
    double path_reduced = 0;   // bytes combined along the chain
    int64_t slots_read = 0;    // of the node area, by the rank that reads most
    int64_t slots_read_in_all = 0;
    int64_t reads = 0;         // of other ranks' memory, by the rank that reads most
    int64_t reads_in_all = 0;
    double copied_in_all = 0;  // bytes that ranks copy beside, where there are many
    double reduced_in_all = 0; // bytes combined by all, where that is less than all along the chain would
    double fresh_bytes = 0;    // along the chain, those that their sender has only just made or received
    double busiest_bytes = 0;  // moved by the rank that moves most, where that is less than along the chain
    int uses = 0;              // of the node area
    bool one_way = false;      // no rank waits for one that comes after it: calls overlap where ranks are many
    Far far = {};              // contained in the above, but for path_bytes of others
};

constexpr double waits_of(const Work &work) {
    constexpr double missing = 0.6;  // the part of messages that are not there yet
    return work.waits ? double(work.waits) : missing * double(work.messages);
}

// One after the other.
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
    sum.far = {a.far.rounds + b.far.rounds, a.far.turns + b.far.turns, a.far.messages + b.far.messages, a.far.path_bytes + b.far.path_bytes};
    return sum;
}

// Long messages are moved by both sides at once (p2p/dual_copy.h) where neither has others to serve.
constexpr int64_t moved_by_both_bytes = 64 * 1024;
constexpr double moved_in_time(int64_t bytes) { return bytes > moved_by_both_bytes ? double(bytes) / 2 : double(bytes); }

// Times of the parts. They matter by their ratios only; measured on shared memory of a small virtual machine.
struct Costs {
    double message_ns = 350;      // from one rank's send to the other's receive, processors awake
    double offer_ns = 1200;       // more than that for a long one, whose receiver must be asked first
    double byte_ns = 0.12;        // one copy by the receiver
    double reduced_byte_ns = 0.06;
    double slot_ns = 70;          // reading a cache line that another processor wrote
    double fresh_byte_ns = 0.2;   // more than byte_ns, of what another processor has just made
    double use_ns = 200;          // of the node area, for each rank; half as much again where processors are shared, and caches cold
    double read_ns = 300;         // of what does not fit into a slot, beside what each byte takes
    double switch_ns = 1500;      // giving a processor to another rank
    // Between nodes, over TCP.
    double far_message_ns = 15'000;
    double far_turn_ns = 3'000;   // of a message, the part for which a processor is busy: so soon may the next one go
    double far_packet_ns = 700;   // the part that a node does for one message at a time, whichever of its ranks it is for
    double far_byte_ns = 0.9;     // of the network, 10 Gbit/s
};

// What a byte takes on the network, whose slowest part has this speed; 0: not known.
inline void set_network(Costs &costs, int64_t mbit_per_s) {
    constexpr double overhead = 1.12;  // headers, acknowledgements, copies that do not overlap
    if (mbit_per_s > 0) costs.far_byte_ns = overhead * 8000 / static_cast<double>(mbit_per_s);
}
// Where all processes are on one host, but connected by TCP.
inline void set_network_of_one_host(Costs &costs) {
    costs.far_message_ns = 12'000;
    costs.far_byte_ns = 0.35;
}

// What goes between nodes: the chain, and what a node has to do meanwhile for messages of its other ranks.
inline double estimate_far_ns(const Far &far, const Costs &costs, const Crew &crew) {
    double of_others = static_cast<double>(far.messages) / crew.nodes - far.rounds - far.turns;
    return far.rounds * costs.far_message_ns + far.turns * costs.far_turn_ns + std::max(of_others, 0.0) * costs.far_packet_ns +
           far.path_bytes * costs.far_byte_ns;
}

inline double estimate_ns(const Work &work, const Costs &costs, const Crew &crew, int processors) {
    const Far &far = work.far;
    int near_rounds = std::max(work.rounds - far.rounds - far.turns, 0);
    double far_ns = crew.spread() ? estimate_far_ns(far, costs, crew) : 0;
    bool oversubscribed = processors > 0 && crew.most_on_host > processors;
    bool is_long = work.messages > 0 && work.bytes > work.messages * sent_at_once_bytes;
    if (!oversubscribed)
        return near_rounds * (costs.message_ns + (is_long ? costs.offer_ns : 0)) + work.path_bytes * costs.byte_ns +
               work.path_reduced * costs.reduced_byte_ns + work.fresh_bytes * costs.fresh_byte_ns + work.uses * costs.use_ns +
               static_cast<double>(work.slots_read) * costs.slot_ns + static_cast<double>(work.reads) * costs.read_ns + far_ns;
    // Processors never idle: what counts is all that must be done, and that nearly every message waits for a switch; but one rank has only
    // one processor.
    int hosts = (crew.size + crew.most_on_host - 1) / crew.most_on_host;
    // For long messages the sender waits as well.
    double switches = work.one_way ? 0 : (waits_of(work) + crew.size) * (is_long ? 2 : 1);
    double reduced_in_all = work.reduced_in_all > 0 ? work.reduced_in_all : work.path_reduced * crew.size;
    double busy_ns = static_cast<double>(work.messages - far.messages) * costs.message_ns + switches * costs.switch_ns +
                     static_cast<double>(far.messages) * 2 * costs.far_turn_ns +
                     (static_cast<double>(work.bytes) + work.copied_in_all) * costs.byte_ns + reduced_in_all * costs.reduced_byte_ns +
                     static_cast<double>(work.slots_read_in_all) * costs.slot_ns + work.uses * crew.size * 1.5 * costs.use_ns +
                     static_cast<double>(work.reads_in_all) * costs.read_ns;
    double busiest_bytes = work.busiest_bytes > 0 ? work.busiest_bytes : work.path_bytes;
    double one_ns = static_cast<double>(work.busiest) * costs.message_ns + busiest_bytes * costs.byte_ns +
                    static_cast<double>(work.reads) * costs.read_ns;
    double near_ns = std::max(busy_ns / processors / hosts, one_ns);
    return hosts > 1 ? near_ns + far_ns : near_ns;  // on one host a network is work of the processors, too
}

// Rounds in which something doubles from 1 until it reaches `size`.
inline int doublings(int size) { return size <= 1 ? 0 : std::bit_width(static_cast<unsigned>(size - 1)); }
inline int power_of_two_below(int size) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size))); }
// Rounds in which something grows `radix` times from 1 until it reaches `size`.
inline int growths(int size, int radix) {
    int rounds = 0;
    for (int64_t grown = 1; grown < size; grown *= radix) ++rounds;
    return rounds;
}

// ---- what of common patterns goes between nodes

// Of so many messages between ranks as they come.
inline int64_t far_share(const Crew &c, int64_t messages) {
    return c.spread() ? (messages * (c.size - c.fewest) + c.size - 2) / (c.size - 1) : 0;
}
// A tree from rank 0, its children numbered by digits: one message each, of `bytes`.
inline Far far_tree(const Crew &c, double bytes, int radix = 2) {
    if (!c.spread()) return {};
    bool aligned = c.aligned(radix);
    int rounds = growths(aligned ? c.nodes : c.size, radix), turns = (radix - 2) * rounds;
    return {rounds, turns, aligned ? c.nodes - 1 : far_share(c, c.size - 1), (rounds + turns) * bytes * (aligned ? 1 : c.most)};
}
// The same from any root: with another than rank 0 nodes are no subtrees, which costs one round more.
inline Far far_tree_of_any_root(const Crew &c, double bytes, int radix = 2) {
    Far far = far_tree(c, bytes, radix);
    if (c.most == 1 || far.rounds == 0 || far.rounds == growths(c.size, radix)) return far;
    ++far.rounds;
    far.path_bytes += bytes;
    return far;
}
// Each of a power of two of ranks with the one at distance 1, 2, 4 ...; the others (`folds` rounds) with a neighbour.
inline Far far_butterfly(const Crew &c, int folds, double bytes_each_round) {
    if (!c.spread()) return {};
    int active = power_of_two_below(c.size), rounds = c.aligned() && active == c.size ? doublings(c.nodes) : doublings(active) + folds;
    int64_t messages = active == c.size && c.aligned() ? int64_t{c.size} * rounds : int64_t{c.size} * (rounds + folds);
    return {rounds, 0, messages, rounds * bytes_each_round * c.most};
}
// All ranks with the one 1, 2, 4 ... above: also a near round leaves a node at its edge, once along a chain.
inline Far far_dissemination(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int all = doublings(c.size), upper = doublings(c.nodes);
    if (!c.aligned()) return {all, 0, int64_t{c.size} * all, all * bytes * c.most};
    int rounds = std::min(all, upper + (c.most > 1));
    return {rounds, 0, int64_t{c.size} * upper + int64_t{c.nodes} * (c.most - 1), rounds * bytes * c.most};
}
// Everything once round the ring of all ranks, in `messages`, `bytes` through each rank.
inline Far far_ring(const Crew &c, int64_t messages, double bytes) {
    if (!c.spread()) return {};
    int hops = c.runs ? c.nodes : c.size;
    return {std::min(hops, c.size - 1), 0, messages * hops / c.size, c.runs ? bytes : bytes * c.most};
}
// One rank with each other, all at once: `bytes` each.
inline Far far_star(const Crew &c, double bytes) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest;
    return {1, others - 1, others, others * bytes};
}
// Each rank with each other, one after the other but for `at_once` of them: `bytes` each.
inline Far far_pairs(const Crew &c, double bytes, int at_once) {
    if (!c.spread()) return {};
    int others = c.size - c.fewest, rounds = (others + at_once - 1) / at_once;
    return {rounds, others - rounds, int64_t{c.size} * others, bytes * others * c.most};
}

}  // namespace lanyard
