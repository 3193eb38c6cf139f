// See no_memory.h.
#include "base/no_memory.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "base/log.h"

namespace lanyard {

namespace {

struct Limit {
    __rlimit_resource resource;
    const char *option;  // the option of the shell's ulimit that sets it
};
constexpr Limit limits[] = {{RLIMIT_AS, "-v"}, {RLIMIT_DATA, "-d"}};

constexpr unsigned longest_flush_s = 2;

const char *who_ends = "Lanyard";
int code_of_end = 1;

// Writes the part of the message that follows "gets no more memory": the limits of this process, or that the
// machine has no memory left, and what to do.
void write_reason(char *text, size_t room) {
    size_t used = 0;
    for (const Limit &limit : limits) {
        rlimit set{};
        if (getrlimit(limit.resource, &set) != 0 || set.rlim_cur == RLIM_INFINITY) continue;
        auto kib = static_cast<unsigned long long>(set.rlim_cur) / 1024;
        int more = std::snprintf(text + used, room - used, "%s ulimit %s allows it %llu KiB",
                                 used ? " and" : ":", limit.option, kib);
        used = std::min(used + static_cast<size_t>(more), room - 1);
    }
    const char *advice = used ? "; raise that, or ask for less"
                              : ": the machine refuses it; start fewer processes here, or ask for less";
    std::snprintf(text + used, room - used, "%s", advice);
}

// Writes out what the program has printed. After longest_flush_s the process ends, even if a stream is still
// locked or cannot be written.
void flush_streams() {
    signal(SIGALRM, [](int) { _exit(code_of_end); });
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    alarm(longest_flush_s);
    std::fflush(nullptr);
}

}  // namespace

void end_where_new_fails(const char *who, int exit_code) {
    who_ends = who;
    code_of_end = exit_code;
    std::set_new_handler(end_without_memory);
}

void end_without_memory() {
    char reason[200], line[400];
    write_reason(reason, sizeof reason);
    const char *name = shown_log_name();
    int wanted = std::snprintf(line, sizeof line, "%s: %s gets no more memory%s; it ends\n", who_ends,
                               *name ? name : "this process", reason);
    size_t length = std::min(static_cast<size_t>(wanted), sizeof line - 1);
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, length);
    flush_streams();
    _exit(code_of_end);
}

}  // namespace lanyard
