// Diagnostics for people, off unless asked for: LANYARD_LOG=info|debug|trace[,part,part...]. Lines go to standard error,
// each written at once, with rank and part. A success prints nothing; warnings (level warn) are always shown.
#pragma once

#include <atomic>
#include <cstdarg>

namespace lanyard {

// The words of LANYARD_LOG, for checking it and for telling what may be asked for. A line's part is one of these.
struct LogName {
    const char *name, *sentence;
};
inline constexpr LogName log_levels[] = {
    {"info", "what is out of the ordinary"},
    {"debug", "also each decision, once"},
    {"trace", "also each step off the short way of a message"},
};
inline constexpr LogName log_parts[] = {
    {"settings", "settings that differ from their defaults"},
    {"launch", "how this process joined its job"},
    {"paths", "the ways to reach other processes"},
    {"shm", "the segment of the node, rings in it, direct copies"},
    {"tcp", "connections made, lost and refused"},
    {"p2p", "messages that wait, and long ones"},
    {"comm", "communicators made"},
    {"coll", "algorithms chosen for collectives"},
    {"engine", "who moves messages"},
    {"dgram", "datagrams lost, and sent again"},
    {"check", "what LANYARD_CHECK finds"},
    {"profile", "the profile's file"},
};

enum class LogLevel : int { warn = 0, info = 1, debug = 2, trace = 3 };

namespace detail {
extern std::atomic<int> log_level;  // highest level shown for some part; read before anything is formatted. -1: tests that expect warnings
}

inline bool log_enabled(LogLevel level) { return static_cast<int>(level) <= detail::log_level.load(std::memory_order_relaxed); }

// Sets what is shown, at any time; `specification` as in LANYARD_LOG. False when it cannot be understood.
bool set_log(const char *specification);
// The prefix of lines from now on, e.g. "rank 3".
void set_log_name(const char *name);
const char *shown_log_name();  // "": none
void log(LogLevel level, const char *part, const char *format, ...) __attribute__((format(printf, 3, 4)));

}  // namespace lanyard
