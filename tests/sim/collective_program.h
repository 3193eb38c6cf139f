// Runs random collective operations and checks their results, element by element, against the operations'
// definitions. Some operations are blocking. Others are planned first, started when the test wants it, and
// finished later, once or repeatedly. All members of a team perform the same operations, because their random
// generators are in the same state.
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

// Memory for elements of a datatype, which may have gaps.
class Field {
public:
    Field(const Datatype &type, int64_t elements)
        : type_(type), memory_(static_cast<size_t>(elements * type.extent + 32)) {}
    lanyard::testing::Pair get(int64_t i);
    void set(int64_t i, lanyard::testing::Pair pair);
    std::byte *at(int64_t i) { return memory_.data() + i * type_.extent; }
    Buffer buffer(int64_t first, int64_t count) { return {at(first), count, &type_}; }

private:
    const Datatype &type_;
    std::vector<std::byte> memory_;
};

// One operation as one rank performs it, with the buffers that it uses. The caller must own the
// engine.
class Operation {
public:
    // Draws the kind and the shape of an operation from `random` and plans the operation, but does not
    // start it. A block has no more than `most` elements.
    Operation(Rank &rank, Team &team, Random &random, int64_t most, bool persistent = false);
    ~Operation() { executor_.give_back(collective_); }
    Operation(const Operation &) = delete;
    Operation &operator=(const Operation &) = delete;

    // Starts the operation. Its data depends on `number`, which must be the same on all ranks.
    void start(uint64_t number);
    bool complete() const { return collective_->completion.complete(); }
    // Waits until the operation is complete, and checks the result.
    void finish();

private:
    using Pair = lanyard::testing::Pair;
    enum class Kind {
        barrier, bcast, reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, gather,
        gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw, count_of_them
    };

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
    // by rank: the elements of its block, and where the block lies; the uneven forms have gaps between blocks
    std::vector<int32_t> counts_, places_;
    std::deque<Field> fields_;
    uint64_t number_ = 0;
    std::function<void()> fill_ = [] {}, check_ = [] {};
};

// Runs `count` blocking operations on the team, one after the other. A block has no more than `most`
// elements.
void run_collectives(Rank &rank, Team &team, uint64_t seed, int count, int64_t most);

// Returns a random number of ranks for each node: all ranks on one node, each rank on its own node, or a
// number in between.
uint32_t random_ranks_per_node(Random &random, uint32_t ranks);
// Called after baton.run(). Checks that no message and no receive is left, ends the job, and checks that no
// node memory is in use any more.
void expect_nothing_left(Job &job);

}  // namespace lanyard::sim
