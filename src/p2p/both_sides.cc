// The rendezvous of a long contiguous message between processes that can touch each other's memory: both copy (claims.h).
//
//   sender                      receiver
//     rendezvous  ------------>   match; begin a generation; read pieces from the front
//                 <------------   help (receiver's id and address, word)
//   write pieces from the back
//     helped      ------------>   (only if at least one piece was written)
//                 <------------   finished
//
// A sender that is not inside MPI does not answer; the receiver then reads everything itself and waits for nobody.
#include <algorithm>

#include "base/log.h"
#include "base/valgrind.h"
#include "p2p/claims.h"
#include "p2p/messenger.h"

namespace lanyard {

namespace {

constexpr uint64_t help_from = 4 * piece_bytes;  // shorter messages are read by the receiver before the sender would begin

size_t bytes_of_piece(uint64_t wanted, uint64_t piece) { return static_cast<size_t>(std::min<uint64_t>(piece_bytes, wanted - piece * piece_bytes)); }

}  // namespace

// Begins a transfer by both sides; false where the ordinary way must do.
bool Messenger::begin_both_sides(Transfer &transfer) {
    if (!transfer.buffer.contiguous() || transfer.wanted < help_from || pieces_of(transfer.wanted) > most_pieces || under_valgrind()) return false;
    if (transfer.error) return false;  // truncated: the sender would count pieces that have no place here
    if (!take_word(transfer)) return false;
    transfer.id = transfers_.add(transfer);
    HelpRequest request{transfer.id, reinterpret_cast<uintptr_t>(transfer.buffer.base), transfer.word_index, transfer.generation};
    reply(transfer.data_peer, EnvelopeKind::help, transfer.remote_id, 0, &request, sizeof request);
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: both sides copy", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id));
    transfer.run = read_pieces;
    read_pieces(transfer);
    return true;
}

int Messenger::read_pieces(Task &task) {
    Transfer &transfer = static_cast<Transfer &>(task);
    Messenger &self = *transfer.messenger;
    int64_t piece = claim_piece(*transfer.word, transfer.generation, pieces_of(transfer.wanted), true);
    if (piece < 0) {
        uint64_t written = Claims::read(transfer.word->load(std::memory_order_acquire)).back;
        if (written == 0) self.end_both_sides(transfer);
        return 1;  // otherwise `helped` ends it
    }
    if (!self.read_piece(transfer, static_cast<uint64_t>(piece))) return 1;
    self.engine_.ready(transfer);
    return 1;
}

// False when the kernel refused all at once: the message then comes in bulk frames.
bool Messenger::read_piece(Transfer &transfer, uint64_t piece) {
    uint64_t offset = piece * piece_bytes;
    iovec run{transfer.buffer.base + offset, bytes_of_piece(transfer.wanted, piece)};
    Error error = peers_[transfer.data_peer].path->get(transfer.data_peer, &run, 1, transfer.remote_address + offset, run.iov_len);
    if (!error) return true;
    log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", transfer.data_peer, error.sentence().c_str());
    error.discard();
    if (transfer.hook.linked()) transfer.hook.unlink();
    free_word(transfer);
    transfers_.remove(transfer.id);
    ask_for_bulk(transfer);
    return false;
}

void Messenger::end_both_sides(Transfer &transfer) {
    free_word(transfer);
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx finished: copied directly", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id));
    reply(transfer.data_peer, EnvelopeKind::finished, transfer.remote_id, 0);
    finish(transfer);
}

// The sender has written what it claimed, or (not `all_written`) could not and claims no more: then all is read here.
void Messenger::helped(uint64_t id, bool all_written) {
    Transfer *transfer = transfers_.find(id);
    if (!transfer || !transfer->word) return;
    if (!all_written) {
        uint64_t pieces = pieces_of(transfer->wanted);
        uint64_t front = Claims::read(transfer->word->load(std::memory_order_acquire)).front;
        for (uint64_t piece = front; piece < pieces; ++piece)
            if (!read_piece(*transfer, piece)) return;
    }
    end_both_sides(*transfer);
}

void Messenger::help(uint32_t peer, uint64_t id, const HelpRequest &request) {
    Transfer *transfer = transfers_.find(id);
    Path &path = *peers_[peer].path;
    if (!transfer || !touches(peer, request.address, static_cast<uint64_t>(transfer->buffer.bytes()))) return;
    transfer->word = path.shared_word(peer, request.word);
    if (!transfer->word) return;
    transfer->generation = request.generation;
    transfer->remote_id = request.receiver_id;
    transfer->remote_address = request.address;
    transfer->moved = 0;
    transfer->messenger = this;
    transfer->run = write_pieces;
    engine_.ready(*transfer);
}

int Messenger::write_pieces(Task &task) {
    Transfer &transfer = static_cast<Transfer &>(task);
    Messenger &self = *transfer.messenger;
    auto total = static_cast<uint64_t>(transfer.buffer.bytes());
    int64_t piece = claim_piece(*transfer.word, transfer.generation, pieces_of(total), false);
    if (piece < 0) {
        transfer.word = nullptr;
        if (transfer.moved) self.reply(transfer.peer, EnvelopeKind::helped, transfer.remote_id, 1);
        return 1;
    }
    uint64_t offset = static_cast<uint64_t>(piece) * piece_bytes;
    iovec run{transfer.buffer.base + offset, bytes_of_piece(total, static_cast<uint64_t>(piece))};
    ++transfer.moved;
    if (Error error = self.peers_[transfer.peer].path->put(transfer.peer, &run, 1, transfer.remote_address + offset, run.iov_len)) {
        error.discard();
        transfer.word = nullptr;
        self.reply(transfer.peer, EnvelopeKind::helped, transfer.remote_id, 0);
        return 1;
    }
    self.engine_.ready(transfer);
    return 1;
}

}  // namespace lanyard
