// Finds the processes that descend from one process. See descendants.h.
#include "launch/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace lanyard::launch {

namespace {

struct Process {
    pid_t pid;
    pid_t parent;
    char state;
    unsigned flags;
    long threads;  // those that have not ended, and the first thread

    // A process whose first thread has ended is in the state Z even while other threads run.
    bool ended() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

// Reads a process from /proc/PID/stat, "PID (NAME) STATE PARENT ...". The name may contain any character.
bool read_process(const char *pid_text, Process &process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid_text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char text[512];
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) return false;
    text[length] = 0;
    const char *after_name = strrchr(text, ')');
    process.pid = static_cast<pid_t>(atol(pid_text));
    // Between the flags and the number of threads are four counts of page faults, four times and two
    // priorities.
    return after_name &&
           sscanf(after_name + 1, " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                  &process.state, &process.parent, &process.flags, &process.threads) == 4;
}

// All processes, also those that have ended and still have to be reaped.
std::vector<Process> all_processes() {
    std::vector<Process> processes;
    DIR *folder = opendir("/proc");
    if (!folder) return processes;
    while (dirent *entry = readdir(folder)) {
        Process process{};
        bool is_process = entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
        if (is_process && read_process(entry->d_name, process)) processes.push_back(process);
    }
    closedir(folder);
    return processes;
}

bool contains(const std::vector<pid_t> &list, pid_t pid) {
    return std::find(list.begin(), list.end(), pid) != list.end();
}

}  // namespace

bool lives_on(pid_t pid) {
    constexpr unsigned exiting = 4;  // the kernel's flag PF_EXITING, of the first thread
    Process process{};
    return pid > 0 && read_process(std::to_string(pid).c_str(), process) && process.state != 'Z' &&
           process.state != 'X' && !(process.flags & exiting);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants_of(pid_t root, const std::vector<pid_t> &spared) {
    std::vector<Process> processes = all_processes();
    std::vector<pid_t> found = {root};
    for (size_t next = 0; next < found.size(); ++next)
        for (const Process &process : processes)
            if (process.parent == found[next] && !process.ended() && !contains(spared, process.pid))
                found.push_back(process.pid);
    found.erase(found.begin());
    return found;
}

int signal_descendants(pid_t root, int signal_number, const std::vector<pid_t> &spared) {
    std::vector<pid_t> found = descendants_of(root, spared);
    for (pid_t pid : found) kill(pid, signal_number);
    return static_cast<int>(found.size());
}

void reap_children(const std::vector<pid_t> &spared) {
    for (const Process &process : all_processes())
        if (process.parent == getpid() && process.ended() && !contains(spared, process.pid))
            waitpid(process.pid, nullptr, WNOHANG);
}

}  // namespace lanyard::launch
