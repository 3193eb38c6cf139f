// A schedule: what one rank does in one collective operation, as a list of steps and the order between them.
// An algorithm (algorithms.h) is a pure function that writes one. The executor (executor.h) runs it, for
// blocking, nonblocking and persistent operations alike. A schedule holds no addresses (block.h).
//
// Rules for algorithms
// - A step may start when all steps that it names as its `after` are done. Otherwise steps run in any order.
//   A send reads its block, and a receive writes it, at any time between start and completion.
// - Two messages between the same two ranks have different labels (for example the round; below max_labels),
//   unless steps order both their sends and their receives.
// - Every rank takes the same decisions from the same arguments. Both sides leave out a message of 0 bytes.
// clear() keeps the memory for the next schedule.
// Thread rule: one thread at a time.
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

// One use of the node area (shm/exchange_run.h). This rank may post one block for all ranks, or one for each,
// and may take what others have posted.
struct Exchange {
    enum class Among : uint8_t { none, root, lower, higher, everyone };  // lower, higher: than this rank
    enum class Take : uint8_t { nothing, copy, reduce };

    StepId step = no_step;
    int root = 0;
    bool posts = false;  // `data` for all ranks, or one block for each from posted_each on
    // Ends when others have read this rank's memory; false: a later exchange implies this.
    bool awaits_readers = true;
    Among wants = Among::none;  // the ranks whose posts this rank waits for: none, root, lower, everyone
    Among wakes = Among::none;  // the ranks that may wait for this rank's post: none, root, higher, everyone
    Take take = Take::nothing;
    Block own_from = {}, own_to = {};  // an additional copy, where the rank keeps a block of its own
    Block data = {};
    int32_t posted_each = -1;
    int32_t read_each = -1;  // the parts of `data` that ranks take: listed blocks from here on; -1: all of it
    int64_t unit = 1;        // pieces that are taken have a multiple of this number of bytes
    // Scratch memory for posted data that is not contiguous and does not fit a slot.
    Block packed = {};
    // copy: takes what the root posted into `into`; with `parts` > 1, only one of this number of equal parts,
    // the one that begins at byte `skip`. From everyone: into the blocks listed from copied_each on, by rank;
    // a block without a datatype is not taken.
    // reduce: combines, in rank order and into `into`, the part from byte `skip` on of what the ranks up to
    // `last` posted. Each has posted as much as `data`. If others may still read `into`, the result first
    // goes into `aside`.
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
    join,      // no work: done when its predecessors are
    exchange,  // node area; `number` is that of the exchange in the schedule
};

struct Step {
    StepKind kind;
    uint16_t label = 0;
    int32_t peer = 0;         // index in the team
    int32_t number = 0;       // of a transfer among the schedule's transfers, of an exchange among exchanges
    int32_t before = 0;       // how many steps must be done before this one
    int32_t first_edge = -1;  // to the steps that wait for this one
    Block from = {}, to = {};
};

struct Edge {
    StepId to;
    int32_t next;
};

// The steps that must be done first; no_step is ignored. Only for use as an argument, because a long list is
// not copied.
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
    // Sends a message without data, although empty messages are otherwise left out.
    StepId signal(int peer, After after, int label = 0);
    StepId await_signal(int peer, After after, int label = 0);
    StepId copy(const Block &from, const Block &to, After after);
    StepId reduce(const Block &from, const Block &to, After after);
    StepId join(After after);
    // The caller must fill in the exchange before it adds another one.
    Exchange &exchange(After after);
    bool is_one_exchange() const { return steps_.size() == 1 && exchanges_.size() == 1; }
    // Lists one block for each rank of the team, for an exchange, and returns the number of the first. They
    // may be changed until the schedule is complete.
    int32_t list_blocks(int size);
    Block &listed(int32_t first, int rank) { return blocks_[static_cast<size_t>(first + rank)]; }
    const Block &listed(int32_t first, int rank) const { return blocks_[static_cast<size_t>(first + rank)]; }

    // From now on, `peer` counts from member `first` of the team. For an algorithm among a part of the team.
    void number_from(int first) { first_member_ = first; }
    // Ends a phase: steps added from now on start when all those added before are done.
    void next_phase();
    // Begins a phase, which may lie within one of the phases above. Until leave(), peers are indices in
    // `members`, and every step runs after `gate`. Algorithms can thus run on parts of a team, one after the
    // other. These phases do not nest. `members` must live until leave().
    enum class Over : uint8_t { data, everything };
    void enter(const int32_t *members, StepId gate);
    // Returns a step that is done when all steps of the phase are. With Over::data its sends may still be
    // under way, so what it reads must not be written yet.
    StepId leave(Over over = Over::everything);

    // Memory that belongs to the schedule, aligned for any datatype.
    Block scratch_bytes(int64_t bytes);
    // The same for `count` elements of `type`. The block may be used like a buffer of the program.
    Block scratch(int64_t count, const Datatype &type);

    const Op *op = nullptr;  // used by the reduce steps and exchanges

    const std::vector<Step> &steps() const { return steps_; }
    const std::vector<Edge> &edges() const { return edges_; }
    const std::vector<Exchange> &exchanges() const { return exchanges_; }
    int32_t transfers() const { return transfers_; }
    int64_t scratch_size() const { return scratch_size_; }
    // Reductions with a function of the program run only on a thread that is inside an MPI call.
    bool calls_program(const Step &step) const {
        bool reduces =
            step.kind == StepKind::reduce ||
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
    std::vector<Block> blocks_;  // listed for exchanges
    int32_t transfers_ = 0;
    int64_t scratch_size_ = 0;
    int first_member_ = 0;
    size_t phase_begin_ = 0;         // the first step of this phase
    StepId before_phase_ = no_step;  // ends the previous phase
    const int32_t *phase_members_ = nullptr;
    StepId phase_gate_ = no_step, phase_first_ = 0;
};

}  // namespace lanyard
