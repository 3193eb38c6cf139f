// Implements the receiver's and the sender's side of dual_copy.h.
#include "p2p/dual_copy.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "base/valgrind.h"

namespace lanyard {

namespace {

constexpr size_t piece_bytes = 64 * KiB;
// Shorter messages are read by the receiver alone: it would finish before the sender could begin.
constexpr uint64_t least_bytes = 4 * piece_bytes;

// How many pieces one system call copies at most. A call for one piece copies at 0.8 to 0.9 of the rate of a
// call for 16. More would keep the process from its paths for too long.
constexpr uint64_t most_at_once = 16;

uint64_t pieces_of(uint64_t bytes) { return (bytes + piece_bytes - 1) / piece_bytes; }

// Where these pieces of a message of `bytes` bytes lie in the buffer at `base`.
iovec run_of(Share pieces, std::byte *base, uint64_t bytes) {
    uint64_t offset = pieces.first * piece_bytes;
    return {base + offset, static_cast<size_t>(std::min(pieces.count * piece_bytes, bytes - offset))};
}

}  // namespace

bool PieceReader::suits(const Buffer &buffer, uint64_t bytes) {
    return buffer.contiguous() && bytes >= least_bytes && pieces_of(bytes) <= most_pieces &&
           !under_valgrind();
}

bool PieceReader::begin(uint32_t peer, uint64_t sender_id, uint64_t receiver_id, uint64_t address,
                        std::byte *to, uint64_t bytes, User &user) {
    if (!endpoint_.words.take(*endpoint_.peers[peer].path, endpoint_.own_peer, word_)) return false;
    user_ = &user;
    peer_ = peer;
    address_ = address;
    to_ = to;
    bytes_ = bytes;
    HelpRequest request{receiver_id, reinterpret_cast<uintptr_t>(to), word_.index, word_.generation};
    endpoint_.reply(peer, EnvelopeKind::help, sender_id, 0, &request, sizeof request);
    read(*this);
    return true;
}

int PieceReader::read(Task &task) {
    auto &self = static_cast<PieceReader &>(task);
    Share pieces =
        claim_pieces(*self.word_.word, self.word_.generation, pieces_of(self.bytes_), true, most_at_once);
    if (pieces.count == 0) {
        if (self.word_.claims().back > 0) return 1;  // the sender claimed pieces: helped() ends the copy
        self.stop();
        self.user_->pieces_copied();
    } else if (self.read_pieces(pieces)) {
        self.endpoint_.engine.ready(self);
    }
    return 1;
}

// False: the kernel refused, and the user has been notified.
bool PieceReader::read_pieces(Share pieces) {
    iovec part = run_of(pieces, to_, bytes_);
    uint64_t from = address_ + pieces.first * piece_bytes;
    Error error = endpoint_.peers[peer_].path->memory().get(peer_, &part, 1, from, part.iov_len);
    if (!error) return true;
    log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", peer_,
        error.sentence().c_str());
    error.discard();
    stop();
    user_->pieces_refused();
    return false;
}

void PieceReader::helped(bool all_written) {
    if (!word_) return;
    uint64_t front = word_.claims().front, pieces = pieces_of(bytes_);
    for (; !all_written && front < pieces; front += most_at_once)
        if (!read_pieces({front, std::min(pieces - front, most_at_once)})) return;
    stop();
    user_->pieces_copied();
}

void PieceReader::stop() {
    if (hook.linked()) hook.unlink();
    if (word_) endpoint_.words.end(word_);
}

void PieceWriter::begin(uint32_t peer, const HelpRequest &request, const Buffer &buffer) {
    if (!buffer.contiguous() ||
        !endpoint_.touches(peer, request.address, static_cast<uint64_t>(buffer.bytes())))
        return;
    word_ = request.word < shared_words ? endpoint_.peers[peer].path->memory().shared_word(peer, request.word)
                                        : nullptr;
    if (!word_) return;
    peer_ = peer;
    request_ = request;
    buffer_ = buffer;
    written_ = 0;
    endpoint_.engine.ready(*this);
}

int PieceWriter::write(Task &task) {
    auto &self = static_cast<PieceWriter &>(task);
    auto bytes = static_cast<uint64_t>(self.buffer_.bytes());
    Share pieces = claim_pieces(*self.word_, self.request_.generation, pieces_of(bytes), false, most_at_once);
    if (pieces.count == 0) {
        self.end(true);
        return 1;
    }
    iovec part = run_of(pieces, self.buffer_.base, bytes);
    uint64_t to = self.request_.address + pieces.first * piece_bytes;
    self.written_ += pieces.count;
    Path &path = *self.endpoint_.peers[self.peer_].path;
    if (Error error = path.memory().put(self.peer_, &part, 1, to, part.iov_len)) {
        error.discard();
        self.end(false);
        return 1;
    }
    self.endpoint_.engine.ready(self);
    return 1;
}

void PieceWriter::end(bool all_written) {
    word_ = nullptr;
    if (written_) endpoint_.reply(peer_, EnvelopeKind::helped, request_.receiver_id, all_written);
}

// Does not change the word, because the peer may have begun another generation of the word.
void PieceWriter::stop() {
    if (hook.linked()) hook.unlink();
    word_ = nullptr;
}

}  // namespace lanyard
