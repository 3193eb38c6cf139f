// What the tests of collective algorithms share: program memory filled with a pattern, the values that
// ranks contribute, the team sizes, and the comparison of the observed work with the work that an algorithm
// states. One thread. A failure prints the seed; LANYARD_TEST_SEED sets it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "coll/algorithms.h"
#include "elements.h"
#include "machine.h"

namespace lanyard::testing {


inline uint64_t seed() {
    const char *text = std::getenv("LANYARD_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 20260;
}

// The team sizes to test: P = 1..40, or only some of them in builds in which every step takes much
// longer, that is, with sanitizers or under memcheck (LANYARD_TEST_FEW).
inline std::vector<int> sizes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const bool few = true;
#else
    const bool few = std::getenv("LANYARD_TEST_FEW");
#endif
    if (few) return {1, 2, 3, 4, 5, 7, 8, 12, 16, 23};
    std::vector<int> all(40);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

// Chooses what the ranks share (Machine::Shares) if each rank posts `bytes` bytes in all or, with `each`,
// `bytes` bytes for each other rank. A team of even size shares only the node area if the bytes fit into a
// slot. Otherwise the ranks also read each other's memory.
inline Machine::Shares shared_for(int size, int64_t bytes, bool each = false) {
    std::byte line[64] = {};
    Team team;
    team.size = size;
    team.node_area = line;
    int64_t capacity = each ? node_slot_capacity_for_each(team) : node_slot_capacity(team);
    return size % 2 || bytes > capacity ? Machine::Shares::memory : Machine::Shares::area;
}
// A number of elements that is too large for any slot. Only some team sizes are tested with it, to
// save time.
constexpr int64_t long_count = 1100;
inline bool takes_long_counts(int size) {
    return size == 2 || size == 3 || size == 5 || size == 8 || size == 18;
}

// Program memory for some elements of a datatype, filled with a pattern. The address of the first element
// is at `origin` in `bytes`.
struct Memory {
    std::vector<std::byte> bytes;
    int64_t origin = 0;
    const Datatype *type = nullptr;

    Memory() = default;
    Memory(int64_t count, const Datatype &t) : type(&t) {
        int64_t span = count > 0 ? t.true_extent + (count - 1) * std::abs(t.extent) : 0;
        bytes.assign(static_cast<size_t>(span), std::byte{0xEE});
        origin = (t.extent < 0 && count > 0 ? (count - 1) * -t.extent : 0) - t.true_lower_bound;
    }
    void put(int64_t i, Pair pair) {
        std::byte *at = bytes.data() + origin + i * type->extent;
        bool gaps = type == &gappy_pair();
        std::memcpy(at + (gaps ? 4 : 0), &pair.a, 4);
        std::memcpy(at + (gaps ? 12 : 4), &pair.b, 4);
    }
    Pair get(int64_t i) const {
        const std::byte *at = bytes.data() + origin + i * type->extent;
        bool gaps = type == &gappy_pair();
        Pair pair;
        std::memcpy(&pair.a, at + (gaps ? 4 : 0), 4);
        std::memcpy(&pair.b, at + (gaps ? 12 : 4), 4);
        return pair;
    }
};

// The value of element i that rank `rank` contributes.
inline Pair value_of(int rank, int64_t i) {
    return {static_cast<uint32_t>(rank * 7919 + i * 104729 + 3),
            static_cast<uint32_t>(rank * 31 + i * 17 + 1)};
}

inline void give(Machine::Rank &rank, const Memory &send, const Memory &receive) {
    rank.send = send.bytes;
    rank.send_origin = send.origin;
    rank.receive = receive.bytes;
    rank.receive_origin = receive.origin;
}

inline Memory result_of(const Machine::Rank &rank, const Memory &like) {
    Memory memory = like;
    memory.bytes = rank.receive;
    return memory;
}

using WorkOf = Work (*)(const Crew &, int64_t);

// Compares the observed work with work_of(). Call this only if the stated work is exact: the blocks
// divide evenly and are not empty.
inline void check_work(const Machine &machine, WorkOf work_of, int size, int64_t bytes,
                       const std::string &what) {
    Work work = work_of(size, bytes);
    EXPECT_EQ(machine.observed().messages, work.messages) << what;
    EXPECT_EQ(machine.observed().bytes, work.bytes) << what;
    EXPECT_LE(machine.observed().rounds, work.rounds) << what;
}

inline std::string describe(const char *name, int size, int64_t count, const Datatype &type, bool in_place,
                            int root) {
    return std::string(name) + " P=" + std::to_string(size) + " count=" + std::to_string(count) +
           (&type == &plain_pair() ? " plain" : &type == &gappy_pair() ? " gappy" : " backward") +
           (in_place ? " in place" : "") + " root=" + std::to_string(root) +
           " LANYARD_TEST_SEED=" + std::to_string(seed());
}

inline const std::vector<const Datatype *> &datatypes() {
    static const std::vector<const Datatype *> all{&plain_pair(), &gappy_pair(), &back_pair()};
    return all;
}

template <class Shape>
struct Algorithm {
    const char *name;
    void (*make)(const Shape &, Schedule &);
    WorkOf work;
    bool commutative_only = false;
    bool needs_area = false;
    bool even_only = false;
};

// For algorithms that have a radix as a further argument: these functions have the usual signatures of an
// algorithm and of its work, and pass this radix.
template <auto make, int radix, class Shape>
void of_radix(const Shape &shape, Schedule &schedule) {
    make(shape, schedule, radix);
}
template <auto work, int radix>
Work of_radix_work(const Crew &crew, int64_t bytes) {
    return work(crew, bytes, radix);
}

// The numbers of elements to test: 0, few, several for each rank, and several for each rank with a
// remainder.
inline std::vector<int64_t> counts_for(int size) {
    return {0, 1, 3, int64_t{size} * 4, int64_t{size} * 3 + 2};
}

inline std::vector<int64_t> counts_with_long(bool with, int size) {
    std::vector<int64_t> counts = counts_for(size);
    if (with && takes_long_counts(size)) counts.push_back(long_count);
    return counts;
}

}  // namespace lanyard::testing
