// Runs one job; see job.h. Everything happens in one loop: reports of the guard, signals, what ranks print and ask.
//
// The first failure decides the exit code and is told in one sentence; then the others get SIGTERM and, after a grace,
// SIGKILL. What dies after that is not news. The job is over when the guard closes its end of the control socket: then no
// process of the job is left.
#include "launch/job.h"

#include <errno.h>
#include <fmt/format.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "launch/descendants.h"
#include "launch/memory_kills.h"
#include "launch/prepare.h"
#include "launch/waits.h"

namespace lanyard::launch {

namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t term_grace_ns = second_ns;       // from TERM to KILL
constexpr uint64_t quiet_exit_grace_ns = 2 * second_ns;  // for the others to follow a rank that ended without MPI_Finalize
constexpr uint64_t give_up_ns = 10 * second_ns;     // for processes that even KILL does not end
constexpr int exit_own_trouble = 1;
constexpr int forwarded_signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH};

std::string random_job_id() {
    uint64_t random[2] = {};
    if (getrandom(random, sizeof random, 0) != sizeof random) random[0] = clock_ns() ^ static_cast<uint64_t>(getpid()) << 32;
    return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

std::string signal_text(int signal_number) {
    const char *name = sigabbrev_np(signal_number);
    const char *description = sigdescr_np(signal_number);
    if (!name || !description) return fmt::format("signal {}", signal_number);
    return fmt::format("signal {} (SIG{}: {})", signal_number, name, description);
}

class Job {
public:
    Job(const Plan &plan, char **environment)
        : plan_(plan), environment_(environment), id_(random_job_id()), output_(loop_, plan.tag_output, plan.ranks()),
          pmi_(loop_, plan.ranks(), id_, [this](int rank, int code) { on_abort(rank, code); }) {}
    int run(char *name_area, size_t name_length);

private:
    void block_signals();
    void raise_descriptor_limit();
    bool start(char *name_area, size_t name_length);
    void on_signals();
    void on_signal(int signal_number);
    void stop_with_the_job();
    void on_reports();
    void on_report(const GuardReport &report);
    void on_failed_start(const GuardReport &report);
    void on_end(int rank, int pid, int status);
    void on_abort(int rank, int code);
    void on_guard_gone();
    void end_without_guard();
    void check_deadlines(uint64_t now_ns);
    int time_to_wait_ms(uint64_t now_ns) const;
    void fail(int exit_code, const std::string &sentence);
    void end_job();
    void command(GuardCommand::Kind kind, int signal_number);
    void say(const std::string &sentence) { output_.say("mpirun: " + sentence + "\n"); }
    std::string who(int rank, int pid) const;
    std::string killed_by(int signal_number, bool core_dumped) const;

    const Plan &plan_;
    char **environment_;
    std::string id_;
    Loop loop_;
    Output output_;
    PmiServer pmi_;
    Prepared prepared_;
    Guard guard_;
    InheritedState inherited_{};
    int signals_ = -1;
    int ranks_running_ = 0;
    int exit_code_ = 0;
    bool failed_ = false;
    bool guard_gone_ = false;
    bool ending_ = false;
    bool abandoned_ = false;  // asked to end while only output was left to write
    int end_requests_ = 0;    // INT, TERM or HUP received
    unsigned long forwarded_ = 0;  // signals passed on, as bits
    int quiet_rank_ = -1;     // ended with 0 while inside MPI
    long memory_kills_before_ = 0;
    uint64_t kill_at_ns_ = UINT64_MAX;
    uint64_t timeout_at_ns_ = UINT64_MAX;
    uint64_t quiet_until_ns_ = UINT64_MAX;
};

// Signals are read from a descriptor. Those that were ignored when mpirun was started (nohup) stay so, for the ranks too.
void Job::block_signals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal_number : forwarded_signals) sigaddset(&handled, signal_number);
    sigaddset(&handled, SIGQUIT);
    for (int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        struct sigaction action;
        if (sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) sigdelset(&handled, signal_number);
    }
    signal(SIGCHLD, SIG_DFL);  // whoever ignores it is not told how processes ended
    sigset_t blocked = handled;
    sigaddset(&blocked, SIGPIPE);  // a reader who left is an error of write
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &inherited_.signals);
    signals_ = signalfd(-1, &handled, SFD_NONBLOCK | SFD_CLOEXEC);
    loop_.add(signals_, EPOLLIN, [this](uint32_t) { on_signals(); });
}

