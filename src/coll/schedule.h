// A Schedule contains the steps of one rank in one collective operation, and the order between the steps. An
// algorithm (algorithms.h) is a pure function that writes a schedule. The executor (executor.h) runs the
// schedule, for blocking, nonblocking and persistent operations alike. A schedule holds no addresses
// (block.h).
//
// Rules for algorithms
// - A step may start when all steps given as its `after` are done. Apart from that, steps run in any order. A
//   send reads its block, and a receive writes its block, at any time between the start and the completion of
//   the step.
// - Two messages from one rank to another have different labels, for example the number of the round, unless
//   the schedules put both the sends and the receives in the same order.
// - A message carries its label modulo max_labels. If a label is max_labels or more, its send or receive
//   starts only when the latest one with the same peer and the same label modulo max_labels is done. So both
//   ranks add these steps in the same order, and a message depends on no message that they add later.
// - Every rank makes the same decisions from the same arguments. The sender and the receiver both leave out a
//   message of 0 bytes.
//
// An algorithm adds steps and scratch memory. The executor then reads the schedule and does not change it, so
// that the schedule can be run again. No function here returns an error. A datatype or operation that the
// schedule names belongs to the caller and must live as long as the schedule is used.
// Thread rule: one thread at a time; in the library, the owner of the engine.
// Tested by: tests/unit/coll/step_queue_test.cc, tests/unit/coll/neighbors_test.cc.
// Tested by: tests/unit/coll/moves_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "coll/block.h"
#include "datatype/op.h"

namespace lanyard {

using StepId = int32_t;
constexpr StepId no_step = -1;
constexpr int label_bits = 11, max_labels = 1 << label_bits;

// An Exchange describes one use of the node area (shm/exchange_run.h) by one rank. The rank may post one
// block for all ranks, or a block for each rank, that is, put it where they can read it. The rank may also
// take (copy or combine) what other ranks have posted.
struct Exchange {
    // Lower, higher: the ranks below or above this rank.
    enum class Among : uint8_t { none, root, lower, higher, everyone };
    enum class Take : uint8_t { nothing, copy, reduce };

    StepId step = no_step;
    int root = 0;
    bool posts = false;  // this rank posts `data` for all ranks, or a block for each rank (posted_each)
    // true: if other ranks read this rank's memory, the exchange ends only when they have read it. false: no
    // rank reads it, or the end of a later exchange in the schedule implies that they have read it.
    bool awaits_readers = true;
    Among wants = Among::none;  // the ranks for whose posts this rank waits; not `higher`
    Among wakes = Among::none;  // the ranks that may wait for this rank's post; not `lower`
    Take take = Take::nothing;
    Block own_from = {}, own_to = {};  // a copy within this rank, of a block that it keeps for itself
    Block data = {};
    int32_t posted_each = -1;  // the blocks for the ranks are listed from this number on; -1: only `data`
    // The part of `data` that each rank takes, as blocks listed from this number on; -1: ranks take all of
    // `data`, or `data` surely fits in a slot.
    int32_t read_each = -1;
    int64_t unit = 1;       // data is taken in pieces of a multiple of this number of bytes
    bool combined = false;  // ranks combine what is posted, instead of only copying it
    // Scratch memory for packing posted data, if the data is not contiguous and does not fit in a slot.
    Block packed = {};
    // Take::copy from the root copies into `into`. If `parts` > 1, the root has posted this number of equal
    // parts, and the rank takes the part that begins at byte `skip`. Take::copy from every rank copies into
    // the blocks listed from copied_each on, by rank. Nothing is taken from a rank whose block has no
    // datatype. Take::reduce combines what the ranks up to `last` have posted, in rank order, into `into`.
    // Each of these ranks has posted as many bytes as `data` has. Only as many of them as `into` has are
    // combined, from byte `skip` on. If `aside` is set, `into` overlaps what this rank posts. The result is
    // then kept in `aside` as long as other ranks may read `into`.
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
    copy,      // from -> to, which have the same number of bytes but perhaps different datatypes
    reduce,    // to = from op to; may call a function of the program
    join,      // no work; done when all its predecessors are done
    exchange,  // a use of the node area
};

struct Step {
    StepKind kind;
    uint16_t label = 0;       // modulo max_labels
    int32_t peer = 0;         // the other rank's index in the team
    int32_t number = 0;       // counts sends and receives together, and exchanges separately
    int32_t before = 0;       // the number of steps that must be done before this one
    int32_t first_edge = -1;  // head of the list of edges to the steps that wait for this one
    Block from = {}, to = {};
};

struct Edge {
    StepId to;
    int32_t next;
};

// An After lists the steps that must be done before a new step; no_step is ignored. Only for use as an
// argument, because a long list is not copied but referred to.
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
    // Empties the schedule, but keeps its memory for the next one.
    void clear();

