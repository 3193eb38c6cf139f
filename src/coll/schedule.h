// A schedule: what one rank does in one collective operation, as a list of steps and which of them must come first.
// An algorithm (algorithms.h) is a pure function that writes one; the executor (executor.h) runs it, for blocking,
// nonblocking and persistent operations alike. It holds no addresses: see block.h.
//
// Rules for algorithms
// - A step may start when all steps named as its `after` are done, in any order with others. A send reads and a receive
//   writes its block at any time between start and done.
// - Two messages between the same two ranks have different labels (the round, say) unless steps order both their sends
//   and their receives.
// - Every rank takes the same decisions from the same arguments; a message of 0 bytes is left out by both sides.
// Memory is kept when a schedule is cleared and written anew. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "coll/block.h"
#include "datatype/op.h"

namespace lanyard {

using StepId = int32_t;
constexpr StepId no_step = -1;

// One use of the node area: this rank may put data into its slot, and may wait for the slots of others (node_area.h).
struct Exchange {
    enum class Wants : uint8_t { nobody, root, everyone };
    enum class Take : uint8_t { nothing, copy, reduce };

    bool posts = false;         // writes `data`, which may be empty, to its own slot
    Wants wants = Wants::nobody;
    Take take = Take::nothing;
    int root = 0;
    Block data = {};            // posted, packed
    // copy: the slot of rank r goes to `into`, moved by r * stride bytes (that of the root: not moved).
    // reduce: all slots are combined in rank order into `into`.
    Block into = {};
    int64_t stride = 0;
    bool takes_own = true;      // false: this rank's own block is already there
    Wants wakes = Wants::nobody;  // who may be waiting for this rank's post
};

enum class StepKind : uint8_t {
    send,      // from -> peer
    receive,   // peer -> to
    copy,      // from -> to: as many bytes, whatever the datatypes
    reduce,    // to = from op to; calls the program's function if the operation has one
    join,      // nothing: done when those before it are
    exchange,  // node area; `number` says which of the schedule's exchanges
};

struct Step {
    StepKind kind;
    uint16_t label = 0;
    int32_t peer = 0;    // index in the team
    int32_t number = 0;  // of this send or receive among the schedule's transfers; of an exchange among its exchanges
    int32_t before = 0;  // how many steps must be done first
    int32_t first_edge = -1;  // to those that wait for this one
    Block from = {}, to = {};
};

struct Edge {
    StepId to;
    int32_t next;
};

// The steps that must be done first; no_step counts for nothing. Used as an argument only: a long list is not copied.
class After {
public:
    After() = default;
    After(StepId id) : few_{id}, count_(1) {}
    After(std::initializer_list<StepId> list) : count_(list.size()) {
        LANYARD_MUST(list.size() <= std::size(few_));
        std::copy(list.begin(), list.end(), few_);
    }
    After(const std::vector<StepId> &list) : many_(list.data()), count_(list.size()) {}

    const StepId *begin() const { return many_ ? many_ : few_; }
    const StepId *end() const { return begin() + count_; }

private:
    StepId few_[4];
    const StepId *many_ = nullptr;
    size_t count_ = 0;
};

class Schedule {
public:
    void clear();

    StepId send(int peer, const Block &from, After after, int label = 0);
    StepId receive(int peer, const Block &to, After after, int label = 0);
    // A message without data, which is sent all the same.
    StepId signal(int peer, After after, int label = 0);
    StepId await_signal(int peer, After after, int label = 0);
    StepId copy(const Block &from, const Block &to, After after);
    StepId reduce(const Block &from, const Block &to, After after);
    StepId join(After after);
    StepId exchange(const Exchange &exchange, After after);

    // Memory of the schedule's own, aligned for any datatype.
    Block scratch_bytes(int64_t bytes);
    // The same for `count` elements of `type`; the block may be used like the program's own.
    Block scratch(int64_t count, const Datatype &type);

    const Op *op = nullptr;  // of the reduce steps and exchanges

    const std::vector<Step> &steps() const { return steps_; }
    const std::vector<Edge> &edges() const { return edges_; }
    const std::vector<Exchange> &exchanges() const { return exchanges_; }
    int32_t transfers() const { return transfers_; }
    int64_t scratch_size() const { return scratch_size_; }
    // Reductions with the program's own function run only on a thread that is inside an MPI call (rule 5).
    bool calls_program(const Step &step) const {
        bool reduces = step.kind == StepKind::reduce ||
                       (step.kind == StepKind::exchange && exchanges_[step.number].take == Exchange::Take::reduce);
        return reduces && op->function != nullptr;
    }

private:
    StepId add(const Step &step, After after);

    std::vector<Step> steps_;
    std::vector<Edge> edges_;
    std::vector<Exchange> exchanges_;
    int32_t transfers_ = 0;
    int64_t scratch_size_ = 0;
};

}  // namespace lanyard