void Job::raise_descriptor_limit() {
    getrlimit(RLIMIT_NOFILE, &inherited_.descriptors);
    rlimit raised = inherited_.descriptors;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

bool Job::start(char *name_area, size_t name_length) {
    raise_descriptor_limit();
    auto trouble = prepare(plan_, environment_, id_, pmi_, output_, prepared_);
    if (trouble) {
        fail(trouble->exit_code, trouble->sentence);
        return false;
    }
    for (const std::string &note : prepared_.notes) say(note);
    memory_kills_before_ = memory_kills();
    adopt_orphans();
    guard_ = start_guard(prepared_.starts, inherited_, name_area, name_length);
    if (guard_.pid < 0) {
        fail(exit_own_trouble, fmt::format("the process that guards the ranks cannot be started: {}", system_text(errno)));
        return false;
    }
    std::sort(prepared_.for_ranks.begin(), prepared_.for_ranks.end());
    for (int fd : prepared_.for_ranks) close(fd);
    loop_.add(guard_.control, EPOLLIN, [this](uint32_t) { on_reports(); });
    ranks_running_ = plan_.ranks();
    if (plan_.timeout_s > 0) timeout_at_ns_ = clock_ns() + static_cast<uint64_t>(plan_.timeout_s * 1e9);
    return true;
}

std::string Job::who(int rank, int pid) const {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const std::string &program = prepared_.starts[static_cast<size_t>(rank)].words[0];
    std::string process = pid > 0 ? fmt::format("process {} ", pid) : "";
    return fmt::format("rank {} ({}, {}on {})", rank, program, process, host);
}

void Job::command(GuardCommand::Kind kind, int signal_number) {
    GuardCommand command{kind, signal_number};
    if (guard_.control >= 0) send(guard_.control, &command, sizeof command, MSG_NOSIGNAL);
}

// The first failure counts and is told; "" where the user knows already.
void Job::fail(int exit_code, const std::string &sentence) {
    if (!failed_) {
        // Ranks whose output cannot be written die of it: the cause is told, not the consequence.
        bool cannot_write = !output_.trouble().empty();
        failed_ = true;
        exit_code_ = cannot_write ? exit_own_trouble : exit_code;
        if (cannot_write || !sentence.empty()) say(cannot_write ? output_.trouble() : sentence);
    }
    end_job();
}

void Job::end_job() {
    if (ending_) return;
    ending_ = true;
    timeout_at_ns_ = quiet_until_ns_ = UINT64_MAX;
    command(GuardCommand::end_all, SIGTERM);
    kill_at_ns_ = clock_ns() + term_grace_ns;
}

void Job::on_signals() {
    signalfd_siginfo about;
    while (read(signals_, &about, sizeof about) == sizeof about) on_signal(static_cast<int>(about.ssi_signo));
}

void Job::on_signal(int signal_number) {
    if (signal_number == SIGQUIT) {
        output_.say("mpirun: what the ranks are waiting for:\n" + report_waits(prepared_.segment, pmi_.stages()));
        return;
    }
    forwarded_ |= 1ul << signal_number;
    command(GuardCommand::forward, signal_number);
    if (signal_number == SIGTSTP) return stop_with_the_job();
    bool asks_to_end = signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP;
    if (!asks_to_end) return;
    if (guard_gone_) abandoned_ = true;
    if (++end_requests_ >= 2 && !guard_gone_) fail(128 + signal_number, "");
}

// As the shell expects of a job it suspends; SIGCONT then arrives like other signals and is passed on.
void Job::stop_with_the_job() { kill(getpid(), SIGSTOP); }

void Job::on_reports() {
    for (;;) {
        GuardReport report{};
        ssize_t length = recv(guard_.control, &report, sizeof report, MSG_DONTWAIT);
        if (length == sizeof report) {
            on_report(report);
            continue;
        }
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
        return on_guard_gone();
    }
}

void Job::on_report(const GuardReport &report) {
    if (report.kind == GuardReport::failed_to_start) return on_failed_start(report);
    --ranks_running_;
    // What the rank said last, to people and to us, comes before what is said about its end.
    output_.catch_up();
    pmi_.rank_ended(report.rank);
    on_end(report.rank, report.pid, report.status);
}

void Job::on_failed_start(const GuardReport &report) {
    const RankStart &start = prepared_.starts[static_cast<size_t>(report.rank)];
    std::string reason = system_text(report.status);
    if (report.stage == GuardReport::making_process)
        return fail(exit_own_trouble, fmt::format("{} cannot be started: no new process could be made: {}", who(report.rank, 0), reason));
    if (report.stage == GuardReport::entering_folder)
        return fail(exit_usage, fmt::format("rank {}: -wdir {}: {}", report.rank, start.folder, reason));
    if (report.status == ENOENT) reason = "the interpreter or loader it names in its first bytes is missing";
    if (report.status == ENOEXEC) reason = "it is no program for this machine";
    fail(exit_not_executable, fmt::format("{} cannot be started: {}: {}", who(report.rank, 0), start.path, reason));
}

std::string Job::killed_by(int signal_number, bool core_dumped) const {
    std::string text = "was killed by " + signal_text(signal_number);
    if (core_dumped) text += ", core dumped";
    if (signal_number == SIGKILL && memory_kills() > memory_kills_before_)
        text += "; the kernel has killed a process of this group for want of memory (out of memory) meanwhile";
    return text;
}

void Job::on_end(int rank, int pid, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (!pmi_.inside(rank) || ranks_running_ == 0 || quiet_rank_ >= 0) return;
        quiet_rank_ = rank;
        if (!ending_) quiet_until_ns_ = clock_ns() + quiet_exit_grace_ns;
        return;
    }
    if (failed_) return;
    if (WIFEXITED(status)) return fail(WEXITSTATUS(status), fmt::format("{} ended with exit code {}", who(rank, pid), WEXITSTATUS(status)));
    int signal_number = WTERMSIG(status);
    // Signals that mpirun was sent itself, and a closed pipe that the user closed, are no news.
    bool expected = (signal_number < 64 && forwarded_ >> signal_number & 1) || (signal_number == SIGPIPE && output_.reader_gone());
    fail(128 + signal_number, expected ? "" : fmt::format("{} {}", who(rank, pid), killed_by(signal_number, WCOREDUMP(status))));
}

