// Keeps, for each kind of collective, the schedules of a communicator's latest calls. Programs call
// collectives in loops, and a call with the same arguments need not write its schedule again. Calls whose
// root takes turns are common too, so each kind has places for a few roots. A schedule holds no addresses
// (block.h), so the buffers may differ, and several operations may use one schedule at the same time.
//
// A key compares everything on which a schedule depends, apart from its team and its kind: root,
// counts, displacements, datatypes, operation, MPI_IN_PLACE. A key compares datatypes and operations by their
// addresses. If the program frees an object that it has created, another object may get the same address. So
// plans of calls with such objects are not kept.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/plan_test.cc, tests/mpi/coll/again.cc.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "coll/agreement.h"
#include "coll/schedule.h"
#include "coll/shm/short_use.h"

namespace lanyard {

// The arguments of a call, in order. Two calls of one kind with equal keys have the same schedule.
class PlanKey {
public:
    PlanKey() = default;
    PlanKey(const PlanKey &other) { *this = other; }
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): copying a key onto itself changes nothing
    PlanKey &operator=(const PlanKey &other) {
        length_ = other.length_;
        objects_ = other.objects_;
        std::copy_n(other.values_, std::min(length_, most), values_);
        return *this;
    }
    PlanKey &add(int64_t value) {
        if (length_ < most) values_[length_] = value;
        ++length_;
        return *this;
    }
    PlanKey &add(const Object *object) {
        if (length_ < most) objects_ |= uint64_t{1} << length_;
        return add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(object)));
    }
    PlanKey &add(const Buffer &buffer) { return add(buffer.count).add(buffer.datatype); }
    PlanKey &add(const Numbers &numbers, int count) {
        if (count > most - length_) return length_ = most + 1, *this;
        int64_t *to = values_ + length_;
        if (numbers.width == 4) std::copy_n(static_cast<const int32_t *>(numbers.data), count, to);
        else std::copy_n(static_cast<const int64_t *>(numbers.data), count, to);
        length_ += count;
        return *this;
    }

    // May a plan with this key be kept? Not if the key is too long, or contains the address of an object that
    // the program has created.
    bool comparable() const {
        if (length_ > most) return false;
        for (int i = 0; i < length_; ++i) {
            auto *object = reinterpret_cast<const Object *>(static_cast<uintptr_t>(values_[i]));
            if ((objects_ >> i & 1) && object && !object->predefined()) return false;
        }
        return true;
    }
    // `other` must belong to a kept plan.
    bool operator==(const PlanKey &other) const {
        if (length_ != other.length_ || length_ > most) return false;
        return std::memcmp(values_, other.values_, static_cast<size_t>(length_) * sizeof *values_) == 0;
    }

private:
    static constexpr int most = 40;
    int length_ = 0;        // the number of values; more than `most`: the key is too long to be kept
    uint64_t objects_ = 0;  // bit i is set if value i is the address of an object
    int64_t values_[most];
};

struct KeptPlan {
    // Longer schedules are not kept, because they would hold too much memory.
    static constexpr size_t most_steps = 128;

    PlanKey key;
    bool valid = false;
    int users = 0;  // operations that use this plan now; not 0: the plan is not overwritten
    Schedule schedule;
    // The schedule has no steps, since this rank has nothing to move and waits for nobody.
    bool empty = false;
    ShortUse short_use;
    const char *name = "";
    uint32_t word = 0;
};

class KeptPlans {
public:
    static constexpr unsigned roots = 8;

    // The place for a plan of this kind with this root (0 if there is no root). It may contain a plan with
    // other arguments, or none.
    std::unique_ptr<KeptPlan> &of(CollectiveKind kind, int root) {
        return plans_[static_cast<size_t>(kind)][static_cast<unsigned>(root) % roots];
    }
    // To be called when the choice of algorithms changes, so that no kept plan is used any more.
    void forget() {
        for (auto &of_kind : plans_)
            for (auto &plan : of_kind)
                if (plan) plan->valid = false;
    }

private:
    std::unique_ptr<KeptPlan> plans_[static_cast<size_t>(CollectiveKind::count_of_them)][roots];
};

}  // namespace lanyard
