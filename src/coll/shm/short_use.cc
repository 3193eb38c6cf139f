#include "coll/shm/short_use.h"

#include <algorithm>

#include "coll/shm/exchange_run.h"

namespace lanyard {

using Among = Exchange::Among;
using Take = Exchange::Take;

// False where it is not a few bytes of the program's memory. No block is a place, too: of no bytes.
bool ShortUse::place(const Block &block, Place &place) const {
    place = {};
    if (!block.type) return true;
    if (!block.type->contiguous || block.bytes() > most_bytes || block.space == Space::scratch) return false;
    place = {block.offset, static_cast<uint16_t>(block.bytes()), block.space == Space::receive, true};
    return true;
}

bool ShortUse::prepare(const Schedule &schedule, const Team &team) {
    ready_ = false;
    if (!schedule.is_one_exchange()) return false;
    area_ = NodeArea(team);
    int size = team.size;
    const Exchange &exchange = schedule.exchanges()[0];
    if (exchange.posted_each >= 0 || !place(exchange.data, data_)) return false;
    if (!place(exchange.own_from, own_from_) || !place(exchange.own_to, own_to_) || own_from_.bytes != own_to_.bytes) return false;
    if (!place(exchange.into, into_) || into_.bytes * exchange.parts > most_bytes) return false;
    from_each_.assign(exchange.copied_each >= 0 ? static_cast<size_t>(size) : 0, {});
    for (int rank = 0; rank < static_cast<int>(from_each_.size()); ++rank)
        if (!place(schedule.listed(exchange.copied_each, rank), from_each_[static_cast<size_t>(rank)])) return false;
    if (exchange.take == Take::reduce) {
        const Block &into = exchange.into;
        if (schedule.op->function || !into.type->basic) return false;
        kernel_ = reduction_kernel(schedule.op->abi_value, *into.type->basic);
        count_ = into.count;
        in_place_ = exchange.data.space == into.space;
        if (!kernel_) return false;
    }
    ready_ = true;
    return true;
}

// The ordinary way's steps (advance()), without those that a few bytes do not need. It begins only where this rank is done with all uses
// before, and ends early wherever something is missing or does not fit: what has been posted stays so, and what has been taken is taken again.
bool ExchangeRun::pass(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers) {
    const Exchange &exchange = place.exchange;
    Team &team = place.team;
    NodeUse &use = team.node_use;
    const NodeArea &area = place.area;
    if (use.done_through + 1 != generation_ || area.asking().load(std::memory_order_relaxed)) return false;
    area.calls(team.index).tell(generation_, {number_, word_});
    // What nobody reads but this rank, from its own memory, need not be posted.
    bool posts = exchange.posts && (exchange.wakes != Among::none || shape.in_place_);
    if (posts) {
        if (!reached(generation_ - area.uses_apart(shape.data_.bytes), use.known_done)) return false;
        Slot &slot = area.slot(team.index, generation_);
        slot.begin(generation_, number_ & Slot::most_numbers, word_, use.done_through, shape.data_.bytes);
        ShortUse::copy(slot.short_payload, buffers.at(shape.data_), shape.data_.bytes);
        slot.generation.store(generation_, std::memory_order_release);
    }
    if (shape.own_to_.wanted) ShortUse::copy(buffers.at(shape.own_to_), buffers.at(shape.own_from_), shape.own_to_.bytes);
    compare_alone_in_time(place);
    bool taken = (exchange.wants == Among::none && exchange.take == Take::nothing) || take_short(place, shape, buffers);
    if (exchange.wakes != Among::none) tell_posted(place);
    if (posts || !exchange.posts) state_ = State::waiting;
    if (!taken || other_rank_ >= 0) return false;
    if (posted_alone_) remember_alone(place);
    if (exchange.wants == Among::everyone) learn_who_is_done(place, generation_, shape.data_.bytes);
    tell_done(place, generation_);
    state_ = State::done;
    return true;
}

// False where somebody has not posted, or not what belongs to this.
inline bool ExchangeRun::take_short(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers) const {
    const Exchange &exchange = place.exchange;
    if (exchange.take == Take::reduce) return reduce_short(place, shape, buffers);
    if (exchange.wants == Among::root) return copy_short(place, exchange.root, shape.into_, buffers);
    int last = exchange.wants == Among::everyone ? place.team.size : 0;
    static constexpr ShortUse::Place nowhere;
    for (int rank = 0; rank < last; ++rank) {
        const ShortUse::Place &to = exchange.take == Take::copy ? shape.from_each_[static_cast<size_t>(rank)] : nowhere;
        if (rank == place.team.index && !to.wanted) continue;
        if (!copy_short(place, rank, to, buffers)) return false;
    }
    return true;
}

inline bool ExchangeRun::copy_short(const ExchangePlace &place, int rank, const ShortUse::Place &to, const ShortUse::Buffers &buffers) const {
    const Slot &slot = place.area.slot(rank, generation_);
    if (!has_posted_alike(slot)) return false;
    if (!to.wanted) return true;
    if (slot.bytes() != static_cast<uint32_t>(to.bytes * place.exchange.parts)) return false;
    ShortUse::copy(buffers.at(to), slot.short_payload + place.exchange.skip, to.bytes);
    return true;
}

// In rank order, from the last: result = a(r) op result. What this rank has just posted is not read from its slot: that would wait until the
// slot is this processor's again.
inline bool ExchangeRun::reduce_short(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers) const {
    const Exchange &exchange = place.exchange;
    int last = exchange.wants == Among::everyone ? place.team.size - 1 : exchange.last;
    std::byte *into = buffers.at(shape.into_);
    for (int rank = std::max(last, exchange.wants == Among::lower ? place.team.index - 1 : last); rank >= 0; --rank) {
        const Slot &slot = place.area.slot(rank, generation_);
        const std::byte *from = slot.short_payload;
        if (rank == place.team.index) {
            if (!shape.in_place_) from = buffers.at(shape.data_);
        } else if (!has_posted_alike(slot) || slot.bytes() != shape.data_.bytes) {
            return false;
        }
        if (rank < exchange.last) shape.kernel_(from + exchange.skip, into, shape.count_);
        else if (rank == exchange.last) ShortUse::copy(into, from + exchange.skip, shape.into_.bytes);
    }
    return true;
}

}  // namespace lanyard
