// Plans random collectives of two groups and computes the results that each rank must get. See
// inter_program.h.
#include "sim/inter_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/abi_constants.h"
#include "coll/collectives.h"
#include "unit/coll/elements.h"

namespace lanyard::sim {
namespace {

using lanyard::testing::Pair;
using Pairs = std::vector<Pair>;

// One operation as one rank performs it. The caller must own the engine.
class InterOperation {
public:
    InterOperation(Comm &comm, Random &random)
        : comm_(comm), kind_(static_cast<Kind>(random.below(static_cast<uint64_t>(Kind::count_of_them)))),
          salt_(random.next()), count_(static_cast<int64_t>(random.below(random.chance(20) ? 400 : 6))),
          second_has_root_(random.chance(50)), root_(static_cast<int>(random.below(1000))) {
        group_ = own_begin(comm.team) > 0;
        own_ = own_size(comm.team);
        other_ = other_size(comm.team);
        root_ %= group_ == second_has_root_ ? own_ : other_;
        collective_ = executor().take();
        plan();
        executor().start(*collective_, comm.team);
    }
    void finish() {
        Error error = executor().finish(collective_);
        ASSERT_FALSE(error) << error.take().sentence;
        ASSERT_EQ(result_, wanted_) << "kind " << static_cast<int>(kind_) << ", " << count_
                                    << " elements, groups of " << own_ << " and " << other_ << ", rank "
                                    << comm_.rank << " of group " << group_ << ", root " << root_ << " of "
                                    << second_has_root_;
    }

private:
    enum class Kind {
        barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, alltoallv, reduce_scatter,
        count_of_them
    };

    Executor &executor() { return *comm_.universe->executor; }
    bool has_root() const { return group_ == second_has_root_; }
    int root() const { return !has_root() ? root_ : comm_.rank == root_ ? abi::root : abi::proc_null; }
    bool is_root() const { return root() == abi::root; }
    // Element i of the block that rank `from` of a group sends to rank `to` of the other group.
    Pair value(bool group, int from, int to, int64_t i) const {
        uint64_t mixed = (salt_ + group) * 0x9e3779b97f4a7c15u +
                         static_cast<uint64_t>(from * 1000003 + to * 7919) + static_cast<uint64_t>(i);
        return {static_cast<uint32_t>(mixed >> 7), static_cast<uint32_t>(mixed)};
    }
    Pairs values(bool group, int from, int to) const {
        Pairs all;
        for (int64_t i = 0; i < count_; ++i) all.push_back(value(group, from, to, i));
        return all;
    }
    Pairs combined(int64_t begin, int64_t end) const {
        Pairs all;
        for (int64_t i = begin; i < end; ++i) {
            all.push_back(value(!group_, 0, 0, i));
            for (int rank = 1; rank < other_; ++rank)
                all.back() = combine(op_, all.back(), value(!group_, rank, 0, i));
        }
        return all;
    }
    static void append(Pairs &to, const Pairs &more) { to.insert(to.end(), more.begin(), more.end()); }
    Buffer sent(int64_t count) { return {reinterpret_cast<std::byte *>(given_.data()), count, &type_}; }
    Buffer received(int64_t count) { return {reinterpret_cast<std::byte *>(result_.data()), count, &type_}; }
    Reduction reduction(int64_t count) {
        return {reinterpret_cast<const std::byte *>(given_.data()),
                reinterpret_cast<std::byte *>(result_.data()),
                count,
                &type_,
                &op_,
                false};
    }

