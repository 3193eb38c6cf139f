// Writes the output of the ranks in whole lines. See output.h.
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace lanyard::launch {

namespace {

constexpr size_t longest_whole_line = MiB;  // longer lines are passed on in pieces
constexpr size_t queue_full = MiB;
constexpr size_t queue_low = 256 * KiB;
constexpr uint64_t patience_ns = 50'000'000;  // how long an unfinished line is not shown on a terminal
constexpr uint64_t long_patience_ns = 2'000'000'000;  // how long others wait for more of a long line

}  // namespace

Output::Output(Loop &loop, bool tagged, int ranks) : loop_(loop), tagged_(tagged), alone_(ranks == 1) {
    Sink *out = open_sink(1);
    struct stat first, second;
    bool same = fstat(1, &first) == 0 && fstat(2, &second) == 0 && first.st_dev == second.st_dev &&
                first.st_ino == second.st_ino;
    if (!same || !out) open_sink(2);
}

Output::~Output() {
    for (auto &stream : streams_) close_stream(*stream);
    for (auto &sink : sinks_) {
        if (sink->waiting) loop_.remove(sink->fd);
        if (sink->fd != sink->target) close(sink->fd);
    }
}

Output::Sink *Output::open_sink(int target) {
    auto sink = std::make_unique<Sink>();
    struct stat about{};
    fstat(target, &about);
    sink->target = sink->fd = target;
    sink->terminal = isatty(target);
    // A terminal may accept only a part of what is written. If it is opened once more, mpirun need not wait
    // until it accepts the rest. Other processes that have the terminal are not affected.
    if (sink->terminal) {
        std::string again = fmt::format("/proc/self/fd/{}", target);
        int own = open(again.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (own >= 0) sink->fd = own;
    }
    sink->socket = S_ISSOCK(about.st_mode);
    sink->regular = S_ISREG(about.st_mode) || (S_ISCHR(about.st_mode) && !sink->terminal);
    sinks_.push_back(std::move(sink));
    return sinks_.back().get();
}

int Output::connect_rank(int rank, int target) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);  // the rank's end stays blocking
    auto stream = std::make_unique<Stream>();
    stream->rank = rank;
    stream->target = target;
    stream->fd = ends[0];
    stream->sink = target == 2 ? sinks_.back().get() : sinks_.front().get();
    watch(*stream);
    streams_.push_back(std::move(stream));
    return ends[1];
}

void Output::close_stream(Stream &stream) {
    if (stream.fd < 0) return;
    loop_.remove(stream.fd);
    close(stream.fd);
    stream.fd = -1;
}

void Output::ready(Stream &stream) {
    bool open = receive(stream);
    take_lines(stream);
    if (!open) {
        end_stream(stream);
        close_stream(stream);
    }
    flush(*stream.sink);
}

// Called when no more can arrive on the stream. Passes on its unfinished line, unless the stream must wait
// for the end of another stream's long line.
void Output::end_stream(Stream &stream) {
    Sink &sink = *stream.sink;
    stream.ended = behind_long_line(stream);
    if (stream.ended) return;
    if (!stream.partial.empty()) hand_on(stream, stream.partial.size());
    if (tagged_ && stream.mid_line) {
        if (!sink.gone) sink.queue += '\n';
        stream.mid_line = false;
        if (sink.unfinished == &stream) sink.unfinished = nullptr;
    }
    if (!stream.long_line) return;
    stream.long_line = false;
    release(sink);
}

void Output::take(int rank, int target, std::string_view bytes) {
    Stream *&known = remote_[2 * rank + target];
    if (!known) {
        streams_.push_back(std::make_unique<Stream>());
        known = streams_.back().get();
        known->rank = rank;
        known->target = target;
        known->sink = target == 2 ? sinks_.back().get() : sinks_.front().get();
    }
    if (known->partial.empty()) known->since_ns = clock_ns();
    known->partial += bytes;
    if (bytes.empty()) end_stream(*known);
    else take_lines(*known);
    flush(*known->sink);
}

bool Output::takes_more(int target) const { return !sink_of(target).pausing; }
bool Output::gone(int target) const { return sink_of(target).gone; }

// Reads the stream's pipe once. Returns false at the end of file.
bool Output::receive(Stream &stream) {
    char chunk[65536];
    ssize_t count = read(stream.fd, chunk, sizeof chunk);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    if (stream.partial.empty()) stream.since_ns = clock_ns();
    stream.partial.append(chunk, static_cast<size_t>(count));
    return true;
}

