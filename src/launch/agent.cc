// Implements the agent, which is mpirun on another host. See agent.h.
#include "launch/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "launch/descendants.h"
#include "launch/environment.h"
#include "launch/forwarded_streams.h"
#include "launch/host_tree.h"
#include "launch/wording.h"

namespace lanyard::launch {

namespace {

// Until the job has arrived, the process that started this agent may be silent for this time. The job
// contains the limit that is used afterwards.
constexpr uint64_t first_silence_ns = 60 * second_ns;
constexpr uint64_t farewell_ns = second_ns;  // how long to wait until the report `over` has been received

// True for variables that describe a host and the login there, and not the user's work.
bool belongs_to_host(std::string_view variable) {
    return variable.starts_with("HOSTNAME=") || variable.starts_with("SSH_");
}

class Agent {
public:
    Agent(char **environment, char *name_area, size_t name_length)
        : surroundings_{environment, environment, {}, name_area, name_length} {}
    int run();

private:
    bool take_standard_streams();
    void prepare_process();
    void on_frame(const Frame &frame);
    void on_stream(const Frame &frame);
    void on_job(const Frame &frame);
    void refuse_job(int exit_code, const std::string &sentence);
    std::string enter_job();
    void merge_environment();
    void tell(const Frame &frame);
    void on_lost();
    void say_over();
    int time_to_wait_ms(uint64_t now_ns) const;

    Surroundings surroundings_;
    Loop loop_;
    int in_ = -1, out_ = -1;
    std::unique_ptr<FrameLink> above_;
    Assignment job_;
    Variables variables_;
    std::vector<char *> environment_;
    std::unique_ptr<ForwardedStreams> streams_;
    std::unique_ptr<HostTree> hosts_;
    bool over_ = false;  // no process of the job is left on this host and the hosts below
    bool said_over_ = false;
    bool lost_ = false;  // the connection to the process that started this agent has ended
    uint64_t leave_at_ns_ = UINT64_MAX;
};

// Takes over the connection. The descriptors 0 and 1 are replaced by /dev/null, because nothing else may
// write between the frames, and no rank may keep the connection open.
bool Agent::take_standard_streams() {
    if (isatty(0) || isatty(1)) {
        fprintf(stderr,
                "mpirun --agent is started by mpirun on another host, by a remote shell without a terminal; "
                "it is of no use otherwise\n");
        return false;
    }
    in_ = fcntl(0, F_DUPFD_CLOEXEC, 3);
    out_ = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (in_ < 0 || out_ < 0 || nowhere < 0) return false;
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    close(nowhere);
    std::string hello = fmt::format("{}{} {}\n", hello_mark, protocol_number, LANYARD_VERSION);
    return write(out_, hello.data(), hello.size()) == static_cast<ssize_t>(hello.size());
}

void Agent::prepare_process() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);  // writing without a reader then only returns an error
    sigaddset(&blocked, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &blocked, &surroundings_.inherited.signals);
    raise_descriptor_limit(surroundings_.inherited);
    adopt_orphans();
}

void Agent::on_frame(const Frame &frame) {
    bool stream =
        frame.kind == Kind::input || frame.kind == Kind::output_credit || frame.kind == Kind::output_closed;
    Signal signal;
    if (frame.kind == Kind::signal && read_frame(frame, signal) && signal.number == SIGTSTP)
        above_->expect_silence();
    if (frame.kind == Kind::job) on_job(frame);
    else if (hosts_ && stream) on_stream(frame);
    else if (hosts_) hosts_->command(frame);
}

void Agent::on_stream(const Frame &frame) {
    Stream stream;
    int own = job_.plan.placement.own;
    if (!read_frame(frame, stream)) return;
    if (stream.node == own || stream.node < 0) streams_->take(frame, stream);
    if (stream.node != own) hosts_->command(frame);
}

