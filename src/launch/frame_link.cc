// Sends and receives frames over two descriptors. See frame_link.h.
#include "launch/frame_link.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace lanyard::launch {

namespace {

constexpr size_t most_unsent = 64 * MiB;
// How long reading continues after a failed write, to read what the other side has sent before.
constexpr uint64_t patience_ns = 500'000'000;
// An idle side sends this number of frames in the time after which a silent side counts as failed.
constexpr int beats_in_silence = 6;

}  // namespace

bool FrameLink::open(int in, int out, std::string received) {
    in_ = in;
    out_ = out;
    received_ = std::move(received);
    heard_ns_ = spoke_ns_ = ticked_ns_ = clock_ns();
    fcntl(in_, F_SETFL, fcntl(in_, F_GETFL) | O_NONBLOCK);
    fcntl(out_, F_SETFL, fcntl(out_, F_GETFL) | O_NONBLOCK);
    return loop_.add(in_, EPOLLIN, [this](uint32_t) { ready(); });
}

void FrameLink::close() {
    if (in_ < 0) return;
    loop_.remove(in_);
    if (waiting_) loop_.remove(out_);
    waiting_ = false;
    ::close(in_);
    if (out_ != in_) ::close(out_);
    in_ = out_ = -1;
}

void FrameLink::lose(const std::string &why) {
    if (!is_open()) return;
    close();
    handlers_.lost(why);
}

void FrameLink::ready() {
    char chunk[65536];
    ssize_t count = read(in_, chunk, sizeof chunk);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) return lose(system_text(errno));
    if (count == 0) return lose("the connection was closed");
    heard_ns_ = clock_ns();
    silence_expected_ = false;
    received_.append(chunk, static_cast<size_t>(count));
    dispatch();
}

void FrameLink::dispatch() {
    size_t at = 0;
    bool broken = false;
    while (is_open()) {
        std::optional<Frame> frame = take_frame(received_, at, broken);
        if (broken) return lose("the received bytes do not follow Lanyard's protocol");
        if (!frame) break;
        if (frame->kind != Kind::alive) handlers_.frame(*frame);
    }
    received_.erase(0, at);
}

void FrameLink::send(const Frame &frame) {
    if (!is_open()) return;
    append_frame(unsent_, frame);
    spoke_ns_ = clock_ns();
    if (unsent_.size() - sent_ > most_unsent) set_trouble("it has taken nothing for long");
    flush();
}

void FrameLink::set_trouble(const std::string &why) {
    if (trouble_.empty()) trouble_ns_ = clock_ns();
    trouble_ = why;
}

void FrameLink::flush() {
    bool full = false;
    while (sent_ < unsent_.size() && !full) {
        ssize_t count = write(out_, unsent_.data() + sent_, unsent_.size() - sent_);
        if (count < 0 && errno == EINTR) continue;
        full = count < 0 && errno == EAGAIN;
        if (count < 0 && !full) {
            set_trouble(system_text(errno));
            unsent_.clear();
            sent_ = 0;
            return;
        }
        if (count > 0) sent_ += static_cast<size_t>(count);
    }
    if (sent_ == unsent_.size() || sent_ > MiB) {
        unsent_.erase(0, sent_);
        sent_ = 0;
    }
    if (full && !waiting_) waiting_ = loop_.add(out_, EPOLLOUT, [this](uint32_t) { flush(); });
    if (!full && waiting_) {
        loop_.remove(out_);
        waiting_ = false;
    }
}

void FrameLink::tick(uint64_t now_ns) {
    if (!is_open()) return;
    // If this process itself was stopped meanwhile, the silence of the other side proves nothing.
    if (now_ns - ticked_ns_ > silence_ns_ / 2) heard_ns_ = now_ns;
    ticked_ns_ = now_ns;
    // After a failed write, the other side's last frames are read first. Reading usually finds the end of the
    // connection meanwhile.
    if (!trouble_.empty() && now_ns - trouble_ns_ >= patience_ns) return lose(trouble_);
    if (!silence_expected_ && now_ns - heard_ns_ >= silence_ns_)
        return lose(fmt::format("nothing has been heard of it for {} s (LANYARD_PEER_TIMEOUT)",
                                silence_ns_ / 1'000'000'000));
    if (now_ns - spoke_ns_ >= silence_ns_ / beats_in_silence) {
        if (unsent_.empty()) send({Kind::alive, {}});
        else spoke_ns_ = now_ns;
    }
}

uint64_t FrameLink::deadline_ns() const {
    if (!is_open()) return UINT64_MAX;
    uint64_t beat = std::min(spoke_ns_, ticked_ns_) + silence_ns_ / beats_in_silence;
    if (!trouble_.empty()) beat = std::min(beat, trouble_ns_ + patience_ns);
    return silence_expected_ ? beat : std::min(beat, heard_ns_ + silence_ns_);
}

}  // namespace lanyard::launch
