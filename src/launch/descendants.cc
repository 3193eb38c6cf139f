// Finds the processes that descend from one process. See descendants.h.
#include "launch/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

namespace lanyard::launch {

namespace {

struct Process {
    pid_t pid;
    pid_t parent;
};

// Reads state, parent and flags of a process from /proc/PID/stat, "PID (NAME) STATE PARENT ...". The name may
// contain any character.
bool read_process(const char *pid_text, Process &process, char &state, unsigned &flags) {
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
    return after_name &&
           sscanf(after_name + 1, " %c %d %*d %*d %*d %*d %u", &state, &process.parent, &flags) == 3;
}

std::vector<Process> living_processes() {
    std::vector<Process> processes;
    DIR *folder = opendir("/proc");
    if (!folder) return processes;
    while (dirent *entry = readdir(folder)) {
        Process process{};
        char state = 0;
        unsigned flags = 0;
        bool is_process = entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
        if (is_process && read_process(entry->d_name, process, state, flags) && state != 'Z' && state != 'X')
            processes.push_back(process);
    }
    closedir(folder);
    return processes;
}

}  // namespace

bool lives_on(pid_t pid) {
    constexpr unsigned exiting = 4;  // the kernel's flag PF_EXITING
    Process process{};
    char state = 0;
    unsigned flags = 0;
    return pid > 0 && read_process(std::to_string(pid).c_str(), process, state, flags) && state != 'Z' &&
           state != 'X' && !(flags & exiting);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants_of(pid_t root) {
    std::vector<Process> processes = living_processes();
    std::vector<pid_t> found = {root};
    for (size_t next = 0; next < found.size(); ++next)
        for (const Process &process : processes)
            if (process.parent == found[next]) found.push_back(process.pid);
    found.erase(found.begin());
    return found;
}

int signal_descendants(pid_t root, int signal_number) {
    std::vector<pid_t> found = descendants_of(root);
    for (pid_t pid : found) kill(pid, signal_number);
    return static_cast<int>(found.size());
}

}  // namespace lanyard::launch