// Passes on the complete lines of a stream. Passes on everything if there is only one rank, or if the line is
// too long to be stored.
void Output::take_lines(Stream &stream) {
    size_t last = stream.partial.rfind('\n');
    size_t length = last == std::string::npos ? 0 : last + 1;
    bool was_long = stream.long_line;
    bool too_long = stream.partial.size() - length > longest_whole_line || (was_long && length == 0);
    if (alone_ || too_long) length = stream.partial.size();
    stream.held = length && behind_long_line(stream) && stream.partial.size() <= longest_whole_line;
    if (!length || stream.held) return;
    hand_on(stream, length);
    stream.long_line = stream.mid_line && too_long && !alone_;
    if (was_long && !stream.long_line) release(*stream.sink);
}

bool Output::behind_long_line(const Stream &stream) const {
    const Sink &sink = *stream.sink;
    return !sink.gone && sink.unfinished && sink.unfinished != &stream && sink.unfinished->long_line;
}

// Called when a long line has ended or was cut. Passes on the lines that waited for that.
void Output::release(Sink &sink) {
    for (auto &stream : streams_) {
        if (stream->sink != &sink || !(stream->held || stream->ended)) continue;
        if (stream->ended) end_stream(*stream);
        else take_lines(*stream);
    }
}

// Cuts the unfinished line of a sink because another stream has output.
void Output::interrupt(Sink &sink) {
    Stream &cut = *sink.unfinished;
    if (!tagged_ && cut.long_line) sink.queue += fmt::format(" [rank {}: the line goes on below]", cut.rank);
    cut.resumes = !tagged_ && cut.long_line;
    if (tagged_ || cut.long_line) {
        sink.queue += '\n';
        cut.mid_line = false;
    }
    cut.long_line = false;
    sink.unfinished = nullptr;
}

bool Output::stands_still(const Sink &sink, uint64_t now_ns) const {
    const Stream *line = sink.unfinished;
    if (!line || !line->long_line || now_ns < line->since_ns + long_patience_ns) return false;
    return std::any_of(streams_.begin(), streams_.end(), [&](const auto &stream) {
        return stream->sink == &sink && (stream->held || stream->ended);
    });
}

void Output::hand_on(Stream &stream, size_t length) {
    Sink &sink = *stream.sink;
    std::string_view text(stream.partial.data(), length);
    if (sink.gone) {
        stream.partial.clear();
        return;
    }
    if (sink.unfinished && sink.unfinished != &stream) interrupt(sink);
    if (stream.resumes) sink.queue += fmt::format("[rank {}: the line goes on] ", stream.rank);
    stream.resumes = false;
    if (!tagged_) sink.queue += text;
    for (size_t at = 0; tagged_ && at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        if (!stream.mid_line) sink.queue += fmt::format("[{}] ", stream.rank);
        stream.mid_line = false;
        sink.queue += text.substr(at, end - at);
        at = end;
    }
    stream.mid_line = text.back() != '\n';
    sink.unfinished = stream.mid_line ? &stream : nullptr;
    stream.partial.erase(0, length);
    stream.since_ns = clock_ns();
}

