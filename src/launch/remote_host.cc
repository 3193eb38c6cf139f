// Starts and commands a host behind a remote shell. See remote_host.h.
#include "launch/remote_host.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/bytes.h"
#include "base/clock.h"
#include "launch/program_file.h"
#include "launch/remote_shell.h"
#include "launch/wording.h"

namespace lanyard::launch {

namespace {

// After this, a line that looks like a question counts as one.
constexpr uint64_t question_ns = second_ns / 2;
constexpr uint64_t shell_farewell_ns = second_ns;  // how long a shell may take to end after its agent
constexpr uint64_t last_words_ns = second_ns / 2; // how long to read the last bytes of a shell that ended
constexpr size_t most_heard = 64 * KiB;

}  // namespace

RemoteHost::RemoteHost(Loop &loop, const Assignment &job, std::vector<int> nodes, char **environment,
                       const InheritedState &inherited, Report report)
    : loop_(loop),
      job_(job),
      nodes_(std::move(nodes)),
      host_(job.plan.placement.hosts[static_cast<size_t>(nodes_[0])]),
      environment_(environment),
      inherited_(inherited),
      report_(std::move(report)),
      shell_(loop),
      link_(loop, job.peer_timeout_s * second_ns,
            {[this](const Frame &frame) { on_frame(frame); },
             [this](const std::string &why) { on_lost(why); }}),
      silence_ns_(job.peer_timeout_s * second_ns) {}

bool RemoteHost::leads_to(int node) const {
    return node < 0 || std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end();
}

void RemoteHost::prepare() {
    if (phase_ != Phase::idle) return;
    std::vector<std::string> words = remote_shell_words(job_.plan, host_, job_.agent);
    shell_name_ = words[0];
    ProgramFile file = find_program(words[0], getenv("PATH"), "");
    const char *remedy = job_.plan.remote_shell.empty()
                             ? "install it (Debian: openssh-client), or name another with --ssh"
                             : "--ssh names it";
    std::string wrong =
        file.exit_code ? fmt::format("host {} cannot be started: {}; {}", host_, file.trouble, remedy)
                       : shell_.start(file.path, words, environment_, inherited_, [this] { on_shell_end(); });
    if (!wrong.empty()) {
        fail(file.exit_code ? file.exit_code : exit_own_trouble, wrong);
        return be_over();
    }
    phase_ = Phase::greeting;
    limit_ns_ = clock_ns() + silence_ns_;
    in_ = shell_.take_in();
    out_ = shell_.take_out();
    fcntl(out_, F_SETFL, O_NONBLOCK);
    loop_.add(out_, EPOLLIN, [this](uint32_t) { hear(); });
}

// Reads what arrives before the agent's first line.
void RemoteHost::hear() {
    char chunk[4096];
    ssize_t count = read(out_, chunk, sizeof chunk);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        // The shell is about to end. Its exit code is awaited, because it tells more about the reason.
        loop_.remove(out_);
        limit_ns_ = clock_ns() + shell_farewell_ns;
        return;
    }
    heard_.append(chunk, static_cast<size_t>(count));
    if (read_hello()) return;
    if (heard_.size() > most_heard) heard_.erase(0, heard_.size() - most_heard / 2);
}

bool RemoteHost::read_hello() {
    size_t mark = heard_.find(hello_mark);
    size_t end = mark == std::string::npos ? mark : heard_.find('\n', mark + 1);
    if (end == std::string::npos) return false;
    std::string line = heard_.substr(mark + 1, end - mark - 1);
    int protocol = 0;
    char version[64] = "";
    sscanf(line.c_str(), "lanyard-agent %d %63s", &protocol, version);
    loop_.remove(out_);
    if (protocol == protocol_number && std::string(version) == LANYARD_VERSION) {
        link(heard_.substr(end + 1));
        return true;
    }
    std::string there = last_words(version);
    fail(exit_own_trouble, fmt::format("host {} has Lanyard {}, here it is {}; install the same on all "
                                       "hosts, or say where it is with --prefix",
                                       host_, there, LANYARD_VERSION));
    close_shell(0);
    return true;
}

void RemoteHost::link(std::string rest) {
    phase_ = Phase::linked;
    limit_ns_ = ask_at_ns_ = UINT64_MAX;
    heard_.clear();
    int out = std::exchange(out_, -1), in = std::exchange(in_, -1);
    if (!link_.open(out, in, std::move(rest))) return on_lost("it cannot be waited for");
    Assignment part = job_;
    part.plan.placement.own = nodes_[0];
    part.below.assign(nodes_.begin() + 1, nodes_.end());
    link_.send(make_frame(Kind::job, part));
}

