// Connects the streams of an agent's ranks with mpirun. See forwarded_streams.h.
#include "launch/forwarded_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace lanyard::launch {

namespace {

constexpr uint32_t most_at_once = 65536;

}  // namespace

ForwardedStreams::~ForwardedStreams() {
    for (auto &source : sources_) close_source(*source);
    close_input();
}

int ForwardedStreams::connect_rank(int rank, int target) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);  // the rank's end stays blocking
    sources_.push_back(std::make_unique<Source>(Source{rank, target, ends[0], false}));
    ++open_;
    watch(*sources_.back(), true);
    return ends[1];
}

void ForwardedStreams::watch(Source &source, bool wanted) {
    if (wanted == source.watched || source.fd < 0) return;
    if (wanted) loop_.add(source.fd, EPOLLIN, [this, &source](uint32_t) { forward(source); });
    else loop_.remove(source.fd);
    source.watched = wanted;
}

void ForwardedStreams::watch_all() {
    for (auto &source : sources_) watch(*source, credit_[source->target] > 0);
}

void ForwardedStreams::close_source(Source &source) {
    if (source.fd < 0) return;
    watch(source, false);
    close(source.fd);
    source.fd = -1;
    --open_;
}

// Reads a pipe once and sends what it has read. Returns false if no more is available now, or if there is no
// credit.
bool ForwardedStreams::forward(Source &source) {
    if (source.fd < 0) return false;
    uint32_t &credit = credit_[source.target];
    watch(source, credit > 0);
    if (credit == 0) return false;
    std::string bytes(std::min(credit, most_at_once), '\0');
    ssize_t count = read(source.fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return true;
    if (count < 0 && errno == EAGAIN && !draining_) return false;
    if (count > 0) {
        bytes.resize(static_cast<size_t>(count));
        credit -= static_cast<uint32_t>(count);
        send_(make_frame(Kind::output, Stream{node_, source.rank, source.target, 0, std::move(bytes)}));
        return true;
    }
    send_(make_frame(Kind::output, Stream{node_, source.rank, source.target, 0, {}}));
    close_source(source);
    return false;
}

void ForwardedStreams::catch_up() {
    for (auto &source : sources_) forward(*source);
}

void ForwardedStreams::drain() {
    draining_ = true;
    for (auto &source : sources_)
        while (forward(*source)) continue;
}

void ForwardedStreams::take(const Frame &frame, const Stream &stream) {
    bool output = stream.target == 1 || stream.target == 2;
    if (frame.kind == Kind::output_credit && output) {
        credit_[stream.target] += stream.credit;
        watch_all();
        if (draining_) drain();
    } else if (frame.kind == Kind::output_closed && output) {
        for (auto &source : sources_)
            if (source->target == stream.target) close_source(*source);
    } else if (frame.kind == Kind::input && input_ >= 0) {
        input_bytes_ += stream.bytes;
        input_ends_ = stream.bytes.empty();
        flush_input();
    }
}

int ForwardedStreams::connect_input() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    input_ = ends[1];
    return ends[0];
}

void ForwardedStreams::flush_input() {
    size_t written = 0;
    bool full = false;
    while (written < input_bytes_.size() && !full) {
        ssize_t count = write(input_, input_bytes_.data() + written, input_bytes_.size() - written);
        if (count < 0 && errno == EINTR) continue;
        full = count < 0 && errno == EAGAIN;
        if (count < 0 && !full) {
            send_(make_frame(Kind::input_credit, Stream{node_, 0, 0, 0, {}}));  // the rank reads no more
            return close_input();
        }
        if (count > 0) written += static_cast<size_t>(count);
    }
    input_bytes_.erase(0, written);
    if (full && !input_waits_)
        input_waits_ = loop_.add(input_, EPOLLOUT, [this](uint32_t) { flush_input(); });
    if (!full && input_waits_) {
        loop_.remove(input_);
        input_waits_ = false;
    }
    if (written)
        send_(make_frame(Kind::input_credit, Stream{node_, 0, 0, static_cast<uint32_t>(written), {}}));
    if (input_bytes_.empty() && input_ends_) close_input();
}

void ForwardedStreams::close_input() {
    if (input_ < 0) return;
    if (input_waits_) loop_.remove(input_);
    input_waits_ = false;
    close(input_);
    input_ = -1;
}

}  // namespace lanyard::launch
