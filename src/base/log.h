// Diagnostics for people, off unless requested: LANYARD_LOG=info|debug|trace[,part,part...]. Each line is
// written to standard error by one call, with rank and part. Success prints nothing. Warnings (level warn)
// are always shown.
// Thread rule: any thread, except set_log_name(), which changes a string that log() reads.
#pragma once

#include <atomic>
#include <cstdarg>

namespace lanyard {

// The words of LANYARD_LOG, for checking it and for describing the choices. The part of each line is one of
// these.
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
// The highest level shown for any part, read before formatting. -1: tests that expect warnings.
extern std::atomic<int> log_level;
}

inline bool log_enabled(LogLevel level) {
    return static_cast<int>(level) <= detail::log_level.load(std::memory_order_relaxed);
}

// Sets what is shown, at any time. `specification` is as in LANYARD_LOG. False if it is malformed.
bool set_log(const char *specification);
// The prefix of lines from now on, as in "rank 3".
void set_log_name(const char *name);
const char *shown_log_name();  // "": no name is set
void log(LogLevel level, const char *part, const char *format, ...) __attribute__((format(printf, 3, 4)));

}  // namespace lanyard
