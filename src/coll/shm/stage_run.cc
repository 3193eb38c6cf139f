// The part of exchanges (exchange_run.h) that goes by the stage.
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "coll/shm/exchange_run.h"
#include "datatype/cursor.h"

namespace lanyard {

using Among = Exchange::Among;
using Part = CopyWays::Part;

namespace {

constexpr uint64_t wait_for_entries_ns = 1'000'000;
// So many entries at most for the streams of one exchange, where that gives each one: others are for the next exchange meanwhile. Ranks that
// share a processor share its caches, too.
constexpr int usual_entries = StageMemory::entries / 2, usual_entries_crowded = StageMemory::entries / 4;
// Of ranks that share processors: an owner and its takers of more would wait for each other many times, a change of process each, and there are few
// uses of such length to learn that from.
constexpr int64_t longest_crowded = 1 << 20;

bool is_crowded(const Team &team) { return team.processors > 0 && team.size > team.processors; }

bool is_auto(const ExchangeTask &task) { return !task.copies || *task.copies == "auto"; }

int64_t piece_of(const Exchange &exchange) { return StageMemory::piece_bytes / exchange.unit * exchange.unit; }

StageMemory stage_of(const ExchangePlace &place, const StagedPlace &staged) {
    return StageMemory(place.reach->at(staged.offset * 64, StageMemory::bytes));
}

}  // namespace

// What goes to a rank in a stream of its own; for all, where it is shared.
const Block *ExchangeRun::stream_to(const ExchangeTask &task, int rank) const {
    const Exchange &exchange = task.exchange;
    if (is_shared(task)) return &exchange.data;
    const Block &block = task.schedule.listed(exchange.posted_each >= 0 ? exchange.posted_each : exchange.read_each, rank);
    return rank == task.team.index || block.empty() ? nullptr : &block;
}

Stage::Readers ExchangeRun::readers_of(const ExchangeTask &task, int rank) const {
    const Team &team = task.team;
    if (!is_shared(task)) return {rank, rank + 1, team.index};
    switch (task.exchange.wakes) {
        case Among::root: return {task.exchange.root, task.exchange.root + 1, team.index};
        case Among::higher: return {team.index + 1, team.size, team.index};
        case Among::everyone: return {0, team.size, team.index};
        default: return {0, 0, team.index};
    }
}

bool ExchangeRun::is_learning(const ExchangeTask &task, int64_t bytes) const {
    return task.stage && is_auto(task) && !task.area.ways().learned(kind_of(task), bytes);
}

void ExchangeRun::note_copied(const ExchangeTask &task, Part part, int64_t bytes, const Copied &copied) const {
    if (copied.bytes > 0 && is_learning(task, bytes)) task.area.ways().note(kind_of(task), bytes, part, copied.bytes, copied.ns);
}

// Each of `streams` is put once, and what is taken depends on who takes from whom.
bool ExchangeRun::stage_is_better(const ExchangeTask &task, int64_t longest, int streams) const {
    const Exchange &exchange = task.exchange;
    const Team &team = task.team;
    CopyWays &ways = task.area.ways();
    CopyWays::Kind kind = kind_of(task);
    if (ways.learned(kind, longest) && task.stage->is_time_to_try_anew(kind, longest)) ways.forget(kind, longest);
    bool crowded = is_crowded(team);
    int others = team.size - 1;
    if (exchange.wants != Among::none) return ways.by_stage(kind, longest, {streams, others, true});
    if (exchange.wakes == Among::root) return ways.by_stage(kind, longest, {crowded ? others : 1, others, crowded});
    return ways.by_stage(kind, longest, {streams, crowded || exchange.wakes == Among::higher ? others : 1, crowded});
}

void ExchangeRun::plan_streams(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    streams_.wanted = false;
    if (!task.stage || !task.reach || (task.copies && *task.copies == "once") || exchange.wakes == Among::none) return;
    if (task.team.size > StageMemory::most_readers || exchange.unit > StageMemory::piece_bytes) return;
    int count = 0;
    int64_t longest = 0;
    for (int rank = 0; rank < stream_count(task); ++rank) {
        const Block *block = stream_to(task, rank);
        if (!block) continue;
        ++count;
        longest = std::max(longest, block->bytes());
    }
    if (count == 0 || count > StageMemory::entries || longest > StagedPlace::most_bytes) return;
    if (is_auto(task) && ((is_crowded(task.team) && longest > longest_crowded) || !stage_is_better(task, longest, count))) return;
    if (!task.stage->open(*task.reach)) return;
    streams_.wanted = true;
    streams_.stage = task.stage;
    streams_.count = count;
    streams_.piece = piece_of(exchange);
    streams_.longest = longest;
}

// False: there is no room yet. After a while an address is posted instead.
bool ExchangeRun::allot_streams(const ExchangeTask &task) {
    int64_t pieces = (streams_.longest + streams_.piece - 1) / streams_.piece;
    int usual = is_crowded(task.team) ? usual_entries_crowded : usual_entries;
    streams_.entries = static_cast<int>(std::min<int64_t>(pieces, std::max(usual / streams_.count, 1)));
    if (!task.stage->allot(streams_.entries * streams_.count, streams_.first)) {
        uint64_t now_ns = clock_ns();
        if (streams_.give_up_ns == 0) streams_.give_up_ns = now_ns + wait_for_entries_ns;
        streams_.wanted = now_ns < streams_.give_up_ns;
        return !streams_.wanted;
    }
    streams_.left = task.stage->new_stamps(static_cast<uint32_t>(pieces + 1));
    streams_.open = true;
    streams_.position.assign(static_cast<size_t>(stream_count(task)), 0);
    return true;
}

SlotPlace ExchangeRun::place_of_stream(const ExchangeTask &task, int stream, int64_t bytes) const {
    int first = (streams_.first + stream * streams_.entries) % StageMemory::entries;
    return StagedPlace{task.stage->offset_in_lines(), streams_.left + 1, first, streams_.entries, 1, bytes}.told();
}

void ExchangeRun::post_streams(const ExchangeTask &task, Slot &slot) {
    put(task, true);
    if (is_shared(task)) {
        slot.set_bytes(Slot::at_address);
        new (slot.short_payload) SlotPlace(place_of_stream(task, 0, task.exchange.data.bytes()));
        return;
    }
    auto bytes_here = sizeof(SlotPlace) * static_cast<size_t>(task.team.size);
    auto *places = reinterpret_cast<SlotPlace *>(task.area.payload(task.team.index, generation_, bytes_here));
    slot.set_bytes(bytes_here <= sizeof slot.short_payload ? Slot::for_each_short : Slot::for_each);
    for (int rank = 0, stream = 0; rank < task.team.size; ++rank) {
        const Block *block = stream_to(task, rank);
        new (places + rank) SlotPlace(block ? place_of_stream(task, stream++, block->bytes()) : SlotPlace{0, SlotPlace::here});
    }
}

// False: its entry is still being read.
bool ExchangeRun::put_piece(const ExchangeTask &task, const Block &block, int64_t &position, int stream, const Stage::Readers &readers) {
    Stage &stage = *task.stage;
    int64_t number = position / streams_.piece;
    int first = streams_.first + stream * streams_.entries, entry = (first + static_cast<int>(number % streams_.entries)) % StageMemory::entries;
    if (number >= streams_.entries && !stage.is_free(entry)) return false;
    uint32_t stamp = streams_.left + 1 + static_cast<uint32_t>(number);
    int64_t bytes = std::min(streams_.piece, block.bytes() - position);
    stage.write(entry, stamp, streams_.left, readers);
    Buffer from = task.buffer(block);
    if (from.contiguous()) std::memcpy(stage.memory().piece(entry), from.base + position, static_cast<size_t>(bytes));
    else Cursor(from, position).pack(stage.memory().piece(entry), static_cast<size_t>(bytes));
    position += bytes;
    if (number == 0) return true;  // the slot tells
    stage.memory().filled(entry).store(stamp, std::memory_order_release);
    for (int rank = readers.first; rank < readers.end; ++rank)
        if (rank != readers.own && task.reach->asleep(task.team.peers[rank])) task.reach->wake(task.team.peers[rank]);
    return true;
}

// A round or some through all streams, as far as there is room.
void ExchangeRun::put(const ExchangeTask &task, bool first_only) {
    bool learning = is_learning(task, streams_.longest);
    uint64_t since_ns = learning ? clock_ns() : 0;
    int64_t bytes_put = 0;
    bool open = true;
    for (int round = 0; round < (first_only ? 1 : streams_.entries) && open; ++round) {
        open = false;
        int64_t before = bytes_put;
        for (int rank = 0, stream = 0; rank < stream_count(task); ++rank) {
            const Block *block = stream_to(task, rank);
            if (!block) continue;
            int64_t &position = streams_.position[static_cast<size_t>(rank)], from = position;
            if (position < block->bytes()) put_piece(task, *block, position, stream, readers_of(task, rank));
            open |= position < block->bytes();
            bytes_put += position - from;
            ++stream;
        }
        if (bytes_put == before) break;
    }
    if (bytes_put > 0) got_on_ = true;
    if (learning && bytes_put > 0) note_copied(task, Part::put, streams_.longest, {bytes_put, clock_ns() - since_ns});
    if (!open) close_streams();
}

bool ExchangeRun::piece_there(const ExchangeTask &task, const SlotPlace &place, int64_t number, const std::byte *&piece) const {
    StagedPlace staged = StagedPlace::in(place);
    StageMemory memory = stage_of(task, staged);
    int entry = staged.entry_of(number);
    piece = memory.piece(entry);
    return number < staged.filled || memory.filled(entry).load(std::memory_order_acquire) == staged.stamp + static_cast<uint32_t>(number);
}

void ExchangeRun::piece_taken(const ExchangeTask &task, int rank, const SlotPlace &place, int64_t number) const {
    StagedPlace staged = StagedPlace::in(place);
    uint32_t stamp = staged.stamp + static_cast<uint32_t>(number);
    stage_of(task, staged).done(task.team.index, staged.entry_of(number)).store(stamp, std::memory_order_release);
    uint32_t peer = task.team.peers[rank];
    if (task.reach->asleep(peer)) task.reach->wake(peer);
}

// Streams that are not what this rank expects: nobody need wait for it.
void ExchangeRun::leave_streams(const ExchangeTask &task) const {
    for (int rank = 0; rank < task.team.size; ++rank) {
        if (rank == task.team.index || !task.area.has_posted(rank, generation_)) continue;
        Posted posted = posted_by(task, rank);
        if (!posted.staged) continue;
        StagedPlace staged = StagedPlace::in(*posted.staged);
        for (int i = 0; i < staged.entries; ++i)
            stage_of(task, staged).done(task.team.index, staged.entry_of(i)).store(staged.stamp - 1, std::memory_order_release);
        if (task.reach->asleep(task.team.peers[rank])) task.reach->wake(task.team.peers[rank]);
    }
}

// False when a part is not there yet, or left for the next call.
bool ExchangeRun::copy_staged(const ExchangeTask &task, int rank, const Posted &posted, const Buffer &into, int64_t &position) {
    int64_t bytes = into.bytes();
    const std::byte *piece = nullptr;
    while (position < bytes && left_ > 0) {
        int64_t number = position / StageMemory::piece_bytes, length = std::min(StageMemory::piece_bytes, bytes - position);
        if (!piece_there(task, *posted.staged, number, piece)) return false;
        if (into.contiguous()) std::memcpy(into.base + position, piece, static_cast<size_t>(length));
        else Cursor(into, position).unpack(piece, static_cast<size_t>(length));
        piece_taken(task, rank, *posted.staged, number);
        position += length;
        left_ -= length;
        got_on_ = true;
    }
    return position == bytes;
}

// Of all contributions that are combined and come in pieces, this one.
bool ExchangeRun::pieces_there(const ExchangeTask &task, int64_t number) const {
    const std::byte *piece = nullptr;
    for (int rank = 0; rank <= task.exchange.last; ++rank) {
        if (rank == task.team.index) continue;
        Posted posted = posted_by(task, rank);
        if (posted.staged && !piece_there(task, *posted.staged, number, piece)) return false;
    }
    return true;
}

}  // namespace lanyard
