// The guard: a process between mpirun and the ranks that starts them, waits for them and sees to it that no process of
// the job outlives it. It is needed because a launcher killed with -9 cannot clean up after itself.
//
//     mpirun --control socket-- guard --parent of-- rank 0 ... rank N-1 -- whatever they start
//
// Theory: every process of the job descends from the guard, and as a subreaper it inherits those whose parents die, so
// even what has left its session and process group is found. The guard ends everything when the control socket closes
// (mpirun died). When the guard itself dies, the ranks get SIGKILL from the kernel (PR_SET_PDEATHSIG) and everything
// else comes to mpirun, also a subreaper, which ends it. The guard has a session and a name of its own, so that killing
// mpirun's process group, or all that is called mpirun, does not kill both.
// Called by job.cc only. The guard runs no code of mpirun's but guard.cc and descendants.cc.
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

// All that is needed to start one rank. Descriptors stay the caller's; they all close on exec.
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

// What mpirun changed of its own state and a rank gets back.
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
    int32_t signal_number;  // forward: to the ranks and their process groups; end_all: to every process of the job
};

struct Guard {
    pid_t pid = -1;
    int control = -1;  // seqpacket: GuardCommand in, GuardReport out; its end of file means that nothing of the job is left
};

// Starts the guard, which starts the ranks. `name_area` is the memory of mpirun's own argument words, in which the
// guard writes its name. A failure leaves pid -1 and errno set.
Guard start_guard(const std::vector<RankStart> &ranks, const InheritedState &inherited, char *name_area, size_t name_length);

}  // namespace lanyard::launch