void RemoteHost::on_frame(const Frame &frame) {
    if (frame.kind != Kind::over) return report_(frame);
    link_.close();  // the agent then ends
    close_shell(shell_farewell_ns);
}

void RemoteHost::on_lost(const std::string &why) {
    std::string said = last_words(shell_.said());
    std::string who = ranks_text(job_.plan.placement, nodes_[0]);
    if (nodes_.size() == 2) who += ", and a host more that it started";
    if (nodes_.size() > 2) who += fmt::format(", and {} hosts more that it started", nodes_.size() - 1);
    fail(exit_own_trouble,
         fmt::format("host {} ({}) is lost: {}{}", host_, who, why,
                     said.empty() ? "" : fmt::format("; {} said \"{}\"", shell_name_, said)));
    close_shell(0);
}

void RemoteHost::on_shell_end() {
    if (phase_ == Phase::greeting) {
        while (phase_ == Phase::greeting && out_ >= 0) {
            size_t before = heard_.size();
            hear();
            if (heard_.size() == before) break;
        }
        if (phase_ == Phase::greeting) fail_start(false);
        if (phase_ == Phase::linked) limit_ns_ = clock_ns() + last_words_ns;
    } else if (phase_ == Phase::linked) {
        limit_ns_ = clock_ns() + last_words_ns;  // the shell's last bytes are read until then
    } else {
        be_over();
    }
}

void RemoteHost::fail_start(bool running) {
    FailedStart start{host_, shell_name_, job_.agent, shell_.status(), running, heard_ + shell_.said()};
    fail(exit_own_trouble, explain(start));
    close_shell(0);
}

void RemoteHost::fail(int exit_code, const std::string &sentence) {
    report_(make_frame(Kind::failed, Failure{exit_code, sentence}));
}

// Ends the connection. The shell is killed if it does not end by itself within `patience_ns`.
void RemoteHost::close_shell(uint64_t patience_ns) {
    if (phase_ == Phase::over) return;
    phase_ = Phase::closing;
    link_.close();
    if (out_ >= 0) {
        loop_.remove(out_);
        close(out_);
        close(in_);
    }
    in_ = out_ = -1;
    if (shell_.ended()) return be_over();
    ask_at_ns_ = UINT64_MAX;
    limit_ns_ = clock_ns() + patience_ns;
    if (patience_ns == 0) {
        shell_.kill();
        limit_ns_ = UINT64_MAX;  // on_shell_end() will be called
    }
}

void RemoteHost::command(const Frame &frame) {
    if (phase_ == Phase::linked) {
        Signal signal;
        if (frame.kind == Kind::signal && read_frame(frame, signal) && signal.number == SIGTSTP)
            link_.expect_silence();
        link_.send(frame);
    } else if (frame.kind == Kind::end) {
        abandon();
    }
}

void RemoteHost::abandon() {
    std::string note = fmt::format(
        "host {} has not confirmed that the job's processes there have ended; they end when they miss mpirun",
        host_);
    if (phase_ == Phase::linked) report_(make_frame(Kind::note, Text{note}));
    if (phase_ == Phase::idle) be_over();
    else if (phase_ != Phase::over) close_shell(0);
}

void RemoteHost::tick(uint64_t now_ns) {
    link_.tick(now_ns);
    if (phase_ == Phase::greeting) {
        bool asks = asks_for_secret(shell_.said()) || asks_for_secret(heard_);
        if (!asks) ask_at_ns_ = UINT64_MAX;
        else if (ask_at_ns_ == UINT64_MAX) ask_at_ns_ = now_ns + question_ns;
        if (now_ns >= ask_at_ns_ || now_ns >= limit_ns_) fail_start(true);
    } else if (now_ns >= limit_ns_) {
        limit_ns_ = UINT64_MAX;
        if (phase_ == Phase::linked) on_lost("its remote shell has ended");
        else close_shell(0);
    }
}

uint64_t RemoteHost::deadline_ns() const { return std::min({limit_ns_, ask_at_ns_, link_.deadline_ns()}); }

void RemoteHost::be_over() {
    if (phase_ == Phase::over) return;
    phase_ = Phase::over;
    limit_ns_ = ask_at_ns_ = UINT64_MAX;
    report_({Kind::over, {}});
}

}  // namespace lanyard::launch
