// Implements the protocol of partitioned communication.
//
//   receiver                                    sender
//     MPI_Precv_init:  opening {channel} ------>  received by MPI_Psend_init
//     MPI_Start: control receive, one at a time   MPI_Start
//              <------  announcement {offset, bytes, total} + few data        MPI_Pready
//              <------  announcement, then a message with the data            MPI_Pready of more
//
// Matching: sends and receives are matched when their requests are made, by openings. An opening is a message
// in a context that only openings use, with the program's tag, and openings of one pair do not overtake each
// other. Partitioned sends and receives therefore meet in the order in which they were made, regardless of
// when each is started. The "channel" is a context that the receiver chooses and names in its opening. All
// other messages of the pair travel in this context. A receive or probe of the program can thus meet neither
// an opening nor a message in the channel.
// Rounds: each MPI_Start begins a round. A round moves exactly `total` bytes, and announcements keep their
// order. The receiver therefore needs no round number to recognize where the next round begins. Messages that
// the sender sends before the receiver has started the round wait at the receiver as unexpected messages. An
// announcement always arrives before the message with its data, and the receiver posts the receive for the
// data when the announcement arrives.
//
// A ready partition is never held back until others are ready, because the receiver may be waiting for it.
// Neighbouring partitions travel as one message if they became ready in one call, or while a thread was
// waiting for the engine, or before the opening arrived. A thread that makes partitions ready adds them to a
// list. If the list was empty before, the thread then takes the engine and sends all partitions in the list.
// The round does not end while the list has entries, so this thread finds the request still there.
#include "p2p/partitioned.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/abi_constants.h"
#include "base/copy.h"
#include "datatype/predefined.h"

