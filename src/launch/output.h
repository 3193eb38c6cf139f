// Carries what the ranks print to mpirun's standard output and error, whole lines at a time so that lines of different
// ranks never mix, each with its rank in front where asked for. Bytes are otherwise passed on as they are.
// Driven by mpirun's loop; single-threaded. Invariants: mpirun never blocks in a write, so that it hears signals and
// ranks while its reader is slow; a slow reader slows the ranks, not mpirun's memory; when the reader has gone, ranks
// that print get SIGPIPE as if they wrote to it themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launch/loop.h"

namespace lanyard::launch {

class Output {
public:
    Output(Loop &loop, bool tagged, int ranks);
    ~Output();
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    // Makes a pipe for what `rank` writes to descriptor `target` (1 or 2) and returns the rank's end; -1 with errno set
    // when the system refuses. The caller closes it after the rank was started.
    int connect_rank(int rank, int target);
    // Called at least when deadline_ns() has come: unfinished lines on a terminal are shown after a moment.
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;  // UINT64_MAX: nothing to wait for
    // A line of mpirun's own, on standard error, between the lines of the ranks.
    void say(const std::string &line);
    // Takes what is in the pipes now, so that it comes before what is said next.
    void catch_up();
    // After the last rank: takes what is in the pipes and closes them, whoever else still holds them.
    void drain();
    bool empty() const;        // everything was handed on
    bool reader_gone() const;  // someone stopped reading what the ranks print
    const std::string &trouble() const { return trouble_; }  // why writing failed, other than by a reader who left

private:
    struct Sink;
    struct Stream {
        int rank = 0;
        int fd = -1;
        Sink *sink = nullptr;
        std::string partial;      // received, not yet handed to the sink
        uint64_t since_ns = 0;    // when the oldest byte of partial came
        bool mid_line = false;    // the sink has the beginning of this stream's line
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
    void flush(Sink &sink);
    ssize_t write_some(Sink &sink);
    void close_stream(Stream &stream);
    void pause_or_resume(Sink &sink);
    void lose_reader(Sink &sink, int error_number);
    void watch(Stream &stream);
    Sink *open_sink(int target);

    Loop &loop_;
    bool tagged_;
    bool alone_;  // one rank: nothing can mix, so nothing is held back
    std::vector<std::unique_ptr<Sink>> sinks_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::string trouble_;
};

}  // namespace lanyard::launch