    void plan() {
        Team &team = comm_.team;
        switch (kind_) {
            case Kind::barrier: return plan_barrier(executor(), team, collective_->plan);
            case Kind::bcast:
                wanted_ = result_ = Pairs(static_cast<size_t>(count_));
                if (is_root()) wanted_ = result_ = values(group_, root_, 0);
                if (!has_root()) wanted_ = values(!group_, root_, 0);
                return plan_bcast(executor(), team, collective_->plan, received(count_), root());
            case Kind::reduce:
            case Kind::allreduce: return plan_reduction(team);
            case Kind::gather:
            case Kind::scatter: return plan_rooted(team);
            case Kind::reduce_scatter: return plan_parts(team);
            default: return plan_for_all(team);
        }
    }
    void plan_reduction(Team &team) {
        bool to_all = kind_ == Kind::allreduce;
        given_ = values(group_, comm_.rank, 0);
        wanted_ = result_ = Pairs(static_cast<size_t>(count_));
        if (to_all || is_root()) wanted_ = combined(0, count_);
        if (to_all) plan_allreduce(executor(), team, collective_->plan, reduction(count_));
        else plan_reduce(executor(), team, collective_->plan, reduction(count_), root());
    }
    void plan_rooted(Team &team) {
        bool gathers = kind_ == Kind::gather;
        if (gathers) {
            given_ = values(group_, comm_.rank, root_);
            for (int rank = 0; is_root() && rank < other_; ++rank)
                append(wanted_, values(!group_, rank, root_));
        } else {
            for (int rank = 0; is_root() && rank < other_; ++rank)
                append(given_, values(group_, root_, rank));
            if (!has_root()) wanted_ = values(!group_, root_, comm_.rank);
        }
        result_ = Pairs(wanted_.size());
        Buffer own = has_root() ? Buffer{} : gathers ? sent(count_) : received(count_);
        Buffer all = !is_root() ? Buffer{} : gathers ? received(count_) : sent(count_);
        if (gathers) plan_gather(executor(), team, collective_->plan, own, all, root());
        else plan_scatter(executor(), team, collective_->plan, all, own, root());
    }
    // Plans a reduce_scatter or a reduce_scatter_block. The total length is the same in both
    // groups.
    void plan_parts(Team &team) {
        int64_t each = count_ % 5 * other_, total = each * own_;
        for (int64_t i = 0; i < total; ++i) given_.push_back(value(group_, comm_.rank, 0, i));
        wanted_ = combined(comm_.rank * each, (comm_.rank + 1) * each);
        result_ = Pairs(wanted_.size());
        counts_.assign(static_cast<size_t>(own_), static_cast<int>(each));
        if (count_ % 2) plan_reduce_scatter_block(executor(), team, collective_->plan, reduction(each));
        else plan_reduce_scatter(executor(), team, collective_->plan, reduction(0), {counts_.data(), 4});
    }
    void plan_for_all(Team &team) {
        bool one = kind_ == Kind::allgather;
        for (int rank = 0; rank < other_; ++rank) {
            append(wanted_, values(!group_, rank, one ? 0 : comm_.rank));
            if (!one || rank == 0) append(given_, values(group_, comm_.rank, one ? 0 : rank));
            counts_.push_back(static_cast<int>(count_));
            places_.push_back(static_cast<int>(rank * count_));
        }
        result_ = Pairs(wanted_.size());
        Uneven from{sent(0).base, {counts_.data(), 4}, {places_.data(), 4}, &type_}, to = from;
        to.base = received(0).base;
        if (one) plan_allgather(executor(), team, collective_->plan, sent(count_), received(count_));
        else if (kind_ == Kind::alltoall)
            plan_alltoall(executor(), team, collective_->plan, sent(count_), received(count_));
        else plan_alltoallv(executor(), team, collective_->plan, from, to);
    }

    Comm &comm_;
    Kind kind_;
    uint64_t salt_;
    int64_t count_;
    bool second_has_root_, group_;
    int root_, own_, other_;
    const Datatype &type_ = lanyard::testing::plain_pair();
    const Op &op_ = lanyard::testing::compose_op();
    Collective *collective_;
    Pairs given_, result_, wanted_;
    std::vector<int> counts_, places_;
};

}  // namespace

void run_inter_collectives(Rank &rank, Comm &comm, uint64_t seed, int rounds) {
    Random random(seed);  // in the same state on all ranks of both groups
    for (int round = 0; round < rounds; ++round) {
        EngineGuard guard(rank.engine);
        std::deque<InterOperation> operations;
        size_t count = 1 + random.below(3);
        for (size_t i = 0; i < count; ++i) operations.emplace_back(comm, random);
        for (size_t i = 0; i < count; ++i) operations[(i + rank.own) % count].finish();
    }
}

}  // namespace lanyard::sim
