// Implements the guard process. See guard.h.
#include "launch/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/clock.h"
#include "launch/descendants.h"

namespace lanyard::launch {

namespace {

constexpr uint64_t leftover_grace_ns = 300'000'000;  // from TERM to KILL, for processes left by the ranks
// How long to wait for processes that KILL does not end, because they are stuck in the kernel.
constexpr uint64_t give_up_ns = 10'000'000'000;
constexpr int sweep_pause_ms = 20;
constexpr size_t stack_bytes = 128 * KiB;

std::vector<char *> pointers_to(const std::vector<std::string> &words) {
    std::vector<char *> pointers;
    for (const std::string &word : words) pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// The data of a child that becomes a rank. It lies in the guard's memory, which the child shares until it
// executes its program (as after vfork).
struct Child {
    const RankStart *start;
    const InheritedState *inherited;
    pid_t guard;
    std::vector<char *> words, shell_words, environment;
    GuardReport::Phase phase = GuardReport::executing;
    int trouble = 0;
};

// Runs in the child and executes the program. It may make system calls only, because it shares the guard's
// memory.
int become_rank(void *argument) {
    Child &child = *static_cast<Child *>(argument);
    const RankStart &start = *child.start;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != child.guard) _exit(1);
    dup2(start.in, 0);
    dup2(start.out, 1);
    dup2(start.err, 2);
    for (int fd : start.inherited) fcntl(fd, F_SETFD, 0);
    if (start.processors) sched_setaffinity(0, sizeof *start.processors, &*start.processors);
    setrlimit(RLIMIT_NOFILE, &child.inherited->descriptors);
    if (!start.folder.empty() && chdir(start.folder.c_str()) != 0) {
        child.phase = GuardReport::entering_folder;
        child.trouble = errno;
        _exit(127);
    }
    sigprocmask(SIG_SETMASK, &child.inherited->signals, nullptr);
    if (start.script) execve("/bin/sh", child.shell_words.data(), child.environment.data());
    else execve(start.path.c_str(), child.words.data(), child.environment.data());
    child.trouble = errno;
    _exit(127);
}

// Closes every descriptor above 2 except these two.
void close_all_but(int lower, int higher) {
    close_range(3, static_cast<unsigned>(lower) - 1, 0);
    if (higher > lower + 1)
        close_range(static_cast<unsigned>(lower) + 1, static_cast<unsigned>(higher) - 1, 0);
    close_range(static_cast<unsigned>(higher) + 1, ~0u, 0);
}

class GuardProcess {
public:
    GuardProcess(int control, int child_events, const std::vector<RankStart> &starts,
                 const InheritedState &inherited)
        : control_(control),
          child_events_(child_events),
          starts_(starts),
          inherited_(inherited),
          pids_(starts.size(), -1) {}
    void run();

private:
    void start_ranks();
    bool start_rank(size_t rank, char *stack_top);
    void reap();
    void obey();
    void end_what_is_left();
    void forward(int signal_number);
    void report(const GuardReport &report) {
        if (send(control_, &report, sizeof report, MSG_NOSIGNAL) < 0) mpirun_gone_ = true;
    }

    int control_;
    int child_events_;
    const std::vector<RankStart> &starts_;
    const InheritedState &inherited_;
    std::vector<pid_t> pids_;  // the process ids of living ranks; -1 for other ranks
    size_t living_ = 0;        // the number of living ranks
    bool children_ = true;     // processes of the job may exist
    bool mpirun_gone_ = false;
    bool killing_ = false;
    uint64_t leftovers_since_ns_ = 0;
    uint64_t killing_since_ns_ = 0;
};

bool GuardProcess::start_rank(size_t rank, char *stack_top) {
    const RankStart &start = starts_[rank];
    Child child{&start, &inherited_, getpid(), pointers_to(start.words), {}, pointers_to(start.environment)};
    if (start.script) {
        child.shell_words = {const_cast<char *>("/bin/sh"), const_cast<char *>(start.path.c_str())};
        child.shell_words.insert(child.shell_words.end(), child.words.begin() + 1, child.words.end());
    }
    pid_t pid = clone(become_rank, stack_top, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (pid < 0) {
        child.phase = GuardReport::making_process;
        child.trouble = errno;
    }
    if (child.trouble) {
        if (pid > 0) waitpid(pid, nullptr, 0);
        report({GuardReport::failed_to_start, static_cast<int32_t>(rank), pid, child.trouble, child.phase});
        return false;
    }
    pids_[rank] = pid;
    ++living_;
    return true;
}

void GuardProcess::start_ranks() {
    auto stack = std::make_unique<char[]>(stack_bytes);
    char *top =
        reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(stack.get()) + stack_bytes) & ~uintptr_t{63});
    for (size_t rank = 0; rank < starts_.size(); ++rank)
        if (!start_rank(rank, top)) break;
    // The guard must not keep descriptors of mpirun and the ranks open. Otherwise their other ends would not
    // notice when mpirun or a rank closes them.
    close_all_but(std::min(control_, child_events_), std::max(control_, child_events_));
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd) dup2(nowhere, fd);
    if (nowhere > 2) close(nowhere);
}

