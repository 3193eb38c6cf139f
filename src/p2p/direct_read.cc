// Decides how much is read at once, and where to (direct_read.h).
#include "p2p/direct_read.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"

namespace lanyard {

namespace {

constexpr size_t read_at_once = 1 << 20;  // bytes that are read between two polls of the paths
constexpr int runs_at_once = 256;
// More than few_runs runs that are shorter than least_run on average are read into `landing_` first.
constexpr size_t least_run = 16384;
constexpr int few_runs = 4;
constexpr size_t landing_bytes = 128 * KiB;  // size of `landing_`

}  // namespace

void DirectRead::begin(uint32_t peer, uint64_t address, const Buffer &to, uint64_t bytes, User &user) {
    user_ = &user;
    peer_ = peer;
    address_ = address;
    wanted_ = bytes;
    read_ = 0;
    cursor_ = Cursor(to);
    read(*this);
}

// Reads the next piece and returns its size. Reads straight into the receive buffer, except if the buffer
// consists of many short runs. For many short runs, the kernel needs more time than a second copy within the
// cache does.
size_t DirectRead::read_piece(Error &error) {
    Path &path = *endpoint_.peers[peer_].path;
    const Buffer &buffer = cursor_.buffer();
    uint64_t from = address_ + read_;
    size_t bytes = std::min<size_t>(wanted_ - read_, read_at_once);
    if (buffer.contiguous()) {
        iovec whole{buffer.base + read_, bytes};
        error = path.memory().get(peer_, &whole, 1, from, bytes);
        return bytes;
    }
    if (const std::byte *mapped = path.memory().mapped(peer_, from, bytes)) {
        cursor_.unpack(mapped, bytes);
        return bytes;
    }
    iovec runs[runs_at_once];
    Cursor ahead = cursor_;
    int count = ahead.runs(runs, runs_at_once, bytes);
    auto in_runs = static_cast<size_t>(ahead.position() - cursor_.position());
    if (in_runs >= least_run * static_cast<size_t>(count) || count <= few_runs) {
        error = path.memory().get(peer_, runs, count, from, in_runs);
        cursor_ = ahead;
        return in_runs;
    }
    bytes = std::min(bytes, landing_bytes);
    if (!landing_) landing_ = std::make_unique_for_overwrite<std::byte[]>(landing_bytes);
    iovec landing{landing_.get(), bytes};
    error = path.memory().get(peer_, &landing, 1, from, bytes);
    if (!error) cursor_.unpack(landing_.get(), bytes);
    return bytes;
}

int DirectRead::read(Task &task) {
    auto &self = static_cast<DirectRead &>(task);
    Error error;
    size_t bytes = self.read_piece(error);
    if (error) {
        log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", self.peer_,
            error.sentence().c_str());
        error.discard();
        self.user_->read_refused();
        return 1;
    }
    self.read_ += bytes;
    if (self.read_ < self.wanted_) self.endpoint_.engine.ready(self);
    else self.user_->read_all();
    return 1;
}

}  // namespace lanyard