namespace lanyard {

namespace {

struct Announcement {
    int64_t offset, bytes;  // in the packed bytes of all partitions of the sender
    int64_t total;          // the bytes of the whole round
};
static_assert(sizeof(Announcement) == inline_payload);

constexpr size_t few_bytes = 4096;        // sent together with the announcement
constexpr int64_t attended_bytes = 8192;  // rounds of at least this size wake the helper
constexpr int32_t control_tag = 0, data_tag = 1;

Buffer bytes_at(const void *address, int64_t bytes) {
    static const Datatype &byte = *predefined_datatype(abi::type_byte);
    return {static_cast<std::byte *>(const_cast<void *>(address)), bytes, &byte};
}

void describe(MessageOperation &operation, MatchKey &own_key, const MatchKey &key, const Buffer &buffer,
              uint32_t peer) {
    own_key = key;
    operation.buffer = buffer;
    operation.peer = peer;
}

void describe(SendOperation &send, const MatchKey &key, const Buffer &buffer, const PartitionedEnds &ends) {
    describe(send, send, key, buffer, ends.peer);
    send.destination = ends.other_rank;
}

void describe(ReceiveOperation &receive, const MatchKey &key, const Buffer &buffer,
              const PartitionedEnds &ends) {
    describe(receive, receive, key, buffer, ends.peer);
}

// Keeps the first error of a round in `first`, and discards all later ones.
void keep(Error &first, Error &error) {
    Error taken = std::exchange(error, {});
    if (!first) first = taken;
    else taken.discard();
}

void set_under_way(Messenger &messenger, bool &now, bool wanted) {
    if (now == wanted) return;
    now = wanted;
    if (wanted) messenger.engine().begin_under_way();
    else messenger.engine().end_under_way();
}

}  // namespace

PartitionedSend::PartitionedSend(Messenger &messenger, const PartitionedEnds &ends,
                                 const Partitions &partitions)
    : messenger_(messenger),
      ends_(ends),
      partitions_(partitions),
      next_(array_or_null<std::atomic<int32_t>>(static_cast<size_t>(partitions.count))),
      waiting_(array_or_null<int32_t>(static_cast<size_t>(partitions.count))) {}

PartitionedSend *PartitionedSend::make(Messenger &messenger, const PartitionedEnds &ends,
                                       const Partitions &partitions) {
    std::unique_ptr<PartitionedSend> made(new PartitionedSend(messenger, ends, partitions));
    if (!made->next_ || !made->waiting_) return nullptr;
    if (ends.peer != no_peer) made->await_opening();
    return made.release();
}

void PartitionedSend::await_opening() {
    describe(opening_, {ends_.context, ends_.other_rank, ends_.tag},
             bytes_at(&opening_says_, sizeof opening_says_), ends_);
    opening_.completion.reset();
    opening_.completion.then = opened;
    opening_.completion.context = this;
    messenger_.receive(opening_);
}

void PartitionedSend::opened(Completion &completion) {
    auto &self = *static_cast<PartitionedSend *>(completion.context);
    if (self.ended_) {
        self.opening_.error.discard();
        delete &self;
        return;
    }
    if (self.opening_.error) {
        self.failed_ = true;
        if (self.active_) keep(*self.partitions_.error, self.opening_.error);
        self.opening_.error.discard();
        self.opening_.error = {};
        self.waiting_count_ = 0;
    } else {
        self.channel_ = self.opening_says_;
        self.send_waiting();
    }
    self.end_if_done();
}

void PartitionedSend::end(PartitionedSend *send) {
    send->ended_ = true;
    bool may_be_opened = send->ends_.peer != no_peer && !send->opening_.completion.complete();
    if (!may_be_opened) delete send;
}

void PartitionedSend::start() {
    for (int i = 0; i < partitions_.count; ++i)
        next_[static_cast<size_t>(i)].store(not_ready, std::memory_order_relaxed);
    newest_.store(nobody, std::memory_order_relaxed);
    active_ = true;
    failed_ = told_empty_ = false;
    readied_ = 0;
    // The receive for the opening failed in an earlier round. The receive is posted again and fails again, so
    // that this round reports the error too.
    if (ends_.peer != no_peer && !channel_ && opening_.completion.complete()) await_opening();
    end_if_done();
}

Error PartitionedSend::ready(int first, int last) {
    int end = first;
    for (; end <= last; ++end) {
        int32_t expected = not_ready;
        if (!next_[static_cast<size_t>(end)].compare_exchange_strong(expected, nobody,
                                                                     std::memory_order_relaxed))
            break;
    }
    if (end > first && push(first, end - 1)) {
        EngineGuard guard(messenger_.engine());
        flush();
    }
    if (end > last) return {};
    return Error(ErrorClass::arg,
                 "partition " + std::to_string(end) + " was made ready before since the request was started");
}

// Adds partitions to the list. True: the list was empty before, so the caller must call flush().
bool PartitionedSend::push(int first, int last) {
    for (int i = first; i < last; ++i) next_[static_cast<size_t>(i)].store(i + 1, std::memory_order_relaxed);
    int32_t before = newest_.load(std::memory_order_relaxed);
    do next_[static_cast<size_t>(last)].store(before, std::memory_order_relaxed);
    while (
        !newest_.compare_exchange_weak(before, first, std::memory_order_acq_rel, std::memory_order_relaxed));
    return before == nobody;
}

void PartitionedSend::flush() {
    size_t taken = waiting_count_;
    int32_t newest = newest_.exchange(nobody, std::memory_order_acq_rel);
    for (int32_t i = newest; i != nobody; i = next_[static_cast<size_t>(i)].load(std::memory_order_relaxed))
        waiting_[taken++] = i;
    if (!active_) return;  // an error has ended the round
    readied_ += static_cast<int>(taken - waiting_count_);
    if (!failed_ && ends_.peer != no_peer && partitions_.bytes() > 0) waiting_count_ = taken;
    if (channel_) send_waiting();
    end_if_done();
}

// Sends the waiting partitions. Neighbouring partitions travel as one message.
void PartitionedSend::send_waiting() {
    busy_ = true;
    std::sort(waiting_.get(), waiting_.get() + waiting_count_);
    for (size_t i = 0, next; i < waiting_count_; i = next) {
        for (next = i + 1; next < waiting_count_ && waiting_[next] == waiting_[next - 1] + 1;) ++next;
        send_run(waiting_[i], static_cast<int>(next - i));
    }
    waiting_count_ = 0;
    busy_ = false;
}

void PartitionedSend::send_run(int first, int some) {
    Buffer data = partitions_.run(first, some);
    Announcement announcement{first * partitions_.one.bytes(), data.bytes(), partitions_.bytes()};
    std::byte message[sizeof announcement + few_bytes];
    std::memcpy(message, &announcement, sizeof announcement);
    if (announcement.bytes <= static_cast<int64_t>(few_bytes)) {
        size_t packed = Cursor(data).pack(message + sizeof announcement, few_bytes);
        return send_staged(message, sizeof announcement + packed);
    }
    send_staged(message, sizeof announcement);
    auto &piece = pieces_.take(*this, piece_sent);
    describe(piece, {channel_, ends_.own_rank, data_tag}, data, ends_);
    messenger_.send(piece);
}

void PartitionedSend::send_staged(const std::byte *data, size_t bytes) {
    MatchKey key{channel_, ends_.own_rank, control_tag};
    if (messenger_.send_now(ends_.peer, key, bytes_at(data, static_cast<int64_t>(bytes)))) return;
    auto &piece = pieces_.take(*this, piece_sent);
    if (piece.staged.get_deleter().count < bytes) piece.staged = array_or_null<std::byte>(bytes);
    if (!piece.staged) end_without_memory();
    copy_bytes(piece.staged.get(), data, bytes);
    describe(piece, key, bytes_at(piece.staged.get(), static_cast<int64_t>(bytes)), ends_);
    messenger_.send(piece);
}

void PartitionedSend::piece_sent(Completion &completion) {
    auto &piece = *static_cast<Pieces<PartitionedSend, SendOperation>::One *>(completion.context);
    PartitionedSend &self = *piece.owner;
    if (piece.error) {
        self.failed_ = true;
        keep(*self.partitions_.error, piece.error);
    }
    self.pieces_.give_back(piece);
    self.end_if_done();
}

void PartitionedSend::end_if_done() {
    if (!active_ || busy_) return;
    bool all_ready = readied_ == partitions_.count;
    if (all_ready && channel_ && partitions_.bytes() == 0 && !told_empty_ && !failed_) {
        told_empty_ = busy_ = true;
        Announcement nothing{0, 0, 0};
        send_staged(reinterpret_cast<const std::byte *>(&nothing), sizeof nothing);
        busy_ = false;
    }
    bool open = channel_ || ends_.peer == no_peer;
    bool none_enters = newest_.load(std::memory_order_acquire) == nobody;
    bool done = none_enters && (failed_ || (all_ready && open));
    set_under_way(messenger_, under_way_, !done && !open && (waiting_count_ > 0 || all_ready));
    if (!done || pieces_.in_use()) return;
    active_ = false;
    partitions_.completion->finish();  // may end this object
}

PartitionedReceive::PartitionedReceive(Messenger &messenger, const PartitionedEnds &ends,
                                       const Partitions &partitions, uint64_t channel)
    : messenger_(messenger),
      ends_(ends),
      partitions_(partitions),
      channel_(channel),
      inbox_(new std::byte[sizeof(Announcement) + few_bytes]),
      missing_(array_or_null<std::atomic<int64_t>>(static_cast<size_t>(partitions.count))) {}

PartitionedReceive *PartitionedReceive::make(Messenger &messenger, const PartitionedEnds &ends,
                                             const Partitions &partitions, uint64_t channel) {
    std::unique_ptr<PartitionedReceive> made(new PartitionedReceive(messenger, ends, partitions, channel));
    if (!made->missing_) return nullptr;
    if (ends.peer != no_peer) made->send_opening();
    return made.release();
}

void PartitionedReceive::send_opening() {
    describe(opening_, {ends_.context, ends_.own_rank, ends_.tag}, bytes_at(&channel_, sizeof channel_),
             ends_);
    opening_.completion.then = opening_sent;
    opening_.completion.context = this;
    messenger_.send(opening_);
}

// Discards the error of the opening, because the control receive reports a failed peer.
void PartitionedReceive::opening_sent(Completion &completion) {
    auto &self = *static_cast<PartitionedReceive *>(completion.context);
    self.opening_.error.discard();
    self.opening_.error = {};
    if (self.ended_) delete &self;
}

void PartitionedReceive::end(PartitionedReceive *receive) {
    receive->ended_ = true;
    bool sent = receive->ends_.peer == no_peer || receive->opening_.completion.complete();
    if (sent) delete receive;
}

void PartitionedReceive::start() {
    // A partition of 0 bytes counts as one missing byte, so that it has arrived only at the end of the round.
    int64_t one = std::max<int64_t>(partitions_.one.bytes(), 1);
    for (int i = 0; i < partitions_.count; ++i)
        missing_[static_cast<size_t>(i)].store(one, std::memory_order_relaxed);
    active_ = true;
    failed_ = heard_ = false;
    announced_ = total_ = 0;
    if (ends_.peer == no_peer) {
        heard_ = true;
        return end_if_done();
    }
    set_under_way(messenger_, under_way_, partitions_.bytes() >= attended_bytes);
    listen();
    end_if_done();
}

// Posts the control receive. heard(), which handles an announcement, calls this function again. If an
// announcement has already arrived, receive() below calls heard() at once. The loop avoids a recursion in
// this case.
void PartitionedReceive::listen() {
    again_ = true;
    if (listening_) return;
    listening_ = true;
    while (std::exchange(again_, false)) {
        describe(control_, {channel_, ends_.other_rank, control_tag},
                 bytes_at(inbox_.get(), sizeof(Announcement) + few_bytes), ends_);
        control_.completion.reset();
        control_.completion.then = heard;
        control_.completion.context = this;
        control_open_ = true;
        messenger_.receive(control_);
    }
    listening_ = false;
}

void PartitionedReceive::heard(Completion &completion) {
    auto &self = *static_cast<PartitionedReceive *>(completion.context);
    self.control_open_ = false;
    bool busy = std::exchange(self.busy_, true);
    if (self.control_.error) {
        self.failed_ = true;
        keep(*self.partitions_.error, self.control_.error);
    } else {
        self.announced();
    }
    self.busy_ = busy;
    self.end_if_done();
}

void PartitionedReceive::announced() {
    Announcement announcement;
    std::memcpy(&announcement, inbox_.get(), sizeof announcement);
    auto [offset, bytes, total] = announcement;
    heard_ = true;
    announced_ += bytes;
    total_ = total;
    check_total(total);
    if (bytes > static_cast<int64_t>(few_bytes)) {
        receive_data(offset, bytes);
    } else if (bytes > 0) {
        Cursor(partitions_.whole(), offset)
            .unpack(inbox_.get() + sizeof announcement, static_cast<size_t>(inside(offset, bytes)));
        landed(offset, bytes);
    }
    if (announced_ < total_) listen();
}

void PartitionedReceive::check_total(int64_t total) {
    if (total <= partitions_.bytes() || *partitions_.error) return;
    std::string sender = "the partitioned send of rank " + std::to_string(ends_.other_rank) + " with tag " +
                         std::to_string(ends_.tag);
    *partitions_.error =
        Error(ErrorClass::truncate, sender + " has " + std::to_string(total) +
                                        " bytes in all partitions, but the receive has room for " +
                                        std::to_string(partitions_.bytes()));
}

// Returns how many of these bytes, which begin at `offset`, fit into the receive buffer.
int64_t PartitionedReceive::inside(int64_t offset, int64_t bytes) const {
    return std::clamp<int64_t>(partitions_.bytes() - offset, 0, bytes);
}

// Fails the round for lack of memory for that many bytes. Returns 0: the message with the data is received
// into an empty buffer, because it must not meet the receive of a later round.
int64_t PartitionedReceive::fail_for_lack(int64_t bytes) {
    failed_ = true;
    Error error(ErrorClass::no_mem,
                "there is no memory for the " + std::to_string(bytes) +
                    " bytes of a partitioned message that begins or ends inside an element of the receive");
    keep(*partitions_.error, error);
    return 0;
}

void PartitionedReceive::receive_data(int64_t offset, int64_t bytes) {
    auto &piece = pieces_.take(*this, data_landed);
    piece.offset = offset;
    piece.bytes = bytes;
    piece.staged.reset();
    const Buffer &whole = partitions_.whole();
    int64_t some = inside(offset, bytes), element = whole.datatype->size;
    Buffer place;
    if (some == 0 || whole.contiguous()) {
        place = bytes_at(some == 0 ? whole.base : whole.base + offset, some);
    } else if (offset % element == 0 && some % element == 0) {
        place = {whole.base + offset / element * whole.datatype->extent, some / element, whole.datatype};
    } else {  // the data begin or end inside an element
        piece.staged = array_or_null<std::byte>(static_cast<size_t>(some));
        if (!piece.staged) some = fail_for_lack(some);
        place = bytes_at(piece.staged.get(), some);
    }
    describe(piece, {channel_, ends_.other_rank, data_tag}, place, ends_);
    messenger_.receive(piece);
}

void PartitionedReceive::data_landed(Completion &completion) {
    auto &piece = *static_cast<Pieces<PartitionedReceive, ReceiveOperation>::One *>(completion.context);
    PartitionedReceive &self = *piece.owner;
    bool truncated = piece.error && self.total_ > self.partitions_.bytes();
    if (piece.staged && (!piece.error || truncated))
        Cursor(self.partitions_.whole(), piece.offset)
            .unpack(piece.staged.get(), static_cast<size_t>(self.inside(piece.offset, piece.bytes)));
    if (piece.error && !truncated) self.failed_ = true;
    if (piece.error) keep(*self.partitions_.error, piece.error);
    else self.landed(piece.offset, piece.bytes);
    self.pieces_.give_back(piece);
    self.end_if_done();
}

void PartitionedReceive::landed(int64_t offset, int64_t bytes) {
    int64_t one = partitions_.one.bytes(), end = offset + inside(offset, bytes);
    while (offset < end) {
        int64_t partition = offset / one, some = std::min(end, (partition + 1) * one) - offset;
        missing_[static_cast<size_t>(partition)].fetch_sub(some, std::memory_order_release);
        offset += some;
    }
}

void PartitionedReceive::end_if_done() {
    bool all_announced = heard_ && announced_ >= total_;
    if (!active_ || busy_ || listening_ || !(failed_ || all_announced) || control_open_ || pieces_.in_use())
        return;
    for (int i = 0; i < partitions_.count; ++i)
        missing_[static_cast<size_t>(i)].store(0, std::memory_order_release);
    active_ = false;
    set_under_way(messenger_, under_way_, false);
    partitions_.completion->finish();  // may end this object
}

}  // namespace lanyard
