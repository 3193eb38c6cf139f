#include "coll/shm/exchange_run.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/log.h"
#include "datatype/cursor.h"

namespace lanyard {

using Among = Exchange::Among;

namespace {

constexpr int64_t aligned_16(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// Of the ranks from `first` to before `last`: those who may have fallen asleep without seeing what this rank has just stored.
bool any_asleep(const Team &team, NodeReach *reach, int first, int last) {
    bool any = false;
    for (int rank = first; reach && rank < last && !any; ++rank) any = rank != team.index && reach->asleep(team.peers[rank]);
    return any;
}

void wake_all(const Team &team, NodeReach *reach, int first, int last) {
    for (int rank = first; rank < last; ++rank)
        if (rank != team.index && reach->asleep(team.peers[rank])) reach->wake(team.peers[rank]);
}

// The least of what the other ranks are done with.
uint32_t least_of_others(const NodeArea &area, const Team &team) {
    uint32_t least = team.node_use.started;
    for (int rank = 0; rank < team.size; ++rank) {
        if (rank == team.index) continue;
        uint32_t done = area.header(rank).done_through.load(std::memory_order_acquire);
        if (!reached(least, done)) least = done;
    }
    return least;
}

}  // namespace

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

void ExchangeRun::keep_disagreement(const CollectiveCall &other, int rank, uint32_t word, uint32_t number) {
    other_rank_ = rank;
    own_word_ = word;
    own_number_ = number & Slot::most_numbers;
    other_word_ = other.word;
    other_number_ = other.number;
}

void ExchangeRun::compare_alone(const ExchangePlace &place) {
    NodeUse &use = place.team.node_use;
    for (int rank = 0; rank < place.team.size; ++rank) {
        if (rank == place.team.index) continue;
        const CallLog &calls = place.area.calls(rank);
        for (const NodeUse::Alone *alone = use.alone; alone < use.alone + use.alone_count && other_rank_ < 0; ++alone) {
            if (calls.told(alone->generation) == alone->told) [[likely]] continue;
            CollectiveCall own = CallLog::call_in(alone->told), other;
            if (calls.find(alone->generation, other)) compare(other, rank, own.word, own.number);
        }
    }
    use.alone_count = 0;
}

// Is every rank done with all uses through this one? Until it says so, this rank is counted among those who wait for that.
bool ExchangeRun::look_who_is_done(const ExchangePlace &place, uint32_t generation) {
    NodeUse &use = place.team.node_use;
    for (int turn = 0; turn < 2; ++turn) {
        uint32_t least = least_of_others(place.area, place.team);
        use.known_done = reached(use.done_through, least) ? use.done_through : least;
        if (reached(generation, use.known_done)) return true;
        // Said first, looked at once more after that: who is done sees the word or is seen.
        if (counted_) return false;
        place.area.awaited().fetch_add(1, std::memory_order_seq_cst);
        counted_ = true;
    }
    return false;
}

void ExchangeRun::stop_waiting_for_others(const ExchangePlace &place) {
    place.area.awaited().fetch_sub(1, std::memory_order_relaxed);
    counted_ = false;
}

// May this rank write where it wrote some uses earlier? Who must wait does so until there is room for more than one, as others are
// disturbed by each look at how far they are.
bool ExchangeRun::room(const ExchangeTask &task) {
    if (bytes_here_ < 0) count_bytes_here(task);
    uint32_t apart = task.area.uses_apart(static_cast<size_t>(bytes_here_));
    if (!done_everywhere(task, generation_ - (counted_ ? apart / 2 : apart))) return false;
    return !streams_.wanted || allot_streams(task);
}

void ExchangeRun::post(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    const Team &team = task.team;
    const NodeArea &area = task.area;
    Slot &slot = area.slot(team.index, generation_);
    int64_t bytes = exchange.data.bytes();
    slot.begin(generation_, number_ & Slot::most_numbers, word_, team.node_use.done_through, 0);
    if (streams_.wanted) {
        post_streams(task, slot);
    } else if (exchange.posted_each >= 0) {
        post_each(task, slot);
    } else if (all_here_) {
        slot.set_bytes(static_cast<uint32_t>(bytes));
        std::byte *payload = area.payload(team.index, generation_, static_cast<size_t>(bytes));
        if (exchange.data.type) pack_block(task.buffer(exchange.data), payload, bytes);
    } else {
        Buffer data = task.buffer(exchange.data);
        if (!data.contiguous()) {
            std::byte *packed = task.buffer(exchange.packed).base;
            pack_block(data, packed, bytes);
            data.base = packed;
        }
        slot.set_bytes(Slot::at_address);
        new (slot.short_payload) SlotPlace{reinterpret_cast<uintptr_t>(data.base), static_cast<uint64_t>(bytes)};
        posted_address_ = true;
    }
    slot.generation.store(generation_, std::memory_order_release);
}

// What goes into the slot: the block, or where it is; or the bytes of all blocks behind their table, or the table alone.
void ExchangeRun::count_bytes_here(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    int64_t places = 1, total = exchange.data.bytes(), capacity = task.area.payload_bytes();
    if (exchange.posted_each >= 0) {
        places = task.team.size;
        total = places * int64_t{sizeof(SlotPlace)};
        for (int rank = 0; rank < task.team.size; ++rank) total += aligned_16(task.schedule.listed(exchange.posted_each, rank).bytes());
    }
    all_here_ = total <= capacity;
    if (!all_here_) plan_streams(task);
    if (streams_.wanted && exchange.read_each >= 0) places = task.team.size;
    bytes_here_ = all_here_ ? total : places * int64_t{sizeof(SlotPlace)};
    LANYARD_MUST(all_here_ || (task.team.direct_reads && bytes_here_ <= capacity));
}

void ExchangeRun::post_each(const ExchangeTask &task, Slot &slot) {
    const Exchange &exchange = task.exchange;
    int size = task.team.size;
    auto bytes_here = static_cast<size_t>(bytes_here_);
    std::byte *payload = task.area.payload(task.team.index, generation_, bytes_here);
    slot.set_bytes(bytes_here <= sizeof slot.short_payload ? Slot::for_each_short : Slot::for_each);
    auto *places = reinterpret_cast<SlotPlace *>(payload);
    int64_t offset = int64_t{sizeof(SlotPlace)} * size, packed = 0;
    for (int rank = 0; rank < size; ++rank) {
        const Block &block = task.schedule.listed(exchange.posted_each, rank);
        int64_t bytes = block.bytes();
        if (all_here_ || bytes == 0) {
            new (places + rank) SlotPlace{static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes) | SlotPlace::here};
            if (bytes > 0) pack_block(task.buffer(block), payload + offset, bytes);
            offset += all_here_ ? aligned_16(bytes) : 0;
            continue;
        }
        Buffer data = task.buffer(block);
        if (!data.contiguous()) {
            std::byte *place = task.buffer(exchange.packed).base + packed;
            pack_block(data, place, bytes);
            packed += bytes;
            data.base = place;
        }
        new (places + rank) SlotPlace{reinterpret_cast<uintptr_t>(data.base), static_cast<uint64_t>(bytes)};
        posted_address_ = true;
    }
}

// Those who wait for this rank's post and sleep are woken by the last of those for whom they wait.
void ExchangeRun::tell_posted(const ExchangePlace &place) {
    const Exchange &exchange = place.exchange;
    const Team &team = place.team;
    int first = exchange.wakes == Among::root ? exchange.root : exchange.wakes == Among::higher ? team.index + 1 : 0;
    int last = exchange.wakes == Among::root ? first + 1 : exchange.wakes == Among::none ? 0 : team.size;
    if (!any_asleep(team, place.reach, first, last)) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int end = 0;  // all below have posted, or need not
    while (end < team.size && (place.area.has_posted(end, generation_) || (exchange.wakes == Among::root && end == exchange.root))) ++end;
    bool awaits_only_this = exchange.wakes == Among::everyone && exchange.wants == Among::none;
    if (exchange.wakes == Among::higher) last = end;
    else if (end < team.size && !awaits_only_this && other_rank_ < 0) return;
    wake_all(team, place.reach, first, last);
}

bool ExchangeRun::all_there(const ExchangePlace &place) {
    Team &team = place.team;
    const NodeArea &area = place.area;
    const Exchange &exchange = place.exchange;
    if (exchange.wants == Among::none) return true;
    if (exchange.wants == Among::root) {
        if (!area.has_posted(exchange.root, generation_)) return false;
        compare(area.slot(exchange.root, generation_).call(), exchange.root, word_, number_);
        return true;
    }
    int end = exchange.wants == Among::lower ? team.index : team.size;
    for (; next_ < end; ++next_) {
        if (next_ == team.index) continue;  // a look at what was just stored waits until its line is this processor's again
        if (!area.has_posted(next_, generation_)) return false;
        if (!compare(area.slot(next_, generation_).call(), next_, word_, number_)) return true;  // the rest will never come
    }
    if (end == team.size) learn_who_is_done(place, generation_, place.area.payload_bytes());
    return true;
}

void ExchangeRun::read_who_is_done(const ExchangePlace &place, uint32_t generation) {
    NodeUse &use = place.team.node_use;
    const NodeArea &area = place.area;
    uint32_t least = use.done_through;
    for (int rank = 0; rank < place.team.size; ++rank) {
        if (rank == place.team.index) continue;  // it may have posted nothing
        uint32_t done = area.slot(rank, generation).done_through.load(std::memory_order_relaxed);
        if (!reached(least, done)) least = done;
    }
    if (reached(use.known_done, least)) use.known_done = least;
}

ExchangeRun::Posted ExchangeRun::posted_by(const ExchangeTask &task, int rank) const {
    const NodeArea &area = task.area;
    const Slot &slot = area.slot(rank, generation_);
    uint32_t bytes = slot.bytes();
    if (bytes <= Slot::most_bytes) [[likely]] return {area.payload(rank, generation_, bytes), 0, bytes};
    const std::byte *payload = bytes == Slot::for_each ? area.payload(rank, generation_, area.payload_bytes()) : slot.short_payload;
    if (rank == task.team.index && streams_.wanted) {
        const Block &data = task.exchange.data;
        return {nullptr, reinterpret_cast<uintptr_t>(task.buffer(data).base), data.bytes()};
    }
    const SlotPlace &place = reinterpret_cast<const SlotPlace *>(payload)[bytes == Slot::at_address ? 0 : task.team.index];
    if (place.bytes & SlotPlace::here) return {payload + place.where, 0, static_cast<int64_t>(place.bytes & ~SlotPlace::here)};
    if (place.bytes & StagedPlace::staged) return {nullptr, 0, StagedPlace::in(place).bytes, &place};
    return {nullptr, place.where, static_cast<int64_t>(place.bytes)};
}

bool ExchangeRun::fits(const Posted &posted, int rank, int64_t bytes) {
    if (posted.bytes == bytes) return true;
    misfit_ = rank;
    misfit_bytes_ = posted.bytes;
    expected_bytes_ = bytes;
    return false;
}

void ExchangeRun::read(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes) {
    NodeUse &use = task.team.node_use;
    if (rank == task.team.index) {
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), static_cast<size_t>(bytes));
        return;
    }
    if (!use.reads_refused) {
        Error refused = task.reach->read(task.team.peers[rank], address, to, static_cast<size_t>(bytes));
        if (!refused) return;
        log(LogLevel::info, "coll", "rank %d: %s; copying through shared buffers instead", rank, refused.sentence().c_str());
        refused.discard();
        use.reads_refused = true;
    }
    ask_for(task, rank, address, to, bytes);
}