    // Each of the next functions adds a step and returns the step's number (exchange() returns the exchange).
    // `after`: earlier steps of this schedule. If a block has no bytes, the function does what join() does.
    // join() adds no step if there is at most one step to join, and returns this step or no_step. `peer` is
    // counted as number_from() and enter() say. `label` is at least 0. Both blocks of a copy have the same
    // number of bytes, and both blocks of a reduction the same number of elements. `op` must be set before a
    // schedule with reductions is started.
    StepId send(int peer, const Block &from, After after, int label = 0);
    StepId receive(int peer, const Block &to, After after, int label = 0);
    // signal() and await_signal() send and receive a message without data, which send() and receive() would
    // leave out.
    StepId signal(int peer, After after, int label = 0);
    StepId await_signal(int peer, After after, int label = 0);
    StepId copy(const Block &from, const Block &to, After after);
    StepId reduce(const Block &from, const Block &to, After after);
    StepId join(After after);
    // Adds a step for an exchange. The returned reference is valid until the next exchange is added, and the
    // caller must fill in the exchange before that.
    Exchange &exchange(After after);
    bool is_one_exchange() const { return steps_.size() == 1 && exchanges_.size() == 1; }
    // Adds a list of one block for each rank of the team, for an exchange, and returns the number of the
    // first block. The blocks are empty at first and may be changed until the schedule is complete.
    // References to them are valid until the next list is added.
    int32_t list_blocks(int size);
    Block &listed(int32_t first, int rank) { return blocks_[static_cast<size_t>(first + rank)]; }
    const Block &listed(int32_t first, int rank) const { return blocks_[static_cast<size_t>(first + rank)]; }

    // From now on, `peer` is counted from member `first` of the team. Used for an algorithm that runs among
    // consecutive members of the team.
    void number_from(int first) { first_member_ = first; }
    // Begins a new phase: steps that are added from now on start when all steps added before are done.
    void next_phase();
    // Begins an inner phase, which may lie within a phase of next_phase(). Until leave(), peers are indices
    // in `members`, and every step starts after the step `gate`. Algorithms can thus run on parts of a team,
    // one after the other. Inner phases do not nest. `members` must live until leave().
    enum class Over : uint8_t { data, everything };
    void enter(const int32_t *members, StepId gate);
    // Ends the inner phase, and returns a step that is done when all steps of the phase are done. With
    // Over::data the phase's sends may still be under way then, so blocks that they read must not be written
    // yet.
    StepId leave(Over over = Over::everything);

    // Reserves memory that belongs to the schedule, aligned for any datatype. The memory exists while the
    // schedule runs, and its contents are undefined at first.
    Block scratch_bytes(int64_t bytes);
    // The same for `count` elements of `type`, which lie in the block as in a buffer of the program.
    Block scratch(int64_t count, const Datatype &type);

    const Op *op = nullptr;  // used by the reduce steps and exchanges

    // For the executor.
    const std::vector<Step> &steps() const { return steps_; }
    const std::vector<Edge> &edges() const { return edges_; }
    const std::vector<Exchange> &exchanges() const { return exchanges_; }
    int32_t transfers() const { return transfers_; }
    int64_t scratch_size() const { return scratch_size_; }

private:
    StepId add(const Step &step, After after);
    StepId transfer(StepKind kind, int peer, const Block &block, After after, int label);
    void order(StepId first, StepId then);
    void order_by_label(StepId id, bool waits);
    int32_t named(int peer) const { return first_member_ + (phase_members_ ? phase_members_[peer] : peer); }

    std::vector<Step> steps_;
    std::vector<Edge> edges_;
    std::vector<Exchange> exchanges_;
    std::vector<Block> blocks_;  // listed for exchanges
    int32_t transfers_ = 0;
    int64_t scratch_size_ = 0;
    int first_member_ = 0;
    size_t phase_begin_ = 0;         // the first step of the current phase
    StepId before_phase_ = no_step;  // the step that ends the previous phase
    const int32_t *phase_members_ = nullptr;
    StepId phase_gate_ = no_step, phase_first_ = 0;
    // By kind, peer and label: the latest send or receive. Empty as long as all labels are below max_labels.
    std::map<std::tuple<StepKind, int32_t, uint16_t>, StepId> latest_;
};

}  // namespace lanyard
