// See streams.h.
#include "coll/shm/streams.h"

#include <algorithm>

#include "base/clock.h"
#include "base/copy.h"
#include "coll/shm/copy_choice.h"
#include "datatype/cursor.h"

namespace lanyard {

using Among = Exchange::Among;

namespace {

constexpr uint64_t wait_for_entries_ns = 1'000'000;
// The most entries that the streams of one exchange use together, so that the next exchange also finds free
// entries. If there are more streams than this, each stream gets one entry. If ranks share processors, they
// also share caches, so the limit is lower.
constexpr int usual_entries = StageMemory::entries / 2,
              usual_entries_oversubscribed = StageMemory::entries / 4;

int64_t piece_of(const Exchange &exchange) {
    return StageMemory::piece_bytes / exchange.unit * exchange.unit;
}

bool is_shared(const Exchange &exchange) { return exchange.posted_each < 0 && exchange.read_each < 0; }

Stage::Readers readers_of(const ExchangeTask &task, int rank) {
    const Team &team = task.team;
    if (!is_shared(task.exchange)) return {rank, rank + 1, team.index};
    switch (task.exchange.wakes) {
        case Among::root: return {task.exchange.root, task.exchange.root + 1, team.index};
        case Among::higher: return {team.index + 1, team.size, team.index};
        case Among::everyone: return {0, team.size, team.index};
        default: return {0, 0, team.index};
    }
}

// The block that travels in the stream for this rank, or in the stream that all readers share; nullptr: there
// is no stream for this rank.
const Block *stream_to(const ExchangeTask &task, int rank) {
    const Exchange &exchange = task.exchange;
    if (is_shared(exchange)) return &exchange.data;
    const Block &block =
        task.schedule.listed(exchange.posted_each >= 0 ? exchange.posted_each : exchange.read_each, rank);
    return rank == task.team.index || block.empty() ? nullptr : &block;
}

int most_streams(const ExchangeTask &task) { return is_shared(task.exchange) ? 1 : task.team.size; }

// visit(rank, block, number of the stream)
template <class Visit>
void each_stream(const ExchangeTask &task, Visit visit) {
    for (int rank = 0, stream = 0; rank < most_streams(task); ++rank)
        if (const Block *block = stream_to(task, rank)) visit(rank, *block, stream++);
}

}  // namespace

void Streams::plan(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    wanted_ = false;
    if (!task.stage || !task.reach || exchange.wakes == Among::none) return;
    if (task.team.size > StageMemory::most_readers || exchange.unit > StageMemory::piece_bytes) return;
    int count = 0;
    int64_t longest = 0;
    each_stream(task, [&](int, const Block &block, int) {
        ++count;
        longest = std::max(longest, block.bytes());
    });
    if (count == 0 || count > StageMemory::entries || longest > StagedPlace::most_bytes) return;
    if (!goes_by_stage(task, longest, count) || !task.stage->open(*task.reach)) return;
    wanted_ = true;
    stage_ = task.stage;
    count_ = count;
    piece_ = piece_of(exchange);
    longest_ = longest;
}

bool Streams::allot(const ExchangeTask &task) {
    int64_t pieces = (longest_ + piece_ - 1) / piece_;
    int usual = is_oversubscribed(task.team) ? usual_entries_oversubscribed : usual_entries;
    entries_ = static_cast<int>(std::min<int64_t>(pieces, std::max(usual / count_, 1)));
    if (!stage_->allot(entries_ * count_, first_)) {
        uint64_t now_ns = clock_ns();
        if (give_up_ns_ == 0) give_up_ns_ = now_ns + wait_for_entries_ns;
        wanted_ = now_ns < give_up_ns_;
        return !wanted_;
    }
    left_ = stage_->new_stamps(static_cast<uint32_t>(pieces + 1));
    open_ = true;
    position_.assign(static_cast<size_t>(most_streams(task)), 0);
    return true;
}

SlotPlace Streams::place_of(int stream, int64_t bytes) const {
    return StagedPlace{stage_->offset_in_lines(), left_ + 1, first_of(stream), entries_, 1, bytes}.told();
}

uint32_t Streams::post(const ExchangeTask &task, uint32_t generation) {
    put(task, 1);
    if (is_shared(task.exchange)) {
        std::byte *place = task.area.payload(task.team.index, generation, sizeof(SlotPlace));
        new (place) SlotPlace(place_of(0, task.exchange.data.bytes()));
        return Slot::at_address;
    }
    auto bytes_here = sizeof(SlotPlace) * static_cast<size_t>(task.team.size);
    auto *places = reinterpret_cast<SlotPlace *>(task.area.payload(task.team.index, generation, bytes_here));
    for (int rank = 0; rank < task.team.size; ++rank) new (places + rank) SlotPlace{0, SlotPlace::here};
    each_stream(task, [&](int rank, const Block &block, int stream) {
        places[rank] = place_of(stream, block.bytes());
    });
    return Slot::table(bytes_here);
}

// Puts the next piece into its entry. Does nothing if readers still use the entry.
void Streams::put_piece(const ExchangeTask &task, const Block &block, int64_t &position, int stream,
                        const Stage::Readers &readers) {
    int64_t number = position / piece_;
    int entry = (first_of(stream) + static_cast<int>(number % entries_)) % StageMemory::entries;
    if (number >= entries_ && !stage_->is_free(entry)) return;
    uint32_t stamp = left_ + 1 + static_cast<uint32_t>(number);
    int64_t bytes = std::min(piece_, block.bytes() - position);
    stage_->write(entry, stamp, left_, readers);
    Buffer from = task.buffer(block);
    if (from.contiguous())
        copy_bytes(stage_->memory().piece(entry), from.base + position, static_cast<size_t>(bytes));
    else Cursor(from, position).pack(stage_->memory().piece(entry), static_cast<size_t>(bytes));
    position += bytes;
    if (number == 0) return;  // the slot states that the first piece is there
    stage_->memory().filled(entry).store(stamp, std::memory_order_release);
    task.wake_all(readers.first, readers.end);
}

bool Streams::put(const ExchangeTask &task, int rounds) {
    bool learning = CopyMeter::is_learning(task, longest_);
    uint64_t since_ns = learning ? clock_ns() : 0;
    int64_t bytes_put = 0;
    bool open = true;
    for (bool moved = true; moved && rounds > 0 && open; --rounds) {
        int64_t before = bytes_put;
        open = false;
        each_stream(task, [&](int rank, const Block &block, int stream) {
            int64_t &position = position_[static_cast<size_t>(rank)], from = position;
            if (position < block.bytes()) put_piece(task, block, position, stream, readers_of(task, rank));
            open |= position < block.bytes();
            bytes_put += position - from;
        });
        moved = bytes_put > before;
    }
    if (learning && bytes_put > 0) {
        CopyMeter copied;
        copied.add(bytes_put, clock_ns() - since_ns);
        copied.tell(task, CopyRates::Part::put, longest_);
    }
    if (!open) close();
    return bytes_put > 0;
}

void IncomingStream::taken(int64_t number) const {
    memory_.done(place_.team.index, staged_.entry_of(number))
        .store(stamp_of(number), std::memory_order_release);
    place_.wake(owner_);
}

void IncomingStream::leave() const {
    for (int i = 0; i < staged_.entries; ++i)
        memory_.done(place_.team.index, staged_.entry_of(i))
            .store(staged_.stamp - 1, std::memory_order_release);
    place_.wake(owner_);
}

}  // namespace lanyard