// Waits for the answers, as nothing else can go on with this; and answers meanwhile, as the other may ask this rank.
void ExchangeRun::ask_for(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes) {
    RankHeader &own = task.area.header(task.team.index);
    uint32_t peer = task.team.peers[rank];
    task.area.asking().fetch_add(1, std::memory_order_seq_cst);
    for (int64_t done = 0; done < bytes;) {
        int64_t piece = std::min(bytes - done, int64_t{NodeArea::lent_bytes});
        std::atomic_thread_fence(std::memory_order_release);
        own.owner.store(rank, std::memory_order_relaxed);
        own.address.store(address + static_cast<uint64_t>(done), std::memory_order_relaxed);
        own.bytes.store(static_cast<uint64_t>(piece), std::memory_order_relaxed);
        uint32_t number = own.asked.load(std::memory_order_relaxed) + 1;
        own.asked.store(number, std::memory_order_seq_cst);
        while (own.answered.load(std::memory_order_acquire) != number) {
            if (task.reach->asleep(peer)) task.reach->wake(peer);
            answer(task.area, task.team);
            task.answer_elsewhere(task.owner);
            sched_yield();
        }
        std::memcpy(to + done, task.area.lent_piece(task.team.index), static_cast<size_t>(piece));
        done += piece;
    }
    task.area.asking().fetch_sub(1, std::memory_order_relaxed);
}

