// Writes what the ranks print to mpirun's standard output and error, in whole lines, so that lines of
// different ranks never mix. If requested, each line begins with its rank. Otherwise, bytes are written
// unchanged. A line that is too long to be stored is written as it arrives, and lines of other ranks wait
// meanwhile. These lines must not wait forever, because the rank with the long line may itself wait for other
// ranks. So the long line is cut if nothing more of it arrives, or if another rank has much to print. Both
// parts of a cut line are labelled with their rank.
//
// Driven by mpirun's loop; single-threaded. The reader is the process that reads mpirun's output. Invariants:
// mpirun does not block in a write, so it handles signals and ranks while the reader is slow. (Only if a
// terminal cannot be opened once more, a write to it blocks while the terminal takes a part of it.) A slow
// reader slows down the ranks and does not fill mpirun's memory. When the reader has closed its end, ranks
// that print receive SIGPIPE, as if they wrote to the reader themselves.
// Tested by: tests/launch/test_streams.py.
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
    // Takes output of a rank on another host. Empty bytes mean that the rank has closed the stream.
    void take(int rank, int target, std::string_view bytes);
    // While this is false, other hosts should send no output for this target (1 or 2).
    bool takes_more(int target) const;
    // True if the reader of this target has closed its end.
    bool gone(int target) const;
    // Sets a function to be called when the result of takes_more() or gone() may have changed.
    void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
    // Cuts long lines that no longer grow, and shows unfinished lines on a terminal after a short time. Must
    // be called at deadline_ns() at the latest.
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;  // UINT64_MAX if tick() has nothing to do
    // Prints a line of mpirun's own, which ends with a newline, on standard error, between the lines of the
    // ranks.
    void say(const std::string &line);
    void catch_up() override;
    // Called after the last rank has ended. Reads what is in the pipes and closes them, even if other
    // processes still have them open.
    void drain();
    bool empty() const;        // true if all bytes that were passed to the sinks have been written
    bool reader_gone() const;  // true if a reader has closed its end
    // Why writing has failed; "" if it has not failed, or if the only reason is that the reader has closed
    // its end.
    const std::string &trouble() const { return trouble_; }

private:
    struct Sink;
    struct Stream {
        int rank = 0;
        int target = 1;
        int fd = -1;  // -1 if the stream is closed, or belongs to a rank on another host
        Sink *sink = nullptr;
        std::string partial;      // bytes that were received and not yet passed to the sink
        uint64_t since_ns = 0;    // when the oldest byte of `partial` arrived, or bytes were last passed on
        bool mid_line = false;    // the sink has the beginning of the stream's present line
        bool long_line = false;   // the same, and the line is too long to be stored
        bool resumes = false;  // the stream's long line was cut, and its next bytes continue it
        bool held = false;   // the stream has complete lines that wait for the end of another's long line
        bool ended = false;  // the stream has reached its end while it waited in this way
    };
    // Where lines go: one sink for standard output and one for standard error, or one for both if both are
    // the same file.
    struct Sink {
        int target = 1;
        int fd = -1;
        bool terminal = false;
        bool socket = false;
        bool regular = false;
        bool waiting = false;
        bool gone = false;
        bool pausing = false;  // much has not been written yet, so the streams of this sink are not read
        std::string queue;
        size_t sent = 0;  // how many bytes at the beginning of `queue` have been written
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
    bool alone_;  // there is only one rank, so lines cannot mix and nothing is held back
    std::vector<std::unique_ptr<Sink>> sinks_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::unordered_map<int, Stream *> remote_;  // by 2 * rank + target
    std::function<void()> changed_;
    std::string trouble_;
};

}  // namespace lanyard::launch
