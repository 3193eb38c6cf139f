// See taking.h.
#include "coll/shm/taking.h"

#include <algorithm>

#include "base/clock.h"
#include "base/copy.h"
#include "coll/combine.h"
#include "coll/shm/packing.h"
#include "coll/shm/peer_memory.h"
#include "coll/shm/streams.h"

namespace lanyard {

using Among = Exchange::Among;

namespace {

// Combines in rank order, beginning with the last rank: result = contribution(rank) op result.
void reduce_slots(const Taking::Use &use, const Buffer &into) {
    const ExchangeTask &task = use.task;
    const Exchange &exchange = task.exchange;
    auto contributed = static_cast<size_t>(exchange.data.bytes());
    for (int rank = exchange.last; rank >= 0 && into.count > 0; --rank) {
        const std::byte *from = task.area.payload(rank, use.generation, contributed) + exchange.skip;
        if (rank < exchange.last)
            combine(*task.schedule.op, from, into.base, into.count, *into.datatype, *task.failure);
        else copy_bytes(into.base, from, static_cast<size_t>(into.bytes()));
    }
}

}  // namespace

bool Taking::take(const Use &use) {
    const Exchange &exchange = use.task.exchange;
    left_ = bytes_at_once;
    if (use.check.disagrees()) return true;  // no post can be used
    if (exchange.take == Exchange::Take::reduce) return reduce(use);
    if (exchange.take == Exchange::Take::nothing) return true;
    if (exchange.wants == Among::root)
        return copy_from(use, exchange.root, use.task.buffer(exchange.into), position_);
    return copy_from_all(use);
}

Taking::Posted Taking::posted_by(const Use &use, int rank) {
    const ExchangeTask &task = use.task;
    const Slot &slot = task.area.slot(rank, use.generation);
    uint32_t bytes = slot.bytes();
    if (bytes <= Slot::most_bytes) [[likely]]
        return {task.area.payload(rank, use.generation, bytes), 0, bytes};
    const std::byte *payload = bytes == Slot::for_each
                                   ? task.area.payload(rank, use.generation, task.area.payload_bytes())
                                   : slot.short_payload;
    if (rank == task.team.index && use.own_by_stage) {
        const Block &data = task.exchange.data;
        return {nullptr, reinterpret_cast<uintptr_t>(task.buffer(data).base), data.bytes()};
    }
    bool table = bytes != Slot::at_address;
    const SlotPlace &place = reinterpret_cast<const SlotPlace *>(payload)[table ? task.team.index : 0];
    if (place.bytes & SlotPlace::here)
        return {payload + place.where, 0, static_cast<int64_t>(place.bytes & ~SlotPlace::here), table};
    if (place.bytes & StagedPlace::staged) return {nullptr, 0, StagedPlace::in(place).bytes, table, &place};
    return {nullptr, place.where, static_cast<int64_t>(place.bytes), table};
}

// Leaves the streams of all posts, because they are not what this rank expects.
void Taking::leave_streams(const Use &use) {
    const ExchangeTask &task = use.task;
    for (int rank = 0; rank < task.team.size; ++rank) {
        if (rank == task.team.index || !task.area.has_posted(rank, use.generation)) continue;
        if (const SlotPlace *staged = posted_by(use, rank).staged)
            IncomingStream(task, rank, *staged).leave();
    }
}

void Taking::abandon(const AreaTeam &place) const { withdraw_request(place, this); }

// Has the piece with this number arrived from every rank whose contribution goes through the stage and is not
// in the current piece of the result yet? (If some are, ranks are combined from the last one down.)
bool Taking::pieces_there(const Use &use, int64_t number) const {
    for (int rank = 0; rank + combined_ <= use.task.exchange.last; ++rank) {
        if (rank == use.task.team.index) continue;
        const SlotPlace *staged = posted_by(use, rank).staged;
        if (staged && !IncomingStream(use.task, rank, *staged).piece(number)) return false;
    }
    return true;
}

// Visits all ranks repeatedly, because data that some ranks have posted may arrive in pieces.
bool Taking::copy_from_all(const Use &use) {
    const ExchangeTask &task = use.task;
    int size = task.team.size;
    if (position_ == 0) position_from_.assign(static_cast<size_t>(size), 0);
    position_ = 1;  // not 0: copying has begun
    for (bool moved = true, open = true; moved && left_ > 0;) {
        moved = open = false;
        for (int rank = 0; rank < size; ++rank) {
            const Block &into = task.schedule.listed(task.exchange.copied_each, rank);
            int64_t &position = position_from_[static_cast<size_t>(rank)], before = position;
            if (!into.type || position == taken_whole) continue;
            if (copy_from(use, rank, task.buffer(into), position)) position = taken_whole;
            open |= position != taken_whole;
            moved |= position != before;
        }
        if (!open) return true;
    }
    return false;
}

bool Taking::copy_from(const Use &use, int rank, const Buffer &into, int64_t &position) {
    const ExchangeTask &task = use.task;
    Posted posted = posted_by(use, rank);
    int64_t bytes = into.bytes();
    if (!use.check.fits(rank, posted.bytes, posted.for_this_rank ? bytes : bytes * task.exchange.parts)) {
        leave_streams(use);
        return true;
    }
    if (posted.here) {
        unpack_block(posted.here + task.exchange.skip, into, bytes);
        return true;
    }
    bool own = rank == task.team.index;
    if (own && use.own_by_stage) {
        copy(task.buffer(task.exchange.data), into);
        return true;
    }
    bool is_long = posted.bytes > int64_t{task.area.payload_bytes()};
    bool learning = !own && is_long && CopyMeter::is_learning(task, bytes);
    uint64_t since_ns = learning ? clock_ns() : 0;
    int64_t from = position;
    bool whole = posted.staged ? copy_staged(use, rank, *posted.staged, into, position)
                               : copy_directly(use, rank, posted.address, into, position);
    if (!learning) return whole;
    CopyMeter &copied = posted.staged ? staged_ : directly_;
    if (position > from) copied.add(position - from, clock_ns() - since_ns);
    if (whole) copied.tell(task, posted.staged ? CopyRates::Part::taken : CopyRates::Part::direct, bytes);
    return whole;
}

bool Taking::copy_directly(const Use &use, int rank, uint64_t address, const Buffer &into,
                           int64_t &position) {
    const ExchangeTask &task = use.task;
    int64_t bytes = into.bytes();
    bool straight = into.contiguous();
    while (position < bytes && left_ > 0) {
        int64_t most = std::min(bytes - position, straight ? left_ : exchange_pieces_bytes);
        std::byte *to = straight ? into.base + position : task.pieces;
        uint64_t from = address + static_cast<uint64_t>(task.exchange.skip + position);
        int64_t piece = read_memory(task, this, rank, from, to, most);
        if (piece == 0) return false;
        if (!straight) unpack_block(to, into, piece, position);
        position += piece;
        left_ -= piece;
    }
    return position == bytes;
}

bool Taking::copy_staged(const Use &use, int rank, const SlotPlace &staged, const Buffer &into,
                         int64_t &position) {
    IncomingStream stream(use.task, rank, staged);
    int64_t bytes = into.bytes();
    while (position < bytes && left_ > 0) {
        int64_t number = position / StageMemory::piece_bytes,
                length = std::min(StageMemory::piece_bytes, bytes - position);
        const std::byte *piece = stream.piece(number);
        if (!piece) return false;
        unpack_block(piece, into, length, position);
        stream.taken(number);
        position += length;
        left_ -= length;
    }
    return position == bytes;
}

bool Taking::reduce(const Use &use) {
    const ExchangeTask &task = use.task;
    const Exchange &exchange = task.exchange;
    Buffer into = task.buffer(use.aside ? exchange.aside : exchange.into);
    int64_t contributed = exchange.data.bytes();
    if (contributed > int64_t{task.area.payload_bytes()}) return reduce_pieces(use, into);
    for (int rank = 0; rank <= exchange.last; ++rank) {
        uint32_t bytes = task.area.slot(rank, use.generation).bytes();
        if (bytes == contributed) continue;
        if (bytes == Slot::at_address && contributed >= MappedOffers::least_bytes)
            return reduce_pieces(use, into);
        if (use.check.fits(rank, posted_by(use, rank).bytes, contributed)) continue;
        leave_streams(use);
        return true;
    }
    reduce_slots(use, into);
    return true;
}

// Combines piece by piece, so that a piece of the result stays in the cache until all contributions have been
// added.
bool Taking::reduce_pieces(const Use &use, const Buffer &into) {
    const ExchangeTask &task = use.task;
    const Exchange &exchange = task.exchange;
    int64_t bytes = into.bytes(), element = std::max<int64_t>(into.datatype->size, 1);
    bool staged = false;
    for (int rank = 0; rank <= exchange.last; ++rank) {
        Posted posted = posted_by(use, rank);
        staged |= posted.staged != nullptr;
        int64_t expected = posted.for_this_rank ? bytes : exchange.data.bytes();
        if (position_ > 0 || use.check.fits(rank, posted.bytes, expected)) continue;
        leave_streams(use);
        return true;
    }
    int64_t whole_piece = (staged ? StageMemory::piece_bytes : exchange_pieces_bytes) / element * element;
    LANYARD_MUST(whole_piece > 0);
    bool is_long = exchange.data.bytes() > int64_t{task.area.payload_bytes()};
    bool learning = is_long && CopyMeter::is_learning(task, bytes);
    for (int64_t piece; position_ < bytes; position_ += piece) {
        piece = std::min(whole_piece, bytes - position_);
        int64_t number = position_ / whole_piece;
        if (left_ <= 0 || (staged && !pieces_there(use, number))) return false;
        uint64_t since_ns = learning ? clock_ns() : 0;
        if (!reduce_piece(use, into.base + position_, piece, number)) return false;
        if (learning) staged_.add(piece * exchange.last, clock_ns() - since_ns);
        left_ -= piece * (exchange.last + 1);
    }
    if (is_long) staged_.tell(task, staged ? CopyRates::Part::taken : CopyRates::Part::direct, bytes);
    return true;
}

// Reads the whole piece of a contribution. False: requested memory has not arrived yet (peer_memory.h). What
// has arrived is kept for the next call with the same arguments.
bool Taking::read_whole(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes) {
    auto before = static_cast<int64_t>(read_so_far_.size()), got = before;
    for (int64_t more = 1; more > 0 && got < bytes; got += more)
        more = read_memory(task, this, rank, address + static_cast<uint64_t>(got), to + got, bytes - got);
    if (got < bytes) {
        read_so_far_.insert(read_so_far_.end(), to + before, to + got);
        return false;
    }
    std::copy(read_so_far_.begin(), read_so_far_.end(), to);
    read_so_far_.clear();
    return true;
}

// Like reduce_slots(), for contributions of which some are not in slots. False: requested memory has not
// arrived yet. The next call goes on with the same piece.
bool Taking::reduce_piece(const Use &use, std::byte *into, int64_t bytes, int64_t staged_piece) {
    const ExchangeTask &task = use.task;
    const Exchange &exchange = task.exchange;
    const Op &op = *task.schedule.op;
    const Datatype &type = *exchange.into.type;
    int own = task.team.index;
    auto add = [&](const std::byte *from) {
        combine(op, from, into, bytes / type.size, type, *task.failure);
    };
    auto reduce_one = [&](int rank) {
        bool first = combined_ == 0;
        Posted posted = posted_by(use, rank);
        uint64_t address = posted.address + static_cast<uint64_t>(exchange.skip + position_);
        if (posted.staged) {
            IncomingStream stream(task, rank, *posted.staged);
            const std::byte *piece = stream.piece(staged_piece);
            if (first) copy_bytes(into, piece, static_cast<size_t>(bytes));
            else add(piece);
            stream.taken(staged_piece);
        } else if (posted.here) {
            const std::byte *from = posted.here + exchange.skip + position_;
            if (first) copy_bytes(into, from, static_cast<size_t>(bytes));
            else add(from);
        } else if (first) {
            return read_whole(task, rank, address, into, bytes);
        } else if (rank == own) {
            add(reinterpret_cast<const std::byte *>(address));
        } else if (const std::byte *seen = task.mapped(rank, address, static_cast<size_t>(bytes))) {
            add(seen);
        } else {
            if (!read_whole(task, rank, address, task.pieces, bytes)) return false;
            add(task.pieces);
        }
        return true;
    };
    // The contributions of ranks 0 and 1 are combined at rank 1. If the operation commutes, rank 1 reads the
    // contribution of rank 0 straight into the result, and then adds its own.
    bool upwards = exchange.last == 1 && own == 1 && op.commutative;
    for (; combined_ <= exchange.last; ++combined_)
        if (!reduce_one(upwards ? combined_ : exchange.last - combined_)) return false;
    combined_ = 0;
    return true;
}

}  // namespace lanyard
