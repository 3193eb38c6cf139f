// Carries what the ranks print to mpirun's standard output and error, in whole lines, so that lines of
// different ranks never mix. If requested, each line begins with its rank. Otherwise, bytes are passed on
// unchanged. A line too long to be kept is passed on as it arrives, and lines of other ranks wait meanwhile.
// They do not wait forever, because the ranks may wait for each other: when that line stands still, or
// another rank has much to print, the line is cut, and both parts are labelled with their rank.
//
// Driven by mpirun's loop; single-threaded. Invariants: mpirun never blocks in a write, so it handles signals
// and ranks while its reader is slow. A slow reader slows down the ranks and does not fill mpirun's memory.
// When the reader is gone, ranks that print receive SIGPIPE, as if they wrote to it themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "launch/loop.h"
#include "launch/streams.h"

namespace lanyard::launch {

class Output final : public StandardStreams {
public:
    Output(Loop &loop, bool tagged, int ranks);
    ~Output() override;
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    int connect_rank(int rank, int target) override;
    // Takes output of a rank on another host. Empty bytes mean that the rank has closed the stream. While
    // takes_more() is false, nothing should be sent. `changed` is called when the result of takes_more() or
    // gone() may have changed.
    void take(int rank, int target, std::string_view bytes);
    bool takes_more(int target) const;
    bool gone(int target) const;
    void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
    // Must be called at deadline_ns() at the latest. Shows unfinished lines on a terminal after a short time.
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;  // UINT64_MAX: nothing to wait for
    // Prints a line of mpirun's own on standard error, between the lines of the ranks.
    void say(const std::string &line);
    void catch_up() override;
    // After the last rank: reads what is in the pipes and closes them, even if other processes still have
    // them open.
    void drain();
    bool empty() const;        // everything was passed on
    bool reader_gone() const;  // a reader no longer reads what the ranks print
    // why writing failed, unless only because the reader has left
    const std::string &trouble() const { return trouble_; }

private:
    struct Sink;
    struct Stream {
        int rank = 0;
        int target = 1;
        int fd = -1;  // -1: closed, or of another host
        Sink *sink = nullptr;
        std::string partial;      // received, not yet passed to the sink
        uint64_t since_ns = 0;    // arrival of the oldest byte of partial
        bool mid_line = false;    // the sink has the beginning of this stream's line
        bool long_line = false;   // the same, and the line is too long to be kept
        bool resumes = false;  // its long line was cut: lines of others follow the beginning
        bool held = false;   // has complete lines that wait for the end of another stream's long line
        bool ended = false;  // reached its end while it waited
    };
    // Where lines go: one sink for standard output and one for standard error, or one for both if both are
    // the same file.
    struct Sink {
        int fd = -1;
        bool terminal = false;
        bool socket = false;
        bool regular = false;
        bool waiting = false;
        bool gone = false;
        bool pausing = false;  // too much is unsent, so its streams are not read
        std::string queue;
        size_t sent = 0;  // bytes at the beginning of queue that are written
        Stream *unfinished = nullptr;  // the stream whose unfinished line was shown last
        size_t unsent() const { return queue.size() - sent; }
    };

    void ready(Stream &stream);
    bool receive(Stream &stream);
    void take_lines(Stream &stream);
    void hand_on(Stream &stream, size_t length);
    bool behind_long_line(const Stream &stream) const;
    void interrupt(Sink &sink);
    void release(Sink &sink);
    bool stands_still(const Sink &sink, uint64_t now_ns) const;
    void flush(Sink &sink);
    ssize_t write_some(Sink &sink);
    void close_stream(Stream &stream);
    void end_stream(Stream &stream);
    const Sink &sink_of(int target) const { return target == 2 ? *sinks_.back() : *sinks_.front(); }
    void pause_or_resume(Sink &sink);
    void lose_reader(Sink &sink, int error_number);
    void watch(Stream &stream);
    Sink *open_sink(int target);

    Loop &loop_;
    bool tagged_;
    bool alone_;  // one rank: nothing can mix, so nothing is held back
    std::vector<std::unique_ptr<Sink>> sinks_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::unordered_map<int, Stream *> remote_;  // by 2 * rank + target
    std::function<void()> changed_;
    std::string trouble_;
};

}  // namespace lanyard::launch
