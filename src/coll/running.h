// Helps the reduction algorithms. Running is a result to which contributions are added in rank order. Folding
// maps the ranks of a team to a number of ranks that is a power of two.
// Thread rule: one thread at a time, the one that writes the schedule.
// Tested by: tests/unit/coll/reductions_test.cc, tests/unit/coll/inter_test.cc.
#pragma once

#include <algorithm>
#include <utility>

#include "coll/algorithms.h"

namespace lanyard {

// A result to which contributions of lower and higher ranks are added one after the other. It uses two blocks
// of the same shape: the value so far, and a spare block into which the next contribution is received.
class Running {
public:
    // `value` holds this rank's contribution once the step `ready` is done, and may be overwritten.
    Running(Schedule &schedule, const Op &op, const Block &value, StepId ready)
        : schedule_(schedule), op_(op), value_(value), ready_(ready) {}
    // Makes a running result whose first `value` must not be overwritten. It may take contributions from
    // higher ranks only. The first contribution is received into `spare`, if that is not empty.
    static Running reading(Schedule &schedule, const Op &op, const Block &value, const Block &spare) {
        Running running(schedule, op, value, no_step);
        running.spare_ = spare;
        running.read_only_ = true;
        return running;
    }

    const Block &value() const { return value_; }
    StepId ready() const { return ready_; }

    // Receives the contribution of `peer` and combines it with the value. `sent`: a step that still reads the
    // value, or no_step.
    void take(int peer, bool peer_is_lower, StepId sent, int label) {
        take_part(peer, peer_is_lower, 0, value_.count, sent, label);
    }
    // The same for the elements [first, last) only. The operation must commute unless these are all elements.
    void take_part(int peer, bool peer_is_lower, int64_t first, int64_t last, StepId sent, int label) {
        if (!spare_.type) spare_ = schedule_.scratch(value_.count, *value_.type);
        Block landing = spare_.part(first, last - first), kept = value_.part(first, last - first);
        StepId got = schedule_.receive(peer, landing, spare_free_, label);
        if (!read_only_ && (peer_is_lower || op_.commutative)) {
            ready_ = spare_free_ = schedule_.reduce(landing, kept, {got, ready_, sent});
            return;
        }
        ready_ = schedule_.reduce(kept, landing, {got, ready_});
        std::swap(value_, spare_);
        spare_free_ = schedule_.join({ready_, sent});
        if (read_only_) spare_ = {};
        read_only_ = false;
    }
    void move_to(const Block &result) {
        if (!(value_ == result)) ready_ = schedule_.copy(value_, result, {ready_, spare_free_});
    }

private:
    Schedule &schedule_;
    const Op &op_;
    Block value_, spare_;
    StepId ready_;
    StepId spare_free_ = no_step;
    bool read_only_ = false;
};

// Maps P ranks to Q of them, where Q is the largest power of two up to P. Each even rank among the first
// 2(P-Q) ranks is represented by the next higher rank, and does not take part itself. The Q ranks that take
// part are numbered from 0, in rank order.
class Folding {
public:
    Folding(int index, int size)
        : index_(index), extra_(size - power_of_two_below(size)), active_(size - extra_) {}

    int active() const { return active_; }
    bool folded() const { return index_ < 2 * extra_; }
    bool represented() const { return folded() && index_ % 2 == 0; }  // represented by rank index + 1
    bool represents() const { return folded() && index_ % 2 == 1; }   // represents rank index - 1
    int number() const { return folded() ? index_ / 2 : index_ - extra_; }
    int rank_of(int number) const { return number < extra_ ? 2 * number + 1 : number + extra_; }
    // The lowest rank that the rank with this number stands for; P for the number active().
    int first_rank_of(int number) const { return number < extra_ ? 2 * number : number + extra_; }

private:
    int index_, extra_, active_;
};

// Recursive halving among the ranks that take part in a folding. The ranks are named by their numbers in the
// folding. At the end, the rank with number i has the result of the elements from starts[i] to before
// starts[i + 1]; starts[active] is the count of all elements. In each round a rank halves its range of
// elements, sends one half to its partner, and combines the other half with the partner's. Uses one label for
// each round, from `label` on, and returns the next free label.
int reduce_by_halving(Schedule &schedule, const Folding &folding, const std::vector<int64_t> &starts,
                      Running &running, int label);

// The first element of part i, if `count` elements are cut into `parts` parts as evenly as possible.
inline int64_t part_start(int64_t count, int parts, int i) {
    return count / parts * i + std::min<int64_t>(i, count % parts);
}

}  // namespace lanyard
