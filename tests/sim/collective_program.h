// Random collective operations, each checked element by element against the definition: blocking ones, and operations that are
// planned, started when the test wants it and finished later, once or again and again. All members of a team make the same
// operations from generators in the same state.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "datatype/cursor.h"
#include "sim/job.h"
#include "unit/coll/elements.h"

namespace lanyard::sim {

// Elements in memory, plain or with gaps.
class Field {
public:
    Field(const Datatype &type, int64_t elements) : type_(type), memory_(static_cast<size_t>(elements * type.extent + 32)) {}
    lanyard::testing::Pair get(int64_t i);
    void set(int64_t i, lanyard::testing::Pair pair);
    std::byte *at(int64_t i) { return memory_.data() + i * type_.extent; }
    Buffer buffer(int64_t first, int64_t count) { return {at(first), count, &type_}; }

private:
    const Datatype &type_;
    std::vector<std::byte> memory_;
};

// One operation as one rank does it, with its memory. Needs the engine owned.
class Operation {
public:
    // Of the next kind and shape that `random` gives; blocks have at most `most` elements. Planned, not started.
    Operation(Rank &rank, Team &team, Random &random, int64_t most, bool persistent = false);
    ~Operation() { executor_.give_back(collective_); }
    Operation(const Operation &) = delete;
    Operation &operator=(const Operation &) = delete;

    // With contents that depend on the number, the same on all ranks.
    void start(uint64_t number);
    bool complete() const { return collective_->completion.complete(); }
    // Waits, and looks at what came out.
    void finish();

private:
    using Pair = lanyard::testing::Pair;
    enum class Kind { barrier, bcast, reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, gather, gatherv, scatter,
                      scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw, count_of_them };

    void plan_it();
    void plan_bcast_of_root();
    void plan_reduction();
    void plan_gathering();
    void plan_scattering();
    void plan_exchange();
    void plan_uneven_exchange();
    void plan_typed_exchange();
    template <class... Parameters, class... Arguments>
    void plan(void (*how)(Executor &, Team &, Plan &, Parameters...), const Arguments &...arguments) {
        if (persistent_) EXPECT_FALSE(plan_persistent(executor_, team_, *collective_, how, arguments...));
        else how(executor_, team_, collective_->plan, arguments...);
    }
    Field &field(int64_t elements) { return fields_.emplace_back(type_, elements); }
    int64_t own_count() const { return counts_[static_cast<size_t>(me())]; }
    int64_t place(int r) const { return places_[static_cast<size_t>(r)]; }
    int64_t space() const { return places_.back() + counts_.back(); }
    int size() const { return team_.size; }
    int me() const { return team_.index; }
    Pair own(int64_t i) const;
    Pair folded(int last, int64_t i) const;
    void expect(Pair got, Pair wanted, int64_t i) const;

    Rank &rank_;
    Executor &executor_;
    Team &team_;
    bool persistent_;
    Collective *collective_;
    Kind kind_;
    int root_;
    int64_t count_;
    const Datatype &type_;
    bool in_place_;
    const Op &op_;
    std::vector<int32_t> counts_, places_;  // of each rank's block; the places of the uneven forms leave gaps
    std::deque<Field> fields_;
    uint64_t number_ = 0;
    std::function<void()> fill_ = [] {}, check_ = [] {};
};

// `count` blocking operations on the team, one after the other; elements of any block: at most `most`.
void run_collectives(Rank &rank, Team &team, uint64_t seed, int count, int64_t most);

// For the tests that use them: some nodes with some ranks each, or all on one, or each alone.
uint32_t random_ranks_per_node(Random &random, uint32_t ranks);
// After baton.run(): no message and no receive is left over. Ends the job, after which no node memory is in use.
void expect_nothing_left(Job &job);

}  // namespace lanyard::sim
