// The guard: a process between mpirun and the ranks. It starts the ranks, waits for them, and ensures that no
// process of the job outlives it. It is needed because a launcher killed with SIGKILL cannot clean up.
//
//     mpirun --control socket-- guard --parent of-- rank 0 ... rank N-1 -- whatever they start
//
// Every process of the job on this host descends from the guard. As a subreaper, the guard inherits processes
// whose parents have ended, so it finds even those that have left its session and process group. It ends
// everything when the control socket closes (mpirun has died). If the guard itself dies, the kernel sends
// SIGKILL to the ranks (PR_SET_PDEATHSIG), and everything else is inherited by mpirun, also a subreaper,
// which ends it. The guard has a session and a name of its own. Killing mpirun's process group, or all
// processes called mpirun, therefore does not kill both.
//
// Used by local_host.cc only. The guard runs no code of mpirun except guard.cc and descendants.cc.
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

// All that is needed to start one rank. The caller keeps the descriptors, which all close on exec.
struct RankStart {
    std::string path;
    bool script = false;  // run by /bin/sh
    std::vector<std::string> words;
    std::vector<std::string> environment;
    std::string folder;  // "" for the current one
    int in = -1, out = -1, err = -1;  // become 0, 1 and 2
    std::vector<int> inherited;       // stay open under their own numbers
    std::optional<cpu_set_t> processors;
};

// The state that mpirun has changed for itself and restores in a rank.
struct InheritedState {
    sigset_t signals;
    rlimit descriptors;
};

struct GuardReport {
    enum Kind : int32_t { failed_to_start, ended };
    enum Stage : int32_t { making_process, entering_folder, executing };
    Kind kind;
    int32_t rank;
    int32_t pid;
    int32_t status;       // of ended: as from waitpid; of failed_to_start: the errno value
    Stage stage;          // of failed_to_start
};

struct GuardCommand {
    enum Kind : int32_t { forward, end_all };
    Kind kind;
    // forward: to the ranks and their process groups; end_all: to every process of the job
    int32_t signal_number;
};

struct Guard {
    pid_t pid = -1;
    // seqpacket: GuardCommand in, GuardReport out; its end of file means that nothing of the job is left
    int control = -1;
};

// Starts the guard, which starts the ranks. `name_area` is the memory of the argument words of the calling
// process, into which the guard writes its name. After a failure, pid is -1 and errno is set.
Guard start_guard(const std::vector<RankStart> &ranks, const InheritedState &inherited, char *name_area,
                  size_t name_length);

}  // namespace lanyard::launch
