// Writes diagnostics for people. They are off unless requested: LANYARD_LOG=info|debug|trace[,part,part...].
// Each line is written to standard error by one call, with rank and part. Success prints nothing. Warnings
// (level warn) are always shown.
// Thread rule: any thread, except set_log_name(), which changes a string that log() reads.
#pragma once

#include <atomic>
#include <cstdarg>

namespace lanyard {

// The words that LANYARD_LOG may contain, levels and parts. They are used for checking the setting and for
// describing it. The part of each line of the log is one of log_parts.
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
    {"paths", "the paths to other processes"},
    {"shm", "the segment of the node, rings in it, direct copies"},
    {"tcp", "connections made, lost and refused"},
    {"p2p", "messages that wait, and long ones"},
    {"comm", "communicators made"},
    {"coll", "algorithms chosen for collectives"},
    {"engine", "what moves messages"},
    {"dgram", "datagrams lost, and sent again"},
    {"check", "what LANYARD_CHECK finds"},
    {"profile", "the profile's file"},
};

enum class LogLevel : int { warn = 0, info = 1, debug = 2, trace = 3 };

namespace detail {
// The highest level that is shown for any part, read before a line is formatted. Tests that expect warnings
// set it to -1, which hides warnings, too.
extern std::atomic<int> log_level;
}

inline bool log_enabled(LogLevel level) {
    return static_cast<int>(level) <= detail::log_level.load(std::memory_order_relaxed);
}

// Sets what is shown. May be called at any time. `specification` is a value of LANYARD_LOG; null or "" shows
// only warnings. False if its level is unknown; unknown parts are ignored.
bool set_log(const char *specification);
// Sets the name of this process that begins all further lines, as in "rank 3".
void set_log_name(const char *name);
const char *shown_log_name();  // "" if no name is set
void log(LogLevel level, const char *part, const char *format, ...) __attribute__((format(printf, 3, 4)));

}  // namespace lanyard
