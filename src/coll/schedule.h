// A schedule: what one rank does in one collective operation, as a list of steps and which of them must come first.
// An algorithm (algorithms.h) is a pure function that writes one; the executor (executor.h) runs it, for blocking,
// nonblocking and persistent operations alike. It holds no addresses: see block.h.
//
// Rules for algorithms
// - A step may start when all steps named as its `after` are done, in any order with others. A send reads and a receive
//   writes its block at any time between start and done.
// - Two messages between the same two ranks have different labels (the round, say; below max_labels) unless steps order
//   both their sends and their receives.
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
constexpr int label_bits = 11, max_labels = 1 << label_bits;

// One use of the node area (exchange_run.h): this rank may post a block for all ranks, or one for each, and may take what others posted.
struct Exchange {
    enum class Among : uint8_t { none, root, lower, higher, everyone };  // lower, higher: ranks than this one
    enum class Take : uint8_t { nothing, copy, reduce };

    StepId step = no_step;
    int root = 0;
    bool posts = false;          // `data` for all, or from posted_each on blocks of the schedule, by rank
    bool awaits_readers = true;  // ends when others have read what they read from this rank's memory; false: a later one implies it
    Among wants = Among::none;  // whose posts this rank waits for: none, root, lower, everyone
    Among wakes = Among::none;  // who may wait for this rank's post: none, root, higher, everyone
    Take take = Take::nothing;
    Block own_from = {}, own_to = {};  // copied beside, where the rank keeps a block of its own
    Block data = {};
    int32_t posted_each = -1;
    int32_t read_each = -1;  // the part of `data` that each rank takes, blocks of the schedule from here on, by rank; -1: all of it
    int64_t unit = 1;        // taken in pieces of a multiple of so many bytes
    Block packed = {};  // scratch memory for what is posted and not contiguous, where it does not fit into a slot
    // copy: what the root posted goes to `into`, or of so many equal `parts` of it the one that begins at byte `skip`; or of everyone, to blocks
    // of the schedule from copied_each on, by rank; without a datatype: not taken.
    // reduce: of what the ranks up to `last` posted, all as much as `data`, the part from byte `skip` on is combined in rank order
    // into `into`; when others may still read what is there, first into `aside`.
    Block into = {};
    int parts = 1;
    int32_t copied_each = -1;
    int32_t last = -1;
    int64_t skip = 0;
    Block aside = {};
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
    // To be filled by the caller before it adds another.
    Exchange &exchange(After after);
    bool is_one_exchange() const { return steps_.size() == 1 && exchanges_.size() == 1; }
    // For an exchange: as many blocks as the team has ranks; the number of the first. They may be changed until the schedule is done.
    int32_t list_blocks(int size);
    Block &listed(int32_t first, int rank) { return blocks_[static_cast<size_t>(first + rank)]; }
    const Block &listed(int32_t first, int rank) const { return blocks_[static_cast<size_t>(first + rank)]; }

    // From here on `peer` counts from member `first` of the team: for an algorithm among some of it.
    void number_from(int first) { first_member_ = first; }
    // Ends a phase: steps added from here on start when all those added before are done.
    void next_phase();
    // A phase, which may lie within one of those above: until leave(), peers are indices in `members` and every step comes after
    // `gate`, so that algorithms serve on parts of a team and one after the other. Not nested otherwise; `members` must live until then.
    enum class Over : uint8_t { data, everything };
    void enter(const int32_t *members, StepId gate);
    // Done when all steps of the phase are; with Over::data its sends may go on, so what it read must not be written yet.
    StepId leave(Over over = Over::everything);

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
    // Reductions with the program's own function run only on a thread that is inside an MPI call.
    bool calls_program(const Step &step) const {
        bool reduces = step.kind == StepKind::reduce ||
                       (step.kind == StepKind::exchange && exchanges_[step.number].take == Exchange::Take::reduce);
        return reduces && op->function != nullptr;
    }

private:
    StepId add(const Step &step, After after);
    void order(StepId first, StepId then);
    int32_t named(int peer) const { return first_member_ + (phase_members_ ? phase_members_[peer] : peer); }

    std::vector<Step> steps_;
    std::vector<Edge> edges_;
    std::vector<Exchange> exchanges_;
    std::vector<Block> blocks_;  // of exchanges
    int32_t transfers_ = 0;
    int64_t scratch_size_ = 0;
    int first_member_ = 0;
    size_t phase_begin_ = 0;        // the first step of this phase
    StepId before_phase_ = no_step;  // ends the one before
    const int32_t *phase_members_ = nullptr;
    StepId phase_gate_ = no_step, phase_first_ = 0;
};

}  // namespace lanyard
