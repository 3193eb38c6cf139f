// Starts, watches and ends the ranks of this host. See local_host.h.
#include "launch/local_host.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "launch/descendants.h"
#include "launch/memory_kills.h"
#include "launch/program_file.h"
#include "launch/wording.h"

namespace lanyard::launch {

namespace {

constexpr uint64_t kill_patience_ns = 10 * second_ns;  // how long to wait after KILL
// A rank that closes its connection must end within this time.
constexpr uint64_t cut_off_grace_ns = second_ns;
constexpr char cut_off_text[] =
    "closed its connection to mpirun while it was using MPI, as programs do that close all descriptors "
    "(daemon, closefrom); let it close only those that it has opened";

}  // namespace

void LocalHost::prepare() {
    auto trouble = launch::prepare(local_, prepared_);
    if (trouble) {
        fail(trouble->exit_code, trouble->sentence);
        return be_over();
    }
    for (const std::string &note : prepared_.notes) report_(make_frame(Kind::note, Text{note}));
    report_({Kind::ready, {}});
}

void LocalHost::start() {
    memory_kills_before_ = memory_kills();
    local_.pmi.on_cut_off([this](int rank, pid_t process) { on_cut_off(rank, process); });
    if (local_.plan.placement.hosts.size() > 1) others_ = descendants_of(getpid());
    guard_ = start_guard(prepared_.starts, surroundings_.inherited, surroundings_.name_area,
                         surroundings_.name_length);
    if (guard_.pid < 0) {
        fail(exit_own_trouble,
             fmt::format("the process that guards the ranks cannot be started: {}", system_text(errno)));
        return be_over();
    }
    std::sort(prepared_.for_ranks.begin(), prepared_.for_ranks.end());
    for (int fd : prepared_.for_ranks) close(fd);
    loop_.add(guard_.control, EPOLLIN, [this](uint32_t) { on_reports(); });
}

void LocalHost::command(const Frame &frame) {
    Signal signal;
    if (over_) return;
    if (frame.kind == Kind::start) return start();
    if (frame.kind == Kind::ask_waits) return tell_waits();
    if (frame.kind == Kind::end && guard_.control < 0) return be_over();
    if (!read_frame(frame, signal)) return;
    if (frame.kind == Kind::signal) order(GuardCommand::forward, signal.number);
    if (frame.kind == Kind::end) order(GuardCommand::end_all, signal.number);
}

// If there is a guard, it ends all processes that can be ended. When the guard ends, `over` is reported.
void LocalHost::abandon() {
    if (guard_.control >= 0) order(GuardCommand::end_all, SIGKILL);
    else be_over();
}

void LocalHost::tell_waits() {
    report_(make_frame(
        Kind::waits, local_waits(prepared_.segment, local_.plan.placement.ranks_on(local_.plan.placement.own),
                                 local_.pmi.stages())));
}

void LocalHost::order(GuardCommand::Kind kind, int signal_number) {
    GuardCommand command{kind, signal_number};
    if (guard_.control >= 0) send(guard_.control, &command, sizeof command, MSG_NOSIGNAL);
}

void LocalHost::on_reports() {
    for (;;) {
        GuardReport report{};
        ssize_t length = recv(guard_.control, &report, sizeof report, MSG_DONTWAIT);
        if (length == sizeof report) {
            on_report(report);
            continue;
        }
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
        // The guard has ended without reading the last order. Its last reports follow this error, and without
        // them the ranks' last output would be lost.
        if (length < 0 && errno == ECONNRESET) continue;
        return on_guard_gone();
    }
}

void LocalHost::on_report(const GuardReport &report) {
    ++told_;
    if (report.kind == GuardReport::failed_to_start) return on_failed_start(report);
    // The rank's last output and its last PMI requests must be handled before its end is reported.
    local_.streams.catch_up();
    int rank = prepared_.ranks[static_cast<size_t>(report.rank)];
    local_.pmi.rank_ended(rank);
    tell_cut_off(rank, report);
    RankEnd end{rank, report.pid, report.status, local_.pmi.inside(rank), false, local_.pmi.left(rank)};
    bool killed = WIFSIGNALED(report.status) && WTERMSIG(report.status) == SIGKILL;
    end.short_of_memory = killed && memory_kills() > memory_kills_before_;
    report_(make_frame(Kind::ended, end));
}

// Notes a rank that has closed its connection. It is not reported yet, because the rank may be about to end.
// In that case only its end is reported.
void LocalHost::on_cut_off(int rank, pid_t process) {
    cut_off_.push_back({rank, process, clock_ns() + cut_off_grace_ns});
}

void LocalHost::tick(uint64_t now_ns) {
    for (CutOff &rank : cut_off_) {
        if (now_ns < rank.until_ns) continue;
        rank.until_ns = UINT64_MAX;
        if (!lives_on(rank.process)) continue;
        local_.streams.catch_up();
        fail(exit_own_trouble,
             fmt::format("{} {}", rank_text(local_.plan, rank.rank, rank.process), cut_off_text));
    }
}

uint64_t LocalHost::deadline_ns() const {
    uint64_t next = UINT64_MAX;
    for (const CutOff &rank : cut_off_) next = std::min(next, rank.until_ns);
    return next;
}

// Reports why a rank that had closed its connection has failed. A program that has closed all its descriptors
// cannot print the reason itself.
void LocalHost::tell_cut_off(int rank, const GuardReport &report) {
    auto found =
        std::find_if(cut_off_.begin(), cut_off_.end(), [&](const CutOff &each) { return each.rank == rank; });
    if (found == cut_off_.end()) return;
    found->until_ns = UINT64_MAX;
    bool failed = WIFEXITED(report.status) && WEXITSTATUS(report.status) != 0;
    if (failed)
        fail(WEXITSTATUS(report.status),
             fmt::format("{} ended with exit code {}: it {}", rank_text(local_.plan, rank, report.pid),
                         WEXITSTATUS(report.status), cut_off_text));
}

void LocalHost::on_failed_start(const GuardReport &report) {
    const RankStart &start = prepared_.starts[static_cast<size_t>(report.rank)];
    int rank = prepared_.ranks[static_cast<size_t>(report.rank)];
    std::string reason = system_text(report.status);
    std::string who = rank_text(local_.plan, rank, 0);
    if (report.phase == GuardReport::making_process)
        return fail(exit_own_trouble,
                    fmt::format("{} cannot be started: no new process could be made: {}", who, reason));
    if (report.phase == GuardReport::entering_folder)
        return fail(exit_usage, fmt::format("{}: -wdir {}: {}", short_rank_text(local_.plan, rank),
                                            start.folder, reason));
    if (report.status == ENOENT) reason = "the interpreter or loader it names in its first bytes is missing";
    if (report.status == ENOENT && begins_with_crlf_line(start.path, start.folder))
        reason =
            "its first line ends with CRLF, as in files from Windows, and no interpreter has such a name; "
            "sed -i 's/\\r$//' would correct the file";
    if (report.status == ENOEXEC) reason = "it is no program for this machine";
    fail(exit_not_executable, fmt::format("{} cannot be started: {}: {}", who, start.path, reason));
}

void LocalHost::on_guard_gone() {
    loop_.remove(guard_.control);
    close(guard_.control);
    guard_.control = -1;
    int status = 0;
    waitpid(guard_.pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) end_without_guard();
    else if (told_ < prepared_.starts.size())
        fail(exit_own_trouble,
             "the process that guards the ranks (lanyard-guard) could not tell mpirun how they ended");
    be_over();
}

// Called when the guard was killed. The kernel has then killed the ranks, too, and this process has inherited
// the processes that the ranks have started. This function ends all descendants of this process except the
// other hosts' remote shells, and waits for their end, for at most kill_patience_ns.
void LocalHost::end_without_guard() {
    uint64_t until_ns = clock_ns() + kill_patience_ns;
    while (signal_descendants(getpid(), SIGKILL, others_) > 0 && clock_ns() < until_ns) usleep(5000);
    reap_children(others_);
    const Placement &placement = local_.plan.placement;
    std::string where =
        placement.hosts.size() > 1 ? " on " + placement.hosts[static_cast<size_t>(placement.own)] : "";
    fail(128 + SIGKILL,
         fmt::format("the process that guards the ranks{} (lanyard-guard) was killed, and the job with it",
                     where));
}

void LocalHost::be_over() {
    if (over_) return;
    over_ = true;
    report_({Kind::over, {}});
}

}  // namespace lanyard::launch
