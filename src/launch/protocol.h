// What mpirun and its agents on other hosts say to each other.
//
//     mpirun --remote shell-- agent on b --remote shell-- agent on e ...      a tree; each agent starts up to fan-out others
//       |                       |
//     guard, ranks            guard, ranks
//
// Rule: the bytes go through the remote shell's standard input (down, from mpirun) and standard output (up): no port is
// opened, no secret is needed, and what protects the remote shell protects them. The agent speaks first, one line of text,
//     \nlanyard-agent PROTOCOL VERSION\n
// What a login prints before that line is kept only to be shown if the agent does not come. Unless both numbers are those
// of whoever started it, nothing else is ever read from it. Then there are frames in both directions:
//     length of the body (4 bytes)  kind (1 byte)  body
// Numbers have their lowest byte first; a text or list has its length (4 bytes) before it. A frame that cannot be read ends
// the connection, and a connection that ends before `over` was said is the loss of the host and of all behind it.
//
// Downwards: `job`, the first frame, is the whole job and the agent's part in it. The agent looks for programs and
// folders, starts the agents below it, and says `ready` when they have: only then, when all hosts are ready, `start` has
// the ranks started everywhere, so that a program missing on one host is found before anything has run.
// Upwards: what has happened to single ranks is passed on as it comes; `ready`, `over` and `barrier` are said once by an
// agent for all hosts below it. After `over` nothing of the job is left there, and nothing more is said.
// Streams: bytes of output and input may be under way only as far as credit was given (stream_window for each of a host's
// standard output, standard error and input), so nobody's queue grows with a slow reader, and what is urgent never
// waits behind more than that. A credit or input frame names the node it is for; hosts on the way pass it on.
// Values that ranks publish by PMI travel up with `barrier` and down with its release: one message a host and direction.
// Who has nothing to say sends `alive` from time to time; who has not been heard of for LANYARD_PEER_TIMEOUT is lost.
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
    // both ways
    alive = 1,
    // down
    job,            // Assignment
    start,          // the ranks
    signal,         // Signal: to the ranks and their process groups
    end,            // Signal: to every process of the job
    ask_waits,
    output_credit,  // Stream, bytes empty
    output_closed,  // Stream: nobody reads it any more
    input,          // Stream: for the rank that reads; empty: its end
    release,        // Values: of all ranks, and the barrier is over
    answer,         // Answer
    // up
    ready,
    failed,         // Failure
    note,           // text to be shown, the job goes on
    ended,          // RankEnd
    aborted,        // Abort
    output,         // Stream; empty: its end
    input_credit,   // Stream, bytes empty
    waits,          // list of RankWaits
    barrier,        // Values: all ranks from here on have entered
    ask,            // key
    departed,       // all ranks from here on have ended in order and count as entered in every barrier
    over,
};

struct Frame {
    Kind kind = Kind::alive;
    std::string body;
};

// The job, and the part that the receiver has in it.
struct Assignment {
    std::string job;  // its name
    Plan plan;
    std::vector<std::string> environment;  // mpirun's, to go before the other host's own
    std::string folder;                    // where mpirun was started
    std::string agent;                     // path of the agent on other hosts
    uint32_t creation_mask = 022;
    uint32_t peer_timeout_s = 60;
    std::vector<int> below;  // nodes to be started from here
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
    bool short_of_memory = false; // the kernel has killed for want of memory meanwhile
    bool left = false;            // it had joined the job by PMI and left it
};
struct Abort {
    int rank = 0;
    int code = 0;
    bool for_error = false;  // not because the program called MPI_Abort
};
using AllWaits = std::vector<RankWaits>;
struct Text {
    std::string text;
};

// A frame with `value` as its body, and back; false for what is none.
template <class Value>
Frame make_frame(Kind kind, const Value &value);
template <class Value>
bool read_frame(const Frame &frame, Value &value);

// The bytes of a frame. Takes the first frame off `bytes`, from offset `at`, which it advances; nothing when it is not there as a whole yet;
// `broken` is set when it never will be.
void append_frame(std::string &bytes, const Frame &frame);
std::optional<Frame> take_frame(const std::string &bytes, size_t &at, bool &broken);

}  // namespace lanyard::launch
