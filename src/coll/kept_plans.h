// Schedules that the latest collectives of a communicator have left, one of each kind: programs call the same one in loops, and who
// calls it again with the same arguments need not write its schedule again. A schedule holds no addresses (block.h), so the buffers
// may be others, and several operations may be under way with one.
// All is compared on which a schedule depends beside its team: kind, root, counts, displacements, datatypes, operation. Datatypes and
// operations that the program has made may be freed and their memory used for others, so calls with these are not remembered.
// Touched by the engine's owner only.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "coll/agreement.h"
#include "coll/schedule.h"
#include "coll/shm/short_use.h"

namespace lanyard {

// The arguments of a call, in order; two calls of a kind that give equal ones do the same.
class PlanKey {
public:
    PlanKey() = default;
    PlanKey(const PlanKey &other) { *this = other; }
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

    // Can it be remembered? Not with objects that the program has made: no remembered key has their addresses.
    bool comparable() const {
        if (length_ > most) return false;
        for (int i = 0; i < length_; ++i) {
            auto *object = reinterpret_cast<const Object *>(static_cast<uintptr_t>(values_[i]));
            if ((objects_ >> i & 1) && object && !object->predefined()) return false;
        }
        return true;
    }
    // With one that is remembered.
    bool operator==(const PlanKey &other) const {
        if (length_ != other.length_ || length_ > most) return false;
        return std::memcmp(values_, other.values_, static_cast<size_t>(length_) * sizeof *values_) == 0;
    }

private:
    static constexpr int most = 40;
    int length_ = 0;         // more than `most`: too many to be kept
    uint64_t objects_ = 0;   // which of the values are addresses of objects
    int64_t values_[most];
};

struct KeptPlan {
    static constexpr size_t most_steps = 128;  // longer ones are worth writing again, for the memory they would hold

    PlanKey key;
    bool valid = false;
    int users = 0;  // operations under way: while there are any it is not written anew
    Schedule schedule;
    ShortUse short_use;
    const char *name = "";
    uint32_t word = 0;
};

class KeptPlans {
public:
    std::unique_ptr<KeptPlan> &of(CollectiveKind kind) { return plans_[static_cast<size_t>(kind)]; }
    // For when choices change.
    void forget() {
        for (auto &plan : plans_)
            if (plan) plan->valid = false;
    }

private:
    std::unique_ptr<KeptPlan> plans_[static_cast<size_t>(CollectiveKind::count_of_them)];
};

}  // namespace lanyard