void ExchangeRun::answer_askers(const NodeArea &area, const Team &team) {
    for (int rank = 0; rank < team.size; ++rank) {
        RankHeader &header = area.header(rank);
        uint32_t number = header.asked.load(std::memory_order_acquire);
        int32_t owner = header.owner.load(std::memory_order_relaxed);
        uint64_t address = header.address.load(std::memory_order_relaxed), bytes = header.bytes.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (number == header.answered.load(std::memory_order_relaxed) || owner != team.index) continue;
        std::memcpy(area.lent_piece(rank), reinterpret_cast<const std::byte *>(address), static_cast<size_t>(bytes));
        header.answered.store(number, std::memory_order_release);
    }
}

// This rank is done with what others posted, though they may not be with what it posted.
void ExchangeRun::taken(const ExchangePlace &place) {
    Team &team = place.team;
    NodeUse &use = team.node_use;
    uint32_t ahead = generation_ - use.done_through - 1;
    LANYARD_MUST(ahead < 64);
    if (posted_alone_) remember_alone(place);
    use.done_beyond |= uint64_t{1} << ahead;
    int in_order = std::countr_one(use.done_beyond);
    if (in_order == 0) return;
    use.done_beyond = in_order == 64 ? 0 : use.done_beyond >> in_order;
    tell_done(place, use.done_through + static_cast<uint32_t>(in_order));
}

