// The protocol between mpirun and its agents on other hosts.
//
//     mpirun --remote shell-- agent on b --remote shell-- agent on e ...
//       |                       |
//     guard, ranks            guard, ranks
//
// The agents form a tree; each starts up to fan-out others. The bytes travel through the remote shell's
// standard input (down, from mpirun) and standard output (up). No port is opened and no secret is needed, and
// what protects the remote shell protects the bytes. The agent sends first, one line of text:
//     \nlanyard-agent PROTOCOL VERSION\n
// What a login prints before that line is kept only to be shown if no agent answers. Unless both numbers
// equal those of the process that started it, nothing else is read from the agent. Then frames follow in both
// directions:
//     length of the body (4 bytes)  kind (1 byte)  body
// Numbers have their lowest byte first. A text or list is preceded by its length (4 bytes). A frame that
// cannot be read ends the connection. A connection that ends before `over` means that the host and all hosts
// behind it have failed.
//
// Down: `job`, the first frame, contains the whole job and the agent's part in it. The agent looks for
// programs and folders, starts the agents below it, and reports `ready` when these are ready too. Only when
// all hosts are ready does `start` start the ranks everywhere. A program that is missing on one host is
// therefore found before any rank has run.
//
// Up: events of single ranks are passed on as they arrive. An agent reports `ready`, `over` and `barrier`
// once, for itself and all hosts below it. After `over`, nothing of the job is left there, and the agent
// sends nothing more.
//
// Streams: bytes of output and input may be under way only as far as credit was granted (stream_window for
// each of a host's standard output, standard error and input). No queue therefore grows because of a slow
// reader, and urgent frames never wait behind more than that. A credit or input frame names the node for
// which it is meant; hosts on the way pass it on. Values that ranks publish by PMI travel up with `barrier`
// and down with its release, with one message for each host and direction. An idle side sends `alive` from
// time to time. A side from which nothing has arrived for LANYARD_PEER_TIMEOUT has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/plan.h"
#include "launch/waits.h"

namespace lanyard::launch {

inline constexpr int protocol_number = 1;
inline constexpr char hello_mark[] = "\nlanyard-agent ";
inline constexpr uint32_t longest_frame = 64 * 1024 * 1024;
inline constexpr uint32_t stream_window = 256 * 1024;

enum class Kind : uint8_t {
    // both directions
    alive = 1,
    // down
    job,            // Assignment
    start,          // starts the ranks
    signal,         // Signal: to the ranks and their process groups
    end,            // Signal: to every process of the job
    ask_waits,
    output_credit,  // Stream, bytes empty
    output_closed,  // Stream: it has no reader any more
    input,          // Stream: for the rank that reads; empty: its end
    release,        // Values: of all ranks; the barrier is over
    answer,         // Answer
    // up
    ready,
    failed,         // Failure
    note,           // text to be shown; the job continues
    ended,          // RankEnd
    aborted,        // Abort
    output,         // Stream; empty: its end
    input_credit,   // Stream, bytes empty
    waits,          // list of RankWaits
    barrier,        // Values: all ranks from here on have entered
    ask,            // key
    departed,       // all ranks from here on have finalised and ended, and count as entered in every barrier
    over,
};

struct Frame {
    Kind kind = Kind::alive;
    std::string body;
};

// The job, and the receiver's part in it.
struct Assignment {
    std::string job;  // its name
    Plan plan;
    std::vector<std::string> environment;  // mpirun's, which override the other host's own
    std::string folder;                    // in which mpirun was started
    std::string agent;                     // path of the agent on other hosts
    uint32_t creation_mask = 022;
    uint32_t peer_timeout_s = 60;
    std::vector<int> below;  // nodes to be started from the receiver
};

struct Signal {
    int number = 0;
};
struct Stream {
    int node = 0;
    int rank = 0;
    int target = 0;  // descriptor: 0, 1 or 2
    uint32_t credit = 0;
    std::string bytes;
};
using Values = std::vector<std::pair<std::string, std::string>>;
struct Answer {
    std::string key;
    std::optional<std::string> value;
};
struct Failure {
    int exit_code = 0;
    std::string sentence;
};
struct RankEnd {
    int rank = 0;
    int pid = 0;
    int status = 0;               // as from waitpid
    bool inside = false;          // it had joined the job by PMI and not left it
    bool short_of_memory = false; // the kernel has killed a process for lack of memory meanwhile
    bool left = false;            // it had joined the job by PMI and left it
};
struct Abort {
    int rank = 0;
    int code = 0;
    bool for_error = false;  // because of an error, not a call of MPI_Abort
};
using AllWaits = std::vector<RankWaits>;
struct Text {
    std::string text;
};

// Converts `value` to the body of a frame, and back. read_frame returns false for a body that is not a valid
// value.
template <class Value>
Frame make_frame(Kind kind, const Value &value);
template <class Value>
bool read_frame(const Frame &frame, Value &value);

// append_frame appends the bytes of a frame. take_frame takes the first frame from `bytes` at offset `at`,
// which it advances. It returns nothing if the frame is incomplete, and sets `broken` if it can never become
// valid.
void append_frame(std::string &bytes, const Frame &frame);
std::optional<Frame> take_frame(const std::string &bytes, size_t &at, bool &broken);

}  // namespace lanyard::launch
