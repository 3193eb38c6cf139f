// The part of exchanges (exchange_run.h) that takes what others have posted: copies it or combines it.
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "coll/combine.h"
#include "coll/shm/exchange_run.h"
#include "datatype/cursor.h"

namespace lanyard {

using Among = Exchange::Among;

// False when a part is left for the next call.
bool ExchangeRun::take(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    if (other_rank_ >= 0) return true;  // nothing of it can be used
    left_ = bytes_at_once;
    if (exchange.take == Exchange::Take::reduce) return reduce_all(task);
    if (exchange.take == Exchange::Take::nothing) return true;
    if (exchange.wants == Among::root) return copy_from(task, exchange.root, task.buffer(exchange.into), position_);
    return copy_from_all(task);
}

// Round and round, as what some have posted may come in pieces.
bool ExchangeRun::copy_from_all(const ExchangeTask &task) {
    int size = task.team.size;
    if (position_ == 0) position_from_.assign(static_cast<size_t>(size), 0);
    position_ = 1;  // begun
    for (bool moved = true, open = true; moved && left_ > 0;) {
        moved = open = false;
        for (int rank = 0; rank < size; ++rank) {
            const Block &into = task.schedule.listed(task.exchange.copied_each, rank);
            int64_t &position = position_from_[static_cast<size_t>(rank)], before = position;
            if (!into.type || position == taken_whole) continue;
            if (copy_from(task, rank, task.buffer(into), position)) position = taken_whole;
            open |= position != taken_whole;
            moved |= position != before;
        }
        if (!open) return true;
    }
    return false;
}

// False when a part is left.
bool ExchangeRun::copy_from(const ExchangeTask &task, int rank, const Buffer &into, int64_t &position) {
    Posted posted = posted_by(task, rank);
    int64_t bytes = into.bytes();
    if (!fits(posted, rank, posted.staged ? bytes : bytes * task.exchange.parts)) {
        leave_streams(task);
        return true;
    }
    if (posted.here) {
        unpack_block(posted.here + task.exchange.skip, into);
        return true;
    }
    bool own = rank == task.team.index;
    if (own && streams_.wanted) {
        copy(task.buffer(task.exchange.data), into);
        return true;
    }
    Copied &copied = posted.staged ? staged_ : directly_;
    bool learning = !own && is_learning(task, bytes);
    uint64_t since_ns = learning ? clock_ns() : 0;
    int64_t from = position;
    bool whole = posted.staged ? copy_staged(task, rank, posted, into, position) : copy_directly(task, rank, posted, into, position);
    if (learning && position > from) copied = {copied.bytes + position - from, copied.ns + clock_ns() - since_ns};
    if (learning && whole) {
        note_copied(task, posted.staged ? CopyWays::Part::taken : CopyWays::Part::direct, bytes, copied);
        copied = {};
    }
    return whole;
}

bool ExchangeRun::copy_directly(const ExchangeTask &task, int rank, const Posted &posted, const Buffer &into, int64_t &position) {
    int64_t bytes = into.bytes();
    bool straight = into.contiguous();
    while (position < bytes && left_ > 0) {
        int64_t piece = std::min(bytes - position, straight ? left_ : exchange_pieces_bytes);
        std::byte *to = straight ? into.base + position : task.pieces;
        read(task, rank, posted.address + static_cast<uint64_t>(task.exchange.skip + position), to, piece);
        if (!straight) Cursor(into, position).unpack(to, static_cast<size_t>(piece));
        position += piece;
        left_ -= piece;
        got_on_ = true;
    }
    return position == bytes;
}

// Piece by piece, so that a result stays in the cache until all have been added to it.
bool ExchangeRun::reduce_all(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    Buffer into = task.buffer(goes_aside(task) ? exchange.aside : exchange.into);
    int64_t bytes = into.bytes(), element = std::max<int64_t>(into.datatype->size, 1);
    int64_t contributed = exchange.data.bytes();
    if (contributed <= int64_t{task.area.payload_bytes()}) {
        for (int rank = 0; rank <= exchange.last; ++rank)
            if (task.area.slot(rank, generation_).bytes() != contributed && !fits(posted_by(task, rank), rank, contributed)) return true;
        reduce_slots(task, into);
        return true;
    }
    bool staged = false;
    for (int rank = 0; rank <= exchange.last; ++rank) {
        Posted posted = posted_by(task, rank);
        staged |= posted.staged != nullptr;
        if (position_ > 0 || fits(posted, rank, posted.staged && exchange.read_each >= 0 ? bytes : contributed)) continue;
        leave_streams(task);
        return true;
    }
    int64_t whole_piece = (staged ? StageMemory::piece_bytes : exchange_pieces_bytes) / element * element;
    LANYARD_MUST(whole_piece > 0);
    bool learning = is_learning(task, bytes);
    for (int64_t piece; position_ < bytes; position_ += piece) {
        piece = std::min(whole_piece, bytes - position_);
        int64_t number = position_ / whole_piece;
        if (left_ <= 0 || (staged && !pieces_there(task, number))) return false;
        uint64_t since_ns = learning ? clock_ns() : 0;
        reduce_piece(task, into.base + position_, piece, number);
        if (learning) staged_ = {staged_.bytes + piece * exchange.last, staged_.ns + clock_ns() - since_ns};
        left_ -= piece * (exchange.last + 1);
        got_on_ = true;
    }
    note_copied(task, staged ? CopyWays::Part::taken : CopyWays::Part::direct, bytes, staged_);
    return true;
}

// In rank order, from the last: result = a(r) op result.
void ExchangeRun::reduce_slots(const ExchangeTask &task, const Buffer &into) {
    const Exchange &exchange = task.exchange;
    auto contributed = static_cast<size_t>(exchange.data.bytes());
    for (int rank = exchange.last; rank >= 0 && into.count > 0; --rank) {
        const std::byte *from = task.area.payload(rank, generation_, contributed) + exchange.skip;
        if (rank < exchange.last)
            combine(*task.schedule.op, from, into.base, into.count, *into.datatype, *task.failure);
        else std::memcpy(into.base, from, static_cast<size_t>(into.bytes()));
    }
}

// The same of contributions that stay where they are.
void ExchangeRun::reduce_piece(const ExchangeTask &task, std::byte *into, int64_t bytes, int64_t staged_piece) {
    const Exchange &exchange = task.exchange;
    const Op &op = *task.schedule.op;
    const Datatype &type = *exchange.into.type;
    int own = task.team.index;
    auto reduce_one = [&](int rank, bool first) {
        Posted posted = posted_by(task, rank);
        uint64_t address = posted.address + static_cast<uint64_t>(exchange.skip + position_);
        const std::byte *from = rank == own ? reinterpret_cast<const std::byte *>(address) : task.pieces;
        if (posted.staged) piece_there(task, *posted.staged, staged_piece, from);
        else if (rank != own) read(task, rank, address, first ? into : task.pieces, bytes);
        if (!first) combine(op, from, into, bytes / type.size, type, *task.failure);
        else if (posted.staged || rank == own) std::memcpy(into, from, static_cast<size_t>(bytes));
        if (posted.staged) piece_taken(task, rank, *posted.staged, staged_piece);
    };
    // Of two that may change places the one that must be read is read to where it belongs.
    if (exchange.last == 1 && own == 1 && op.commutative) {
        reduce_one(0, true);
        reduce_one(1, false);
        return;
    }
    for (int rank = exchange.last; rank >= 0; --rank) reduce_one(rank, rank == exchange.last);
}

}  // namespace lanyard
