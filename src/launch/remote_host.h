// A RemoteHost is a host behind a remote shell, together with all hosts that are started from there. See
// host.h for how a host is used, and protocol.h for the frames. Driven by the loop; single-threaded. A
// RemoteHost passes through these stages in this order, each at most once (stages before `over` may be
// skipped):
//     idle - greeting (the shell runs, the agent has not answered) - linked - closing (the shell is to end) -
//     over
// Tested by: tests/launch/test_hosts_endings.py, tests/launch/test_hosts.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/frame_link.h"
#include "launch/host.h"
#include "launch/shell_process.h"

namespace lanyard::launch {

class RemoteHost final : public Host {
public:
    // The first of `nodes` is the host that is started from here. The other nodes are started from that host.
    RemoteHost(Loop &loop, const Assignment &job, std::vector<int> nodes, char **environment,
               const InheritedState &inherited, Report report);

    void prepare() override;
    void command(const Frame &frame) override;
    void abandon() override;
    void tick(uint64_t now_ns) override;
    uint64_t deadline_ns() const override;
    bool leads_to(int node) const;

private:
    enum class Phase { idle, greeting, linked, closing, over };

    void hear();
    bool read_hello();
    void link(std::string rest);
    void on_frame(const Frame &frame);
    void on_lost(const std::string &why);
    void on_shell_end();
    void fail_start(bool running);
    void fail(int exit_code, const std::string &sentence);
    void close_shell(uint64_t patience_ns);
    void be_over();

    Loop &loop_;
    const Assignment &job_;
    std::vector<int> nodes_;
    std::string host_;
    char **environment_;
    const InheritedState &inherited_;
    Report report_;
    Phase phase_ = Phase::idle;
    ShellProcess shell_;
    FrameLink link_;
    std::string shell_name_;
    int in_ = -1, out_ = -1;  // the standard input and output of the shell, in the phase greeting
    std::string heard_;       // what has arrived on out_ in the phase greeting
    uint64_t silence_ns_;
    // The time by which the phase greeting or closing must end. Once the shell has ended, it is also the time
    // by which the phase linked must end.
    uint64_t limit_ns_ = UINT64_MAX;
    uint64_t ask_at_ns_ = UINT64_MAX;  // when an unfinished line of output counts as a question
};

}  // namespace lanyard::launch