// Writes some bytes. A pipe that poll() reports as writable accepts PIPE_BUF bytes, so the write does not
// block.
ssize_t Output::write_some(Sink &sink) {
    std::string_view unsent = std::string_view(sink.queue).substr(sink.sent);
    if (sink.regular) return write(sink.fd, unsent.data(), unsent.size());
    if (sink.socket) return send(sink.fd, unsent.data(), unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    pollfd writable{sink.fd, POLLOUT, 0};
    if (poll(&writable, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (unsent.size() > PIPE_BUF) {
        unsent = unsent.substr(0, PIPE_BUF);
        size_t last = unsent.rfind('\n');
        // Whole lines are written at once, so that the output of other processes does not get between.
        if (last != std::string_view::npos) unsent = unsent.substr(0, last + 1);
    }
    return write(sink.fd, unsent.data(), unsent.size());
}

void Output::flush(Sink &sink) {
    bool full = false;
    while (sink.unsent() && !full) {
        ssize_t count = write_some(sink);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno != EAGAIN) return lose_reader(sink, errno);
        full = count < 0;
        if (!full) sink.sent += static_cast<size_t>(count);
    }
    if (sink.sent > queue_low || !sink.unsent()) {
        sink.queue.erase(0, sink.sent);
        sink.sent = 0;
    }
    if (full && !sink.waiting)
        sink.waiting = loop_.add(sink.fd, EPOLLOUT, [this, &sink](uint32_t) { flush(sink); });
    if (!full && sink.waiting) {
        loop_.remove(sink.fd);
        sink.waiting = false;
    }
    pause_or_resume(sink);
}

// Stops or resumes reading the streams of a sink, depending on how much is unsent. A stream that is not read
// is removed from the loop altogether, because epoll would report a hang-up again and again.
void Output::pause_or_resume(Sink &sink) {
    bool pause = sink.unsent() > (sink.pausing ? queue_low : queue_full);
    if (pause == sink.pausing) return;
    sink.pausing = pause;
    for (auto &stream : streams_) {
        if (stream->sink != &sink || stream->fd < 0) continue;
        if (pause) loop_.remove(stream->fd);
        else watch(*stream);
    }
    if (changed_) changed_();
}

void Output::watch(Stream &stream) {
    loop_.add(stream.fd, EPOLLIN, [this, &stream](uint32_t) { ready(stream); });
}

void Output::lose_reader(Sink &sink, int error_number) {
    sink.gone = true;
    sink.queue.clear();
    sink.sent = 0;
    if (error_number != EPIPE)
        trouble_ = fmt::format("what the ranks print could not be written to standard {}: {}",
                               sink.target == 1 ? "output" : "error", system_text(error_number));
    if (sink.waiting) loop_.remove(sink.fd);
    sink.waiting = false;
    for (auto &stream : streams_)
        if (stream->sink == &sink) close_stream(*stream);
    if (changed_) changed_();
}

void Output::tick(uint64_t now_ns) {
    for (auto &sink : sinks_) {
        if (!stands_still(*sink, now_ns)) continue;
        interrupt(*sink);
        release(*sink);
        flush(*sink);
    }
    for (auto &stream : streams_) {
        bool waits = stream->partial.empty() || behind_long_line(*stream);
        if (waits || !stream->sink->terminal || now_ns < stream->since_ns + patience_ns) continue;
        hand_on(*stream, stream->partial.size());
        flush(*stream->sink);
    }
}

uint64_t Output::deadline_ns() const {
    uint64_t deadline = UINT64_MAX;
    for (const auto &stream : streams_) {
        bool behind = behind_long_line(*stream);
        if (behind && (stream->held || stream->ended))
            deadline = std::min(deadline, stream->sink->unfinished->since_ns + long_patience_ns);
        if (!behind && !stream->partial.empty() && stream->sink->terminal)
            deadline = std::min(deadline, stream->since_ns + patience_ns);
    }
    return deadline;
}

void Output::say(const std::string &line) {
    Sink &sink = *sinks_.back();
    if (sink.gone) return;
    if (sink.unfinished && !tagged_ && !sink.unfinished->long_line) sink.queue += '\n';
    if (sink.unfinished && !tagged_) sink.unfinished->mid_line = false;
    if (sink.unfinished) interrupt(sink);
    sink.queue += line;
    release(sink);
    flush(sink);
}

void Output::catch_up() {
    for (auto &stream : streams_)
        if (stream->fd >= 0 && !stream->sink->pausing) ready(*stream);
}

void Output::drain() {
    for (auto &stream : streams_) {
        // A pipe contains at most 1 MiB, unless root has enlarged it. If there is more, some process is still
        // writing, so reading ends after 64 turns.
        for (int turn = 0; stream->fd >= 0 && turn < 64; ++turn) {
            size_t before = stream->partial.size();
            bool open = receive(*stream);
            if (!open || stream->partial.size() == before) break;
            take_lines(*stream);
        }
    }
    // The streams in the middle of a long line are ended first, because other streams wait for that.
    std::vector<Stream *> order;
    for (auto &stream : streams_) order.push_back(stream.get());
    std::stable_partition(order.begin(), order.end(), [](const Stream *stream) { return stream->long_line; });
    for (Stream *stream : order) {
        bool remote = remote_.contains(2 * stream->rank + stream->target);
        if (stream->fd < 0 && !remote && !stream->ended) continue;
        end_stream(*stream);
        stream->mid_line = false;
        stream->sink->unfinished = nullptr;
        close_stream(*stream);
        flush(*stream->sink);
    }
}

bool Output::empty() const {
    return std::all_of(sinks_.begin(), sinks_.end(), [](const auto &sink) { return sink->unsent() == 0; });
}

bool Output::reader_gone() const {
    return std::any_of(sinks_.begin(), sinks_.end(), [](const auto &sink) { return sink->gone; });
}

}  // namespace lanyard::launch