void Job::on_abort(int rank, int code) {
    // An exit code has eight bits; what is a failure must not become a success by losing the others.
    int exit_code = code != 0 && (code & 255) == 0 ? 1 : code & 255;
    output_.catch_up();  // what the rank said before it asked
    fail(exit_code, fmt::format("{} ended the job with MPI_Abort, code {}", who(rank, 0), code));
}

void Job::on_guard_gone() {
    guard_gone_ = true;
    loop_.remove(guard_.control);
    close(guard_.control);
    guard_.control = -1;
    int status = 0;
    waitpid(guard_.pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) end_without_guard();
    kill_at_ns_ = timeout_at_ns_ = quiet_until_ns_ = UINT64_MAX;
    output_.drain();
    if (!output_.trouble().empty()) fail(exit_own_trouble, "");
}

// The guard was killed: the ranks with it, by the kernel; what they had started has come to this process.
void Job::end_without_guard() {
    uint64_t until_ns = clock_ns() + give_up_ns;
    while (clock_ns() < until_ns) {
        signal_descendants(getpid(), SIGKILL);
        pid_t pid = 0;
        while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0) continue;
        if (pid < 0 && errno == ECHILD) break;
        usleep(5000);
    }
    fail(128 + SIGKILL, "the process that guards the ranks (lanyard-guard) was killed, and the job with it");
}

void Job::check_deadlines(uint64_t now_ns) {
    output_.tick(now_ns);
    if (!output_.trouble().empty()) fail(exit_own_trouble, "");
    if (now_ns >= kill_at_ns_) {
        kill_at_ns_ = UINT64_MAX;
        command(GuardCommand::end_all, SIGKILL);
    }
    if (now_ns >= timeout_at_ns_) {
        std::string waits = report_waits(prepared_.segment, pmi_.stages());
        fail(exit_timeout, fmt::format("the job has run for the {} s of --timeout and is ended; what the ranks are waiting for:\n{}", plan_.timeout_s,
                                       waits.substr(0, waits.size() - 1)));
    }
    if (now_ns >= quiet_until_ns_) {
        quiet_until_ns_ = UINT64_MAX;
        fail(exit_own_trouble, fmt::format("{} ended with exit code 0 but without calling MPI_Finalize, while {}",
                                           who(quiet_rank_, 0),
                                           ranks_running_ == 1 ? "another rank goes on" : fmt::format("{} other ranks go on", ranks_running_)));
    }
}

int Job::time_to_wait_ms(uint64_t now_ns) const {
    uint64_t next = std::min({kill_at_ns_, timeout_at_ns_, quiet_until_ns_, output_.deadline_ns()});
    if (next == UINT64_MAX) return -1;
    if (next <= now_ns) return 0;
    return static_cast<int>(std::min<uint64_t>((next - now_ns) / 1'000'000 + 1, 1'000'000));
}

int Job::run(char *name_area, size_t name_length) {
    block_signals();
    bool running = start(name_area, name_length);
    guard_gone_ = !running;
    while (!guard_gone_ || (!output_.empty() && !abandoned_)) {
        loop_.wait(time_to_wait_ms(clock_ns()));
        check_deadlines(clock_ns());
    }
    return exit_code_;
}

}  // namespace

int run_job(const Plan &plan, char **environment, char *name_area, size_t name_length) {
    return Job(plan, environment).run(name_area, name_length);
}

}  // namespace lanyard::launch
