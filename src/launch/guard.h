// The guard is a process between mpirun and the ranks of a host. It starts the ranks, waits for them, and
// ensures that no process of the job remains when the job has ended. It is needed because a launcher that is
// killed with SIGKILL cannot clean up.
//
//     mpirun --control socket-- guard --parent of-- rank 0 ... rank N-1 -- whatever they start
//
// Every process of the job on this host descends from the guard. As a subreaper, the guard inherits processes
// whose parents have ended, so it finds even processes that have left the guard's session and process group.
// When the control socket closes, mpirun has died, and the guard ends all these processes. If the guard
// itself dies, the kernel sends SIGKILL to the ranks (PR_SET_PDEATHSIG). mpirun, which is also a subreaper,
// inherits all other processes of the job and ends them. The guard has a session and a name of its own. So
// killing mpirun's process group, or all processes called mpirun, does not kill both mpirun and the guard.
//
// Only local_host.cc uses the guard. The guard runs no code of mpirun except guard.cc and descendants.cc.
// Tested by: tests/launch/test_endings.py, tests/launch/test_start.py.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanyard::launch {

// What is needed to start one rank. The descriptors still belong to the caller, and all of them close on
// exec.
struct RankStart {
    std::string path;
    bool script = false;  // the file is run by /bin/sh
    std::vector<std::string> words;
    std::vector<std::string> environment;
    std::string folder;  // where the rank starts; "" for the current folder
    int in = -1, out = -1, err = -1;  // these become the rank's descriptors 0, 1 and 2
    std::vector<int> inherited;       // these stay open in the rank, with the same numbers
    std::optional<cpu_set_t> processors;
};

// State that mpirun has changed for itself, and that is restored in each rank.
struct InheritedState {
    sigset_t signals;
    rlimit descriptors;
};

struct GuardReport {
    enum Kind : int32_t { failed_to_start, ended };
    enum Phase : int32_t { making_process, entering_folder, executing };
    Kind kind;
    int32_t rank;         // the rank's place among the ranks that the guard was given
    int32_t pid;
    int32_t status;       // for ended: the status from waitpid; for failed_to_start: the errno value
    Phase phase;          // for failed_to_start: what was being done
};

struct GuardCommand {
    enum Kind : int32_t { forward, end_all };
    Kind kind;
    // `forward` sends this signal to the process group of each living rank, and `end_all` to every process of
    // the job. After `end_all` with SIGKILL, the guard repeats this until no process is left.
    int32_t signal_number;
};

struct Guard {
    pid_t pid = -1;
    // A seqpacket socket that takes GuardCommands and returns GuardReports. Its end of file means that the
    // guard has ended: because no process of the job is left, because some did not end within 10 s after
    // SIGKILL, or because the guard was killed. The last case shows in the guard's status (waitpid).
    int control = -1;
};

// Starts the guard, which starts the ranks. `name_area` is the memory of the argument words of the calling
// process, into which the guard writes its name. After a failure, the guard's pid is -1 and errno is set.
Guard start_guard(const std::vector<RankStart> &ranks, const InheritedState &inherited, char *name_area,
                  size_t name_length);

}  // namespace lanyard::launch
