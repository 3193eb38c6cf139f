// Handles, in mpirun, the streams of ranks on other hosts. See remote_streams.h.
#include "launch/remote_streams.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "launch/prepare.h"
#include "launch/wording.h"

namespace lanyard::launch {

namespace {

constexpr uint32_t credit_step = stream_window / 4;  // the least credit that is granted at once
// While mpirun is in the background, it checks at this interval whether it may read the terminal again.
constexpr uint64_t background_pause_ns = 200'000'000;

}  // namespace

RemoteOutput::RemoteOutput(const Plan &plan, Output &output, Send send)
    : plan_(plan), output_(output), send_(std::move(send)) {
    output_.on_change([this] { settle(); });
}

RemoteOutput::~RemoteOutput() {
    output_.on_change(nullptr);
    for (auto &[name, fd] : files_)
        if (fd >= 0) close(fd);
}

void RemoteOutput::take(const Stream &stream) {
    if (stream.target != 1 && stream.target != 2) return;
    std::string file = output_file(plan_, stream.rank, stream.target);
    if (file.empty()) output_.take(stream.rank, stream.target, stream.bytes);
    else write_file(file, stream);
    owed_[{stream.node, stream.target}] += static_cast<uint32_t>(stream.bytes.size());
    settle();
}

void RemoteOutput::write_file(const std::string &name, const Stream &stream) {
    auto [entry, is_new] = files_.try_emplace(name, -1);
    int &fd = entry->second;
    if (is_new) fd = open_output_file(name);
    bool refused = fd < 0;
    for (size_t at = 0; !refused && at < stream.bytes.size();) {
        ssize_t count = write(fd, stream.bytes.data() + at, stream.bytes.size() - at);
        refused = count < 0 && errno != EINTR;
        if (count > 0) at += static_cast<size_t>(count);
    }
    if (refused && trouble_.empty())
        trouble_ = fmt::format("what {} prints cannot be written to {}: {}",
                               short_rank_text(plan_, stream.rank), name, system_text(errno));
}

// True if the ranks write this target into files. The reader of mpirun's own output then does not concern
// them.
bool RemoteOutput::in_files(int target) const { return !output_file(plan_, 0, target).empty(); }

void RemoteOutput::settle() {
    for (int target : {1, 2}) {
        if (in_files(target) || !output_.gone(target) || told_gone_[target]) continue;
        told_gone_[target] = true;
        send_(make_frame(Kind::output_closed, Stream{-1, 0, target, 0, {}}));
    }
    for (auto &[place, owed] : owed_) {
        auto [node, target] = place;
        if (owed < credit_step || !(in_files(target) || output_.takes_more(target))) continue;
        send_(make_frame(Kind::output_credit, Stream{node, 0, target, std::exchange(owed, 0), {}}));
    }
}

void RemoteInput::start() {
    open_ = true;
    terminal_ = isatty(0);
    pump();
}

void RemoteInput::take_credit(const Stream &stream) {
    if (!open_) return;
    if (stream.credit == 0) {
        open_ = false;
        return watch(false);
    }
    credit_ += stream.credit;
    pump();
}

void RemoteInput::finish() {
    open_ = false;
    watch(false);
    send_(make_frame(Kind::input, Stream{node_, 0, 0, 0, {}}));
}

void RemoteInput::watch(bool wanted) {
    if (wanted && !watched_) watched_ = loop_.add(0, EPOLLIN, [this](uint32_t) { pump(); });
    if (!wanted && watched_) {
        loop_.remove(0);
        watched_ = false;
    }
}

// Reads the available input and sends it. Reading does not block if poll() has reported the descriptor as
// readable. A regular file is always readable.
void RemoteInput::pump() {
    look_again_ns_ = UINT64_MAX;
    if (terminal_ && tcgetpgrp(0) != getpgrp()) {
        watch(false);
        look_again_ns_ = clock_ns() + background_pause_ns;
        return;
    }
    std::string bytes;
    while (open_ && credit_ > 0) {
        pollfd readable{0, POLLIN, 0};
        if (poll(&readable, 1, 0) == 0) break;
        bytes.resize(std::min<uint32_t>(credit_, 65536));
        ssize_t count = read(0, bytes.data(), bytes.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) break;
        if (count <= 0) return finish();
        bytes.resize(static_cast<size_t>(count));
        credit_ -= static_cast<uint32_t>(count);
        send_(make_frame(Kind::input, Stream{node_, 0, 0, 0, bytes}));
    }
    watch(open_ && credit_ > 0);
}

void RemoteInput::tick(uint64_t now_ns) {
    if (open_ && now_ns >= look_again_ns_) pump();
}

}  // namespace lanyard::launch
