// Runs one job. See job.h. One loop handles everything: reports of the hosts where ranks run (host.h),
// signals, output, and requests of ranks. This file does not distinguish ranks on this machine from others.
//
//     Job -- HostTree --- LocalHost: guard, ranks          this machine, if it is one of the hosts
//                     \-- RemoteHost --ssh-- Agent -- HostTree --- LocalHost: guard, ranks
//                     \-- ...                               \-- RemoteHost --ssh-- ...
//
// The first failure determines the exit code and is reported in one sentence. All processes of the job then
// receive SIGTERM and, after a grace period, SIGKILL. Ranks that die after the first failure are not
// reported. The job is over when the host tree reports `over`: then no process of the job is left.
#include "launch/job.h"

#include <errno.h>
#include <fmt/format.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "launch/descendants.h"
#include "launch/environment.h"
#include "launch/host_tree.h"
#include "launch/output.h"
#include "launch/remote_streams.h"
#include "launch/waits.h"
#include "launch/wording.h"

namespace lanyard::launch {

namespace {

constexpr uint64_t term_grace_ns = second_ns;       // from TERM to KILL
// After a rank has ended without MPI_Finalize, how long the others have to end as well.
constexpr uint64_t quiet_exit_grace_ns = 2 * second_ns;
constexpr uint64_t end_patience_ns = 5 * second_ns;  // how long to wait for hosts that do not report the end
constexpr uint64_t waits_patience_ns = second_ns;   // how long hosts have to report what their ranks wait for
constexpr int forwarded_signals[] = {SIGHUP,  SIGINT,  SIGTERM, SIGUSR1, SIGUSR2,
                                     SIGALRM, SIGCONT, SIGTSTP, SIGWINCH};

std::string random_job_id() {
    uint64_t random[2] = {};
    if (getrandom(random, sizeof random, 0) != sizeof random)
        random[0] = clock_ns() ^ static_cast<uint64_t>(getpid()) << 32;
    return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

class Job {
public:
    Job(const Plan &plan, char **environment, char *name_area, size_t name_length)
        : plan_(plan),
          surroundings_{environment, environment, {}, name_area, name_length},
          output_(loop_, plan.tag_output, plan.ranks()) {}
    int run();

private:
    void block_signals();
    void start();
    void describe_job(const Settings &settings);
    void connect_input();
    void on_signals();
    void on_signal(int signal_number);
    void stop_with_the_job();
    void on_report(const Frame &frame);
    void on_ready();
    void on_rank_end(const RankEnd &end);
    void on_end(const RankEnd &end);
    void on_abort(const Abort &abort);
    void on_over();
    void ask_waits(bool time_is_over);
    void on_waits(const AllWaits &waits);
    void tell_waits();
    void check_deadlines(uint64_t now_ns);
    void check_output();
    void tell_missing_profile();
    int time_to_wait_ms(uint64_t now_ns) const;
    void fail(int exit_code, const std::string &sentence);
    void end_job();
    void command(Kind kind, int signal_number) {
        if (hosts_) hosts_->command(make_frame(kind, Signal{signal_number}));
    }
    void say(const std::string &sentence) { output_.say("mpirun: " + sentence + "\n"); }
    std::string killed_by(const RankEnd &end) const;
    // Checks a rank in a report, because reports of other hosts may be wrong.
    bool is_rank(int rank) const { return rank >= 0 && rank < plan_.ranks(); }

    const Plan &plan_;
    Surroundings surroundings_;
    Assignment job_;
    Loop loop_;
    Output output_;
    std::unique_ptr<RemoteOutput> remote_output_;  // exists if ranks are on other hosts
    std::unique_ptr<RemoteInput> remote_input_;    // exists if the rank that reads is on another host
    std::unique_ptr<HostTree> hosts_;
    int signals_ = -1;
    int ranks_running_ = 0;
    int exit_code_ = 0;
    bool failed_ = false;
    bool started_ = false;  // all hosts were ready and have received the command to start the ranks
    std::vector<int> early_signals_;  // signals that arrived before `started_` became true
    bool over_ = false;     // no process of the job is left
    // profile_: a profile was requested. Rank 0 writes the profile when it leaves MPI. Once rank 0 has ended,
    // first_left_ is true if it had left MPI, and first_joined_ is true if it had joined the job.
    bool profile_ = false, first_left_ = false, first_joined_ = false;
    bool ending_ = false;
    bool abandoned_ = false;  // a signal to end has arrived while only output was left to write
    int end_request_ = 0;     // the first INT, TERM or HUP that has arrived
    unsigned long forwarded_ = 0;  // the signals that mpirun has received and passes on, as bits
    int quiet_rank_ = -1;     // the first rank that ended with exit code 0 while inside MPI
    AllWaits waits_;          // what each rank waits for, as far as hosts have answered
    size_t waits_missing_ = 0;  // the number of ranks whose host has not answered; 0 if nothing was requested
    bool time_is_over_ = false;  // the time of --timeout is over, so the report ends the job
    uint64_t kill_at_ns_ = UINT64_MAX;
    uint64_t give_up_at_ns_ = UINT64_MAX;
    uint64_t timeout_at_ns_ = UINT64_MAX;
    uint64_t quiet_until_ns_ = UINT64_MAX;
    uint64_t waits_until_ns_ = UINT64_MAX;
};

// Lets signals arrive at a descriptor instead of interrupting mpirun. If HUP, INT, QUIT or TERM was ignored
// when mpirun was started (nohup), it stays ignored, also in the ranks.
void Job::block_signals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal_number : forwarded_signals) sigaddset(&handled, signal_number);
    sigaddset(&handled, SIGQUIT);
    for (int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        struct sigaction action;
        if (sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            sigdelset(&handled, signal_number);
    }
    signal(SIGCHLD, SIG_DFL);  // a process that ignores SIGCHLD cannot find out how its children ended
    sigset_t blocked = handled;
    sigaddset(&blocked, SIGPIPE);  // writing without a reader then only returns an error
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &surroundings_.inherited.signals);
    signals_ = signalfd(-1, &handled, SFD_NONBLOCK | SFD_CLOEXEC);
    loop_.add(signals_, EPOLLIN, [this](uint32_t) { on_signals(); });
}

std::string current_folder() {
    char folder[PATH_MAX] = "/";
    return getcwd(folder, sizeof folder) ? folder : "/";
}

// Fills in the description of the job that is sent to other hosts.
void Job::describe_job(const Settings &settings) {
    job_.job = random_job_id();
    job_.plan = plan_;
    const Placement &placement = plan_.placement;
    for (size_t node = 0; node < placement.hosts.size(); ++node)
        if (static_cast<int>(node) != placement.own) job_.below.push_back(static_cast<int>(node));
    if (job_.below.empty()) return;
    for (char **variable = surroundings_.environment; *variable; ++variable)
        job_.environment.emplace_back(*variable);
    job_.folder = current_folder();
    job_.agent = (plan_.remote_prefix.empty() ? prefix_folder() : plan_.remote_prefix) + "/bin/mpirun";
    job_.creation_mask = umask(0);
    umask(job_.creation_mask);
    job_.peer_timeout_s = static_cast<uint32_t>(settings.peer_timeout);
    remote_output_ = std::make_unique<RemoteOutput>(job_.plan, output_,
                                                    [this](const Frame &frame) { hosts_->command(frame); });
}

void Job::start() {
    raise_descriptor_limit(surroundings_.inherited);
    Settings settings;
    std::vector<std::string> notes = plan_.notes;
    over_ = true;  // as long as nothing has been started
    if (auto trouble = check_job(plan_, surroundings_.environment, settings, notes))
        return fail(trouble->exit_code, trouble->sentence);
    for (const std::string &note : notes) say(note);
    over_ = false;
    profile_ = settings.profile;
    describe_job(settings);
    adopt_orphans();
    // The ranks get a terminal as input only if mpirun is in the foreground. Otherwise the input of the
    // terminal belongs to the user's shell.
    bool others_terminal = isatty(0) && tcgetpgrp(0) != getpgrp();
    HostTree::Owner owner{[this](const Frame &frame) { on_report(frame); }, true, output_,
                          others_terminal ? -1 : 0};
    hosts_ = std::make_unique<HostTree>(loop_, job_, surroundings_, owner);
    hosts_->prepare();
}

void Job::on_ready() {
    if (ending_) return;
    ranks_running_ = plan_.ranks();
    if (plan_.timeout_s > 0) timeout_at_ns_ = clock_ns() + static_cast<uint64_t>(plan_.timeout_s * 1e9);
    hosts_->command({Kind::start, {}});
    started_ = true;
    for (int signal_number : early_signals_) command(Kind::signal, signal_number);
    connect_input();
}

// Starts forwarding mpirun's standard input if the rank that reads it is on another host. A rank on this
// machine inherits mpirun's standard input and reads it directly, so mpirun reads none of it.
void Job::connect_input() {
    int node = plan_.stdin_rank ? plan_.placement.node_of_rank[static_cast<size_t>(*plan_.stdin_rank)]
                                : plan_.placement.own;
    if (node == plan_.placement.own) return;
    remote_input_ =
        std::make_unique<RemoteInput>(loop_, node, [this](const Frame &frame) { hosts_->command(frame); });
    remote_input_->start();
}

// Ends the job because of a failure. The first failure determines the exit code and is reported. `sentence`
// is "" if the user knows the cause already.
void Job::fail(int exit_code, const std::string &sentence) {
    if (!failed_) {
        // If the output of ranks cannot be written, the ranks die. In that case the message states this
        // cause.
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
    command(Kind::end, SIGTERM);
    kill_at_ns_ = clock_ns() + term_grace_ns;
}

void Job::on_signals() {
    signalfd_siginfo about;
    while (read(signals_, &about, sizeof about) == sizeof about) on_signal(static_cast<int>(about.ssi_signo));
}

void Job::on_signal(int signal_number) {
    if (signal_number == SIGQUIT) return ask_waits(false);
    forwarded_ |= 1ul << signal_number;
    if (started_) command(Kind::signal, signal_number);
    else early_signals_.push_back(signal_number);
    if (signal_number == SIGTSTP) return stop_with_the_job();
    bool asks_to_end = signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP;
    if (!asks_to_end) return;
    if (!started_) return fail(128 + signal_number, "");
    if (over_) abandoned_ = true;
    // The first signal is passed on to the ranks, which usually die of it. A second signal ends the job. The
    // exit code is that of the first signal.
    if (end_request_ == 0) end_request_ = signal_number;
    else if (!over_) fail(128 + end_request_, "");
}

// Stops mpirun itself, as the shell expects of a job that it suspends. SIGCONT arrives later like other
// signals and is passed on.
void Job::stop_with_the_job() { kill(getpid(), SIGSTOP); }

void Job::on_report(const Frame &frame) {
    Failure failure;
    Text text;
    RankEnd end;
    Abort abort;
    Stream stream;
    AllWaits waits;
    switch (frame.kind) {
        case Kind::ready: return on_ready();
        case Kind::failed:
            return read_frame(frame, failure) ? fail(failure.exit_code, failure.sentence) : void();
        case Kind::note: return read_frame(frame, text) ? say(text.text) : void();
        case Kind::ended: return read_frame(frame, end) && is_rank(end.rank) ? on_rank_end(end) : void();
        case Kind::aborted: return read_frame(frame, abort) && is_rank(abort.rank) ? on_abort(abort) : void();
        case Kind::output:
            return read_frame(frame, stream) && is_rank(stream.rank) && remote_output_
                       ? remote_output_->take(stream)
                       : void();
        case Kind::input_credit:
            return read_frame(frame, stream) && remote_input_ ? remote_input_->take_credit(stream) : void();
        case Kind::waits: return read_frame(frame, waits) ? on_waits(waits) : void();
        case Kind::over: return on_over();
        default: return;
    }
}

std::string Job::killed_by(const RankEnd &end) const {
    std::string text = "was killed by " + signal_text(WTERMSIG(end.status));
    if (WCOREDUMP(end.status)) text += ", core dumped";
    if (end.short_of_memory)
        text +=
            "; the kernel has killed a process of this group for want of memory (out of memory) meanwhile";
    return text;
}

void Job::on_rank_end(const RankEnd &end) {
    --ranks_running_;
    if (ranks_running_ == 0) quiet_until_ns_ = UINT64_MAX;  // no rank is left that could wait for a quiet one
    if (end.rank == 0) first_left_ = end.left, first_joined_ = end.left || end.inside;
    on_end(end);
}

void Job::on_end(const RankEnd &end) {
    int status = end.status;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (!end.inside || ranks_running_ == 0 || quiet_rank_ >= 0) return;
        quiet_rank_ = end.rank;
        if (!ending_) quiet_until_ns_ = clock_ns() + quiet_exit_grace_ns;
        return;
    }
    if (failed_) return;
    std::string who = rank_text(plan_, end.rank, end.pid);
    if (WIFEXITED(status))
        return fail(WEXITSTATUS(status), fmt::format("{} ended with exit code {}", who, WEXITSTATUS(status)));
    int signal_number = WTERMSIG(status);
    // The end of a rank is not reported if the rank died of a signal that mpirun itself has received, or of
    // SIGPIPE because the reader of mpirun's output has closed its end.
    bool expected = (signal_number < 64 && forwarded_ >> signal_number & 1) ||
                    (signal_number == SIGPIPE && output_.reader_gone());
    fail(128 + signal_number, expected ? "" : fmt::format("{} {}", who, killed_by(end)));
}

void Job::on_abort(const Abort &abort) {
    // An exit code has eight bits. Removing the other bits must not turn a failure into a success.
    int exit_code = abort.code != 0 && (abort.code & 255) == 0 ? 1 : abort.code & 255;
    const char *reason = abort.for_error ? "because of an error" : "with MPI_Abort";
    fail(exit_code,
         fmt::format("{} ended the job {}, code {}", rank_text(plan_, abort.rank, 0), reason, abort.code));
}

void Job::on_over() {
    over_ = true;
    kill_at_ns_ = give_up_at_ns_ = timeout_at_ns_ = quiet_until_ns_ = UINT64_MAX;
    tell_missing_profile();
    output_.drain();
    check_output();
}

// If a profile was requested and rank 0 has not written one, prints why.
void Job::tell_missing_profile() {
    if (!profile_ || !started_ || first_left_) return;
    say(first_joined_ ? "no profile: rank 0 ended before MPI_Finalize, which makes it"
                           : "no profile: rank 0 has not used MPI; the profile is made in MPI_Finalize");
}

// Requests from all hosts what their ranks wait for. The report is printed when all hosts have answered, or
// after waits_patience_ns. It names the hosts that have not answered by then.
void Job::ask_waits(bool time_is_over) {
    if (!hosts_ || over_) return;
    time_is_over_ = time_is_over_ || time_is_over;
    if (waits_missing_) return;
    waits_missing_ = static_cast<size_t>(plan_.ranks());
    waits_.assign(waits_missing_, {});
    for (size_t rank = 0; rank < waits_.size(); ++rank) waits_[rank].rank = static_cast<int>(rank);
    waits_until_ns_ = clock_ns() + waits_patience_ns;
    hosts_->command({Kind::ask_waits, {}});
}

void Job::on_waits(const AllWaits &waits) {
    if (waits_missing_ == 0) return;  // the report was printed without this host
    for (const RankWaits &rank : waits) {
        auto index = static_cast<size_t>(rank.rank);
        if (index >= waits_.size() || waits_[index].known) continue;
        waits_[index] = rank;
        --waits_missing_;
    }
    if (waits_missing_ == 0) tell_waits();
}

void Job::tell_waits() {
    std::string report = report_waits(waits_, plan_.placement);
    waits_.clear();
    waits_missing_ = 0;
    waits_until_ns_ = UINT64_MAX;
    if (!time_is_over_) return output_.say("mpirun: what the ranks are waiting for:\n" + report);
    fail(exit_timeout,
         fmt::format(
             "the job has run for the {} s of --timeout and is ended; what the ranks are waiting for:\n{}",
             plan_.timeout_s, report.substr(0, report.size() - 1)));
}

// Ends the job if output of the ranks could not be written. Ranks whose output is not read would wait
// forever.
void Job::check_output() {
    if (!output_.trouble().empty()) fail(exit_own_trouble, "");
    if (remote_output_ && !remote_output_->trouble().empty())
        fail(exit_own_trouble, remote_output_->trouble());
}

void Job::check_deadlines(uint64_t now_ns) {
    output_.tick(now_ns);
    check_output();
    if (remote_input_) remote_input_->tick(now_ns);
    if (hosts_) hosts_->tick(now_ns);
    if (now_ns >= kill_at_ns_) {
        kill_at_ns_ = UINT64_MAX;
        command(Kind::end, SIGKILL);
        if (!job_.below.empty()) give_up_at_ns_ = now_ns + end_patience_ns;
    }
    if (now_ns >= give_up_at_ns_) {
        give_up_at_ns_ = UINT64_MAX;
        hosts_->abandon();
    }
    if (now_ns >= waits_until_ns_) tell_waits();
    if (now_ns >= timeout_at_ns_) {
        timeout_at_ns_ = UINT64_MAX;
        ask_waits(true);
    }
    if (now_ns >= quiet_until_ns_) {
        quiet_until_ns_ = UINT64_MAX;
        std::string others = ranks_running_ == 1 ? "another rank was running"
                                                 : fmt::format("{} other ranks were running", ranks_running_);
        fail(exit_own_trouble,
             fmt::format("{} ended with exit code 0 but without calling MPI_Finalize, while {}",
                         rank_text(plan_, quiet_rank_, 0), others));
    }
}

int Job::time_to_wait_ms(uint64_t now_ns) const {
    uint64_t next = std::min({kill_at_ns_, give_up_at_ns_, timeout_at_ns_, quiet_until_ns_, waits_until_ns_,
                              output_.deadline_ns()});
    if (hosts_) next = std::min(next, hosts_->deadline_ns());
    if (remote_input_) next = std::min(next, remote_input_->deadline_ns());
    if (next == UINT64_MAX) return -1;
    if (next <= now_ns) return 0;
    return static_cast<int>(std::min<uint64_t>((next - now_ns) / 1'000'000 + 1, 1'000'000));
}

int Job::run() {
    block_signals();
    start();
    while (!over_ || (!output_.empty() && !abandoned_)) {
        loop_.wait(time_to_wait_ms(clock_ns()));
        check_deadlines(clock_ns());
    }
    return exit_code_;
}

}  // namespace

int run_job(const Plan &plan, char **environment, char *name_area, size_t name_length) {
    return Job(plan, environment, name_area, name_length).run();
}

}  // namespace lanyard::launch
