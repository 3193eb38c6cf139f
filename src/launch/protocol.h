// Defines the protocol between mpirun and its agents on other hosts.
//
//     mpirun --remote shell-- agent on b --remote shell-- agent on e ...
//       |                       |
//     guard, ranks            guard, ranks
//
// The agents form a tree, in which each process starts up to fan_out agents. Bytes from mpirun ("down") are
// sent through the standard input of the remote shell, and bytes to mpirun ("up") through its standard
// output. No port is opened, no secret is needed, and the remote shell protects the bytes. First the agent
// sends one line of text:
//     \nlanyard-agent PROTOCOL VERSION\n
// What a login prints before that line is kept only to be shown if no agent answers. If PROTOCOL or VERSION
// differs from that of the process that has started the agent, nothing else is read from the agent. Otherwise
// frames follow in both directions:
//     length of the body (4 bytes)  kind (1 byte)  body
// Numbers have their lowest byte first. A text or list is preceded by its length (4 bytes). A frame with an
// impossible length or an unknown kind ends the connection. A frame with an invalid body is ignored. If a
// connection ends before `over`, the host and all hosts behind it have failed.
//
// Down: the first frame, `job`, contains the whole job and the agent's part in it. The agent checks programs
// and folders, starts the agents below it, and reports `ready` when these are ready, too. Only when all hosts
// are ready is `start` sent, which starts the ranks on all hosts. So a program that is missing on one host is
// found before any rank has run.
//
// Up: events of single ranks are passed on as they arrive. An agent reports `ready`, `over` and `barrier`
// once, for itself and all hosts below it. After `over`, no process of the job is left on these hosts, and
// the agent sends nothing more.
//
// Streams: bytes of output and input are sent only as far as credit was granted (stream_window for each of a
// host's standard output, standard error and input). So no queue grows because of a slow reader, and urgent
// frames wait behind a limited number of bytes. A credit or input frame names the node for which it is meant;
// hosts on the way pass it on. Values that ranks publish by PMI are sent up with `barrier` and down with
// `release`, with one message for each host and direction. A side that has nothing to send sends `alive` from
// time to time. A side from which nothing has arrived for LANYARD_PEER_TIMEOUT has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "launch/plan.h"
#include "launch/waits.h"

namespace lanyard::launch {

inline constexpr int protocol_number = 1;
inline constexpr char hello_mark[] = "\nlanyard-agent ";
inline constexpr uint32_t longest_frame = 64 * MiB;
inline constexpr uint32_t stream_window = 256 * KiB;

// The kinds of frames. The comment on a kind begins with the type of its body, if it has one.
enum class Kind : uint8_t {
    // Frames in both directions.
    alive = 1,
    // Frames down, from mpirun.
    job,            // Assignment
    start,          // start the ranks
    signal,         // Signal to send to the ranks and their process groups
    end,            // Signal to send to every process of the job
    ask_waits,      // report what the ranks wait for
    output_credit,  // Stream with credit, without bytes
    output_closed,  // Stream that has no reader any more
    input,          // Stream with input for the rank that reads; without bytes at the end of the input
    release,        // Values of all ranks; the barrier is over
    answer,         // Answer to `ask`
    // Frames up, to mpirun.
    ready,
    failed,         // Failure
    note,           // Text to be shown; the job continues
    ended,          // RankEnd
    aborted,        // Abort
    output,         // Stream with output of a rank; without bytes at the end of the output
    input_credit,   // Stream with credit, without bytes; no credit: the rank reads no more
    waits,          // AllWaits
    barrier,        // Values published on the hosts that send it; all ranks of these hosts have entered
    ask,            // Text with the key of a value that the sender does not know
    // All ranks of these hosts have finalised and ended; they count as entered in all later barriers.
    departed,
    over,           // no process of the job is left on these hosts
};

struct Frame {
    Kind kind = Kind::alive;
    std::string body;
};

// The whole job, and the part of it that the receiver starts.
struct Assignment {
    std::string job;  // the name of the job
    Plan plan;
    std::vector<std::string> environment;  // mpirun's variables, which override those of the other host
    std::string folder;                    // the folder in which mpirun was started
    std::string agent;                     // the path of the agent's program on other hosts
    uint32_t creation_mask = 022;
    uint32_t peer_timeout_s = 60;
    std::vector<int> below;  // the nodes that are started from the receiver
};

struct Signal {
    int number = 0;
};
struct Stream {
    int node = 0;
    int rank = 0;
    int target = 0;  // the descriptor in the rank: 0, 1 or 2
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
    int status = 0;               // the status from waitpid
    bool inside = false;          // the rank had joined the job by PMI and not left it
    bool short_of_memory = false; // during the job the kernel has killed a process for lack of memory
    bool left = false;            // the rank had joined the job by PMI and left it
};
struct Abort {
    int rank = 0;
    int code = 0;
    bool for_error = false;  // the reason is an error, not a call of MPI_Abort
};
using AllWaits = std::vector<RankWaits>;
struct Text {
    std::string text;
};

// Makes a frame whose body contains `value`.
template <class Value>
Frame make_frame(Kind kind, const Value &value);
// Reads the value in a frame's body. False if the body is not a valid value of this type.
template <class Value>
bool read_frame(const Frame &frame, Value &value);

// Appends the bytes of a frame to `bytes`.
void append_frame(std::string &bytes, const Frame &frame);
// Reads the frame at offset `at` in `bytes` and moves `at` behind it. Returns nothing if the frame is
// incomplete. `broken` becomes true if the bytes can never become a valid frame.
std::optional<Frame> take_frame(const std::string &bytes, size_t &at, bool &broken);

}  // namespace lanyard::launch
