// Carries what the ranks print to mpirun's standard output and error, whole lines at a time so that lines of
// different ranks never mix, each with its rank in front where asked for. Bytes are otherwise passed on as
// they are. A line that is too long to be kept is passed on as it comes, and meanwhile the others' lines
// wait. Not for ever: the ranks may wait for each other. When that line stands still, or another rank has
// much to say, it is cut, and both of its pieces say whose they are. Driven by mpirun's loop;
// single-threaded. Invariants: mpirun never blocks in a write, so that it hears signals and ranks while its
// reader is slow; a slow reader slows the ranks, not mpirun's memory; when the reader has gone, ranks that
// print get SIGPIPE as if they wrote to it themselves.
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
    // A rank of another host has written this; nothing: it has closed the stream. While no more is taken it should not be
    // sent; `changed` is called when that, or whether somebody reads, may have changed.
    void take(int rank, int target, std::string_view bytes);
    bool takes_more(int target) const;
    bool gone(int target) const;
    void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
    // Called at least when deadline_ns() has come: unfinished lines on a terminal are shown after a moment.
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;  // UINT64_MAX: nothing to wait for
    // A line of mpirun's own, on standard error, between the lines of the ranks.
    void say(const std::string &line);
    void catch_up() override;
    // After the last rank: takes what is in the pipes and closes them, whoever else still holds them.
    void drain();
    bool empty() const;        // everything was handed on
    bool reader_gone() const;  // someone stopped reading what the ranks print
    const std::string &trouble() const { return trouble_; }  // why writing failed, other than by a reader who left

private:
    struct Sink;
    struct Stream {
        int rank = 0;
        int target = 1;
        int fd = -1;  // -1: closed, or that of another host
        Sink *sink = nullptr;
        std::string partial;      // received, not yet handed to the sink
        uint64_t since_ns = 0;    // when the oldest byte of partial came
        bool mid_line = false;    // the sink has the beginning of this stream's line
        bool long_line = false;   // likewise, of a line that is too long to be kept
        bool resumes = false;  // its long line was cut: lines of others have come after the beginning
        bool held = false;   // has complete lines that wait for the end of another's long one
        bool ended = false;  // while it waited so
    };
    // Where lines go: one for standard output, one for standard error, one for both where both are the same file.
    struct Sink {
        int fd = -1;
        bool terminal = false;
        bool socket = false;
        bool regular = false;
        bool waiting = false;
        bool gone = false;
        bool pausing = false;  // too much waits: its streams are not read
        std::string queue;
        size_t sent = 0;  // bytes at the beginning of queue that are written
        Stream *unfinished = nullptr;  // whose unfinished line was shown last
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
