// See own_post.h.
#include "coll/shm/own_post.h"

#include "base/clock.h"
#include "coll/shm/copy_choice.h"
#include "coll/shm/packing.h"

namespace lanyard {

namespace {

constexpr int64_t aligned_16(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// The address of the block, or of a packed copy of it in the exchange's scratch memory, if the block is not
// contiguous. `packed`: the number of bytes of that memory in use.
SlotPlace address_of(const ExchangeTask &task, const Block &block, int64_t &packed) {
    Buffer data = task.buffer(block);
    int64_t bytes = block.bytes();
    if (!data.contiguous()) {
        std::byte *place = task.buffer(task.exchange.packed).base + packed;
        pack_block(data, place, bytes);
        packed += bytes;
        data.base = place;
    }
    return {reinterpret_cast<uintptr_t>(data.base), static_cast<uint64_t>(bytes)};
}

}  // namespace

bool OwnPost::has_room(const ExchangeTask &task, uint32_t generation, DoneWait &done) {
    if (bytes_here_ == not_counted) count_bytes_here(task);
    uint32_t apart = task.area.uses_apart(static_cast<size_t>(bytes_here_));
    if (!done.all_done(task, generation - (done.waits() ? apart / 2 : apart))) return false;
    return !streams_.wanted() || streams_.allot(task);
}

void OwnPost::write(const ExchangeTask &task, uint32_t generation, const CollectiveCall &call) {
    Slot &slot = task.area.slot(task.team.index, generation);
    uint32_t bytes = streams_.wanted()                ? streams_.post(task, generation)
                     : task.exchange.posted_each >= 0 ? write_for_each(task, generation)
                                                      : write_for_all(task, generation);
    slot.begin(generation, call.number, call.word, task.team.node_use.done_through, bytes);
    slot.end(generation);
}

// Decides what goes into the slot, and counts its bytes. With one block for all ranks, this is the block or
// its address. With a block for each rank, it is a table and all blocks, or the table alone. If the data goes
// through the stage, it is the place of a stream instead, or a table with the place of a stream for each
// rank.
void OwnPost::count_bytes_here(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    int64_t places = 1, total = exchange.data.bytes(), capacity = task.area.payload_bytes();
    if (exchange.posted_each >= 0) {
        places = task.team.size;
        total = places * int64_t{sizeof(SlotPlace)};
        for (int rank = 0; rank < task.team.size; ++rank)
            total += aligned_16(task.schedule.listed(exchange.posted_each, rank).bytes());
    }
    bool fits = total <= capacity;
    all_here_ = fits && !is_read_mapped(task, total);
    if (!fits) streams_.plan(task);
    if (streams_.wanted() && exchange.read_each >= 0) places = task.team.size;
    bytes_here_ = all_here_ ? total : places * int64_t{sizeof(SlotPlace)};
    LANYARD_MUST(all_here_ || (task.team.direct_reads && bytes_here_ <= capacity));
}

// Is data that would fit in the slot better read in this rank's memory? `total`: the bytes in the slot.
bool OwnPost::is_read_mapped(const ExchangeTask &task, int64_t total) {
    if (total < MappedOffers::least_bytes || !task.team.direct_reads) return false;
    if (is_oversubscribed(task.team) || (task.copies && *task.copies == "twice")) return false;
    auto lends = [&](const Block &block) {
        if (block.bytes() == 0) return true;
        Buffer data = task.buffer(block);
        return data.contiguous() && task.mapped(task.team.index, reinterpret_cast<uintptr_t>(data.base),
                                                static_cast<size_t>(data.bytes()));
    };
    const Exchange &exchange = task.exchange;
    bool all = exchange.posted_each >= 0 || lends(exchange.data);
    for (int rank = 0; all && exchange.posted_each >= 0 && rank < task.team.size; ++rank)
        all = lends(task.schedule.listed(exchange.posted_each, rank));
    if (!all) return false;
    if (exchange.wants == Exchange::Among::everyone) return true;
    MappedOffers &posts = task.team.node_use.mapped_posts;
    if (!posts.next_is_offered()) return false;
    mapped_since_ns_ = clock_ns();
    return true;
}

void OwnPost::note_readers(const ExchangeTask &task) {
    task.team.node_use.mapped_posts.ended(task.exchange.data.bytes(), clock_ns() - mapped_since_ns_);
}

uint32_t OwnPost::write_for_all(const ExchangeTask &task, uint32_t generation) {
    const Block &data = task.exchange.data;
    int64_t bytes = all_here_ ? data.bytes() : int64_t{sizeof(SlotPlace)}, packed = 0;
    std::byte *payload = task.area.payload(task.team.index, generation, static_cast<size_t>(bytes));
    if (all_here_) {
        if (data.type) pack_block(task.buffer(data), payload, bytes);
        return static_cast<uint32_t>(bytes);
    }
    new (payload) SlotPlace(address_of(task, data, packed));
    at_address_ = true;
    return Slot::at_address;
}

uint32_t OwnPost::write_for_each(const ExchangeTask &task, uint32_t generation) {
    int size = task.team.size;
    auto bytes_here = static_cast<size_t>(bytes_here_);
    std::byte *payload = task.area.payload(task.team.index, generation, bytes_here);
    auto *places = reinterpret_cast<SlotPlace *>(payload);
    int64_t offset = int64_t{sizeof(SlotPlace)} * size, packed = 0;
    for (int rank = 0; rank < size; ++rank) {
        const Block &block = task.schedule.listed(task.exchange.posted_each, rank);
        int64_t bytes = block.bytes();
        if (all_here_ || bytes == 0) {
            new (places + rank)
                SlotPlace{static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes) | SlotPlace::here};
            if (bytes > 0) pack_block(task.buffer(block), payload + offset, bytes);
            offset += all_here_ ? aligned_16(bytes) : 0;
            continue;
        }
        new (places + rank) SlotPlace(address_of(task, block, packed));
        at_address_ = true;
    }
    return Slot::table(bytes_here);
}

}  // namespace lanyard