void Agent::on_job(const Frame &frame) {
    if (hosts_ || !read_frame(frame, job_)) return;
    std::string wrong = enter_job();
    if (!wrong.empty()) return refuse_job(exit_usage, wrong);
    merge_environment();
    streams_ = std::make_unique<ForwardedStreams>(loop_, job_.plan.placement.own,
                                                  [this](const Frame &output) { above_->send(output); });
    const Plan &plan = job_.plan;
    bool reads = plan.stdin_rank &&
                 plan.placement.node_of_rank[static_cast<size_t>(*plan.stdin_rank)] == plan.placement.own;
    int input = reads ? streams_->connect_input() : -1;
    if (reads && input < 0)
        return refuse_job(exit_own_trouble,
                          cannot_open_text(plan, plan.stdin_rank.value_or(0), "a pipe for its input", errno));
    HostTree::Owner owner{[this](const Frame &report) { tell(report); }, false, *streams_, input};
    hosts_ = std::make_unique<HostTree>(loop_, job_, surroundings_, owner);
    hosts_->prepare();
}

// Reports, before anything is started here or below, that this host cannot take part in the job.
void Agent::refuse_job(int exit_code, const std::string &sentence) {
    above_->send(make_frame(Kind::failed, Failure{exit_code, sentence}));
    over_ = true;
}

// Sets what the ranks inherit from this process: the current folder and the file creation mask. Also sets the
// job's limit of silence. Returns a sentence about what is wrong, or "".
std::string Agent::enter_job() {
    umask(job_.creation_mask);
    above_->set_silence(job_.peer_timeout_s * second_ns);
    if (chdir(job_.folder.c_str()) == 0) return "";
    int error_number = errno;
    const Placement &placement = job_.plan.placement;
    const std::vector<Program> &programs = job_.plan.programs;
    bool needed = std::any_of(programs.begin(), programs.end(),
                              [](const Program &program) { return !program.folder.starts_with('/'); });
    if (!needed && chdir("/") == 0) return "";
    return fmt::format(
        "host {}: the folder {}, in which mpirun was started, cannot be entered there: {}; make it there, or "
        "name another with -wdir",
        placement.hosts[static_cast<size_t>(placement.own)], job_.folder, system_text(error_number));
}

// Makes the environment of the ranks: the variables of mpirun, except those that describe its host, plus the
// variables of this host that mpirun does not have.
void Agent::merge_environment() {
    for (char **own = surroundings_.own_environment; *own; ++own) variables_.emplace_back(*own);
    for (const std::string &variable : job_.environment) {
        size_t equals = variable.find('=');
        if (equals == std::string::npos || belongs_to_host(variable)) continue;
        set_variable(variables_, variable.substr(0, equals), variable.substr(equals + 1));
    }
    for (std::string &variable : variables_) environment_.push_back(variable.data());
    environment_.push_back(nullptr);
    surroundings_.environment = environment_.data();
}

void Agent::tell(const Frame &frame) {
    if (frame.kind != Kind::over) return above_->send(frame);
    over_ = true;
    streams_->drain();
}

// Called when the connection to the process that started this agent has ended. Ends the job here.
void Agent::on_lost() {
    lost_ = true;
    if (hosts_) hosts_->abandon();
    else over_ = true;
}

// Sends the last frame. Called after all output has been sent.
void Agent::say_over() {
    said_over_ = true;
    above_->send({Kind::over, {}});
    leave_at_ns_ = clock_ns() + farewell_ns;
}

int Agent::time_to_wait_ms(uint64_t now_ns) const {
    uint64_t next = std::min(above_->deadline_ns(), leave_at_ns_);
    if (hosts_) next = std::min(next, hosts_->deadline_ns());
    if (next == UINT64_MAX) return -1;
    return next <= now_ns ? 0
                          : static_cast<int>(std::min<uint64_t>((next - now_ns) / 1'000'000 + 1, 1'000'000));
}

int Agent::run() {
    prepare_process();
    if (!take_standard_streams()) return 1;
    above_ = std::make_unique<FrameLink>(loop_, first_silence_ns,
                                         FrameLink::Handlers{[this](const Frame &frame) { on_frame(frame); },
                                                             [this](const std::string &) { on_lost(); }});
    if (!above_->open(in_, out_, "")) return 1;
    while (!(over_ && (lost_ || (said_over_ && clock_ns() >= leave_at_ns_)))) {
        loop_.wait(time_to_wait_ms(clock_ns()));
        uint64_t now_ns = clock_ns();
        above_->tick(now_ns);
        if (hosts_) hosts_->tick(now_ns);
        if (over_ && !said_over_ && (!streams_ || streams_->empty())) say_over();
    }
    return 0;
}

}  // namespace

int run_agent(char **environment, char *name_area, size_t name_length) {
    return Agent(environment, name_area, name_length).run();
}

}  // namespace lanyard::launch
