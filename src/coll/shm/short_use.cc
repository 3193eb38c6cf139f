// See short_use.h.
#include "coll/shm/short_use.h"

#include <algorithm>
#include <cstring>

#include "base/fetch.h"

namespace lanyard {

using Among = Exchange::Among;
using Take = Exchange::Take;

// Finds the range of a block. An empty block gives a range without bytes. False: the block is too long, not
// contiguous, or not in the program's memory.
bool ShortUse::find_range(const Block &block, BufferRange &range) const {
    range = {};
    if (!block.type) return true;
    if (!block.type->contiguous || block.bytes() > most_bytes || block.space == Space::scratch) return false;
    range = {block.offset, static_cast<uint16_t>(block.bytes()), block.space == Space::receive, true};
    return true;
}

bool ShortUse::prepare(const Schedule &schedule, const Team &team) {
    ready_ = false;
    if (!schedule.is_one_exchange()) return false;
    area_ = NodeArea(team);
    int size = team.size;
    const Exchange &exchange = schedule.exchanges()[0];
    if (exchange.posted_each >= 0 || !find_range(exchange.data, data_)) return false;
    if (!find_range(exchange.own_from, own_from_) || !find_range(exchange.own_to, own_to_) ||
        own_from_.bytes != own_to_.bytes)
        return false;
    if (!find_range(exchange.into, into_) || into_.bytes * exchange.parts > most_bytes) return false;
    from_each_.assign(exchange.copied_each >= 0 ? static_cast<size_t>(size) : 0, {});
    for (int rank = 0; rank < static_cast<int>(from_each_.size()); ++rank)
        if (!find_range(schedule.listed(exchange.copied_each, rank), from_each_[static_cast<size_t>(rank)]))
            return false;
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

// Posts data that takes more than one cache line, the line that other ranks poll last (Slot::in_first_line).
// Then fetches the lines of the next such post, assuming that as many uses lie between the two as between
// this one and the one before. Lines that are used again then are left to the readers of this post.
void ShortUse::post_lines(const AreaTeam &place, uint32_t generation, const CollectiveCall &call,
                          const Buffers &buffers) const {
    Slot &slot = place.area.slot(place.team.index, generation);
    const std::byte *from = buffers.at(data_);
    std::byte *payload = place.area.payload(place.team.index, generation, data_.bytes);
    size_t polled = payload == slot.short_payload ? Slot::in_first_line : 0, rest = data_.bytes - polled;
    std::memcpy(payload + polled, from + polled, rest);
    demote(payload + polled, rest);
    slot.begin(generation, call.number, call.word, place.team.node_use.done_through, data_.bytes);
    std::memcpy(payload, from, polled);
    slot.end(generation);
    uint32_t &before = place.team.node_use.longer_post, next = 2 * generation - before;
    before = generation;
    std::byte *coming = place.area.payload(place.team.index, next, data_.bytes);
    if (coming == payload) return;
    for (size_t done = 0; done < rest; done += cache_line_bytes) fetch_to_write(coming + polled + done);
}

}  // namespace lanyard
