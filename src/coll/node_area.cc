#include "coll/node_area.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "datatype/cursor.h"

namespace lanyard {

namespace {

constexpr uint32_t slots_per_rank = 4;
constexpr size_t line = 64;

// Shared with other processes: fixed layout.
struct Slot {
    std::atomic<uint32_t> generation;
    std::atomic<uint32_t> done_through;  // of the rank whose slot it is, when it posted
    uint32_t bytes;
    uint32_t unused;  // the payload is aligned for every datatype
};
struct Header {
    std::atomic<uint32_t> done_through;
};
static_assert(sizeof(Slot) == 16 && std::atomic<uint32_t>::is_always_lock_free);

// Is generation a reached at b? Generations wrap.
bool reached(uint32_t a, uint32_t b) { return static_cast<int32_t>(b - a) >= 0; }

struct Area {
    std::byte *base;
    size_t slot_bytes;  // with its head; a multiple of a line
    size_t rank_bytes;

    explicit Area(Team &team) : base(team.node_area) {
        if (team.node_use.slot_bytes == 0 && team.node_area_bytes > line) {
            size_t each = (team.node_area_bytes - line) / static_cast<size_t>(team.size);
            team.node_use.slot_bytes = static_cast<uint32_t>(each < line ? 0 : (each - line) / slots_per_rank / line * line);
        }
        slot_bytes = team.node_use.slot_bytes;
        rank_bytes = line + slots_per_rank * slot_bytes;
    }
    std::atomic<uint32_t> &room_wanted() const { return *reinterpret_cast<std::atomic<uint32_t> *>(base); }
    std::byte *of(int rank) const { return base + line + static_cast<size_t>(rank) * rank_bytes; }
    Header &header(int rank) const { return *reinterpret_cast<Header *>(of(rank)); }
    Slot &slot(int rank, uint32_t generation) const {
        return *reinterpret_cast<Slot *>(of(rank) + line + generation % slots_per_rank * slot_bytes);
    }
};

// A slot holds this much where it may; with many ranks less, as every rank reads every slot.
constexpr size_t small_team = 16, payload_small_team = 4096, payload_large_team = 1024;

void ring_all(const Team &team, NodeBell *bell) {
    for (int rank = 0; bell && rank < team.size; ++rank)
        if (rank != team.index) bell->ring(team.peers[rank]);
}

}  // namespace

size_t node_area_bytes(int size) {
    if (size < 2) return 0;
    auto ranks = static_cast<size_t>(size);
    size_t payload = ranks <= small_team ? payload_small_team : payload_large_team;
    return line + ranks * (line + slots_per_rank * (payload + line));
}

int64_t node_slot_capacity(Team &team) {
    if (!team.node_area) return -1;
    Area area(team);
    return area.slot_bytes < line ? -1 : static_cast<int64_t>(area.slot_bytes - sizeof(Slot));
}

void pack_block(const Buffer &from, std::byte *to, int64_t bytes) {
    if (bytes == 0) return;
    if (from.contiguous()) {
        std::memcpy(to, from.base, static_cast<size_t>(bytes));
    } else {
        Cursor(from).pack(to, static_cast<size_t>(bytes));
    }
}

void unpack_block(const std::byte *from, const Buffer &to) {
    auto bytes = static_cast<size_t>(to.bytes());
    if (bytes == 0) return;
    if (to.contiguous()) {
        std::memcpy(to.base, from, bytes);
    } else {
        Cursor(to).unpack(from, bytes);
    }
}

void ExchangeRun::begin(Team &team) {
    generation_ = ++team.node_use.started;
    next_ = 0;
    state_ = State::posting;
    wants_room_ = false;
    misfit_ = -1;
}

// May this rank write its slot? Not while somebody may still read what was there four generations ago.
bool ExchangeRun::room(Team &team) {
    uint32_t previous = generation_ - slots_per_rank;
    if (reached(previous, team.node_use.known_done)) return true;
    Area area(team);
    for (int turn = 0; turn < 2; ++turn) {
        uint32_t least = team.node_use.done_through;
        for (int rank = 0; rank < team.size; ++rank) {
            if (rank == team.index) continue;
            uint32_t done = area.header(rank).done_through.load(std::memory_order_seq_cst);
            if (!reached(least, done)) least = done;
        }
        team.node_use.known_done = least;
        if (reached(previous, least)) {
            if (wants_room_) area.room_wanted().fetch_sub(1, std::memory_order_relaxed);
            wants_room_ = false;
            return true;
        }
        // Said first, looked at once more after that: who frees room sees the word or is seen.
        if (wants_room_) return false;
        area.room_wanted().fetch_add(1, std::memory_order_seq_cst);
        wants_room_ = true;
    }
    return false;
}

void ExchangeRun::post(const Exchange &exchange, const Buffer &data, Team &team, NodeBell *bell) {
    Slot &slot = Area(team).slot(team.index, generation_);
    if (exchange.data.type) pack_block(data, reinterpret_cast<std::byte *>(&slot + 1), data.bytes());
    slot.bytes = static_cast<uint32_t>(exchange.data.bytes());
    slot.done_through.store(team.node_use.done_through, std::memory_order_relaxed);
    slot.generation.store(generation_, std::memory_order_seq_cst);
    if (exchange.wants == Exchange::Wants::everyone || !bell) return;
    if (exchange.wakes == Exchange::Wants::everyone) ring_all(team, bell);
    if (exchange.wakes == Exchange::Wants::root) bell->ring(team.peers[exchange.root]);
}

bool ExchangeRun::all_there(const Exchange &exchange, Team &team) {
    Area area(team);
    if (exchange.wants == Exchange::Wants::nobody) return true;
    if (exchange.wants == Exchange::Wants::root)
        return area.slot(exchange.root, generation_).generation.load(std::memory_order_acquire) == generation_;
    for (; next_ < team.size; ++next_)
        if (area.slot(next_, generation_).generation.load(std::memory_order_seq_cst) != generation_) return false;

    uint32_t least = team.node_use.done_through;
    for (int rank = 0; rank < team.size; ++rank) {
        uint32_t done = area.slot(rank, generation_).done_through.load(std::memory_order_relaxed);
        if (!reached(least, done)) least = done;
    }
    if (reached(team.node_use.known_done, least)) team.node_use.known_done = least;
    return true;
}

const std::byte *ExchangeRun::payload_of(Team &team, int rank, int64_t bytes) {
    const Slot &slot = Area(team).slot(rank, generation_);
    if (slot.bytes == bytes) return reinterpret_cast<const std::byte *>(&slot + 1);
    misfit_ = rank;
    misfit_bytes_ = slot.bytes;
    expected_bytes_ = bytes;
    return nullptr;
}

Error ExchangeRun::error() const {
    if (misfit_ < 0) return {};
    return Error(ErrorClass::truncate, "rank " + std::to_string(misfit_) + " takes part with " + std::to_string(misfit_bytes_) +
                                           " bytes, this rank expects " + std::to_string(expected_bytes_) +
                                           "; count and datatype must agree on all ranks");
}

void ExchangeRun::copy_from(Team &team, int rank, const Buffer &into) {
    if (const std::byte *payload = payload_of(team, rank, into.bytes())) unpack_block(payload, into);
}

// In rank order, from the last: result = a(r) op result.
void ExchangeRun::reduce_slots(const Op &op, const Buffer &into, Team &team) {
    int64_t bytes = into.bytes();
    for (int rank = team.size - 1; rank >= 0 && bytes > 0; --rank) {
        const std::byte *payload = payload_of(team, rank, bytes);
        if (!payload) return;
        if (rank == team.size - 1) std::memcpy(into.base, payload, static_cast<size_t>(bytes));
        else reduce(op, payload, into.base, into.count, *into.datatype);
    }
}

void ExchangeRun::finish(Team &team, NodeBell *bell) {
    state_ = State::done;
    NodeUse &use = team.node_use;
    uint32_t ahead = generation_ - use.done_through - 1;
    LANYARD_MUST(ahead < 64);
    use.done_beyond |= uint64_t{1} << ahead;
    int in_order = std::countr_one(use.done_beyond);
    if (in_order == 0) return;
    use.done_through += static_cast<uint32_t>(in_order);
    use.done_beyond = in_order == 64 ? 0 : use.done_beyond >> in_order;
    Area area(team);
    area.header(team.index).done_through.store(use.done_through, std::memory_order_seq_cst);
    if (area.room_wanted().load(std::memory_order_seq_cst) > 0) ring_all(team, bell);
}

}  // namespace lanyard