// This rank is done with all uses through this one.
void ExchangeRun::tell_done(const ExchangePlace &place, uint32_t through) {
    Team &team = place.team;
    const NodeArea &area = place.area;
    uint32_t before = team.node_use.done_through;
    team.node_use.done_through = through;
    area.header(team.index).done_through.store(through, std::memory_order_release);
    if (!place.reach) return;
    // Who waits for this is counted before it sleeps.
    if (!place.reach->sleepers_make_barriers) std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!area.awaited().load(std::memory_order_relaxed)) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Was this the last, with which all get further?
    uint32_t least = least_of_others(area, team);
    if (least != before && reached(before, least)) wake_all(team, place.reach, 0, team.size);
}

bool ExchangeRun::advance(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    Team &team = task.team;
    answer(task.area, team);
    if (used_before_) forget_earlier_use();
    if (state_ == State::posting) {
        task.area.calls(team.index).tell(generation_, {number_, word_});
        if (generation_ - team.node_use.done_through > most_at_once) return false;
        if (exchange.posts) {
            if (!room(task)) return false;
            post(task);
        }
        if (exchange.own_to.type) copy(task.buffer(exchange.own_from), task.buffer(exchange.own_to));
        compare_alone_in_time(task);
        bool there = all_there(task);
        if (exchange.posts) tell_posted(task);
        if (streams_.open) put(task, false);
        state_ = there ? State::taking : State::waiting;
    } else {
        if (streams_.open) put(task, false);
        if (state_ == State::waiting && all_there(task)) state_ = State::taking;
    }
    if (state_ == State::waiting) return false;
    if (state_ == State::taking) {
        if (!take(task)) return false;
        taken(task);
        state_ = State::leaving;
    }
    if (state_ == State::leaving) {
        bool awaits = posted_address_ && exchange.awaits_readers && other_rank_ < 0;
        if (other_rank_ >= 0) close_streams();
        if (streams_.open || (awaits && !done_everywhere(task, generation_))) return false;
        if (goes_aside(task)) pack_block(task.buffer(exchange.aside), task.buffer(exchange.into).base, exchange.into.bytes());
        state_ = State::done;
    }
    return true;
}

Error ExchangeRun::error() const {
    if (other_rank_ >= 0) {
        if (own_number_ != other_number_) return out_of_order(own_word_, own_number_, other_word_, other_number_, other_rank_);
        Error error = disagreement(own_word_, other_word_, other_rank_);
        if (misfit_ < 0 || error.code() != static_cast<int>(ErrorClass::count)) return error;
        error.discard();
    }
    if (misfit_ < 0) return {};
    return Error(ErrorClass::count, "rank " + std::to_string(misfit_) + " takes part with " + std::to_string(misfit_bytes_) +
                                           " bytes, this rank expects " + std::to_string(expected_bytes_) +
                                           "; count and datatype must agree on all ranks");
}

}  // namespace lanyard