void GuardProcess::forward(int signal_number) {
    for (pid_t pid : pids_)
        if (pid > 0) kill(-pid, signal_number);
}

void GuardProcess::reap() {
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0) {
            children_ = pid == 0 || errno != ECHILD;
            return;
        }
        for (size_t rank = 0; rank < pids_.size(); ++rank) {
            if (pids_[rank] != pid) continue;
            pids_[rank] = -1;
            --living_;
            report({GuardReport::ended, static_cast<int32_t>(rank), pid, status, GuardReport::executing});
        }
    }
}

void GuardProcess::obey() {
    GuardCommand command{};
    ssize_t length = recv(control_, &command, sizeof command, MSG_DONTWAIT);
    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) mpirun_gone_ = true;
    if (length != sizeof command) return;
    if (command.kind == GuardCommand::forward) return forward(command.signal_number);
    if (command.signal_number == SIGKILL) {
        killing_ = true;
        return;
    }
    forward(command.signal_number);
    signal_descendants(getpid(), command.signal_number);
    signal_descendants(getpid(), SIGCONT);  // a stopped process ends only when it continues
}

// Ends the remaining processes, first by TERM and then by KILL. If mpirun has died or has ordered KILL, TERM
// is left out. run() calls this repeatedly until no process of the job is left, beginning when no rank lives
// any more, when mpirun has died, or when mpirun has ordered KILL.
void GuardProcess::end_what_is_left() {
    uint64_t now_ns = clock_ns();
    if (mpirun_gone_) killing_ = true;
    if (!killing_ && !leftovers_since_ns_) {
        leftovers_since_ns_ = now_ns;
        signal_descendants(getpid(), SIGTERM);
        signal_descendants(getpid(), SIGCONT);
    }
    if (leftovers_since_ns_ && now_ns - leftovers_since_ns_ > leftover_grace_ns) killing_ = true;
    if (!killing_) return;
    if (!killing_since_ns_) killing_since_ns_ = now_ns;
    forward(SIGKILL);
    signal_descendants(getpid(), SIGKILL);
}

void GuardProcess::run() {
    start_ranks();
    for (;;) {
        reap();
        bool over = killing_since_ns_ && clock_ns() - killing_since_ns_ > give_up_ns;
        if (!children_ || over) return;
        bool ending = living_ == 0 || killing_ || mpirun_gone_;
        if (ending) end_what_is_left();
        pollfd waited[2] = {{child_events_, POLLIN, 0}, {control_, POLLIN, 0}};
        poll(waited, mpirun_gone_ ? 1 : 2, ending ? sweep_pause_ms : -1);
        signalfd_siginfo ignored;
        while (read(child_events_, &ignored, sizeof ignored) > 0) continue;
        if (waited[1].revents && !mpirun_gone_) obey();
    }
}

void close_keeping_error(int descriptor) {
    int trouble = errno;
    close(descriptor);
    errno = trouble;
}

void take_own_name(char *name_area, size_t name_length) {
    constexpr char name[] = "lanyard-guard";
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (name_length < 2) return;
    memset(name_area, 0, name_length);
    strncpy(name_area, name, name_length - 1);
}

}  // namespace

Guard start_guard(const std::vector<RankStart> &ranks, const InheritedState &inherited, char *name_area,
                  size_t name_length) {
    int ends[2];
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    int child_events = signalfd(-1, &child_signal, SFD_NONBLOCK | SFD_CLOEXEC);
    if (child_events < 0) return {};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        close_keeping_error(child_events);
        return {};
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        setsid();
        take_own_name(name_area, name_length);
        adopt_orphans();
        GuardProcess(ends[1], child_events, ranks, inherited).run();
        _exit(0);
    }
    close_keeping_error(child_events);
    close_keeping_error(ends[1]);
    if (pid < 0) {
        close_keeping_error(ends[0]);
        return {};
    }
    return {pid, ends[0]};
}

}  // namespace lanyard::launch
