// A LocalHost is this machine as a host of the job. A guard starts its ranks. See host.h for how a host is
// used, and guard.h for why no process is left behind. Driven by the loop; single-threaded.
// Tested by: tests/launch/test_endings.py, tests/launch/test_start.py.
#pragma once

#include <vector>

#include "launch/host.h"
#include "launch/prepare.h"
#include "launch/surroundings.h"

namespace lanyard::launch {

class LocalHost final : public Host {
public:
    LocalHost(Loop &loop, const Surroundings &surroundings, const Local &local, Report report)
        : loop_(loop), surroundings_(surroundings), local_(local), report_(std::move(report)) {}

    void prepare() override;
    void command(const Frame &frame) override;
    void abandon() override;
    void tick(uint64_t now_ns) override;
    uint64_t deadline_ns() const override;

private:
    void start();
    void tell_waits();
    void order(GuardCommand::Kind kind, int signal_number);
    void on_reports();
    void on_report(const GuardReport &report);
    void on_failed_start(const GuardReport &report);
    void on_cut_off(int rank, pid_t process);
    void tell_cut_off(int rank, const GuardReport &report);
    void on_guard_gone();
    void end_without_guard();
    void fail(int exit_code, const std::string &sentence) {
        report_(make_frame(Kind::failed, Failure{exit_code, sentence}));
    }
    void be_over();

    // A rank that has closed its connection to mpirun. If the rank still runs at until_ns, the closed
    // connection is reported.
    struct CutOff {
        int rank;
        pid_t process;
        uint64_t until_ns;
    };

    Loop &loop_;
    const Surroundings &surroundings_;
    Local local_;
    Report report_;
    Prepared prepared_;
    Guard guard_;
    std::vector<pid_t> others_;  // this process's descendants from before the guard: remote shells
    std::vector<CutOff> cut_off_;
    long memory_kills_before_ = 0;
    bool over_ = false;
    size_t told_ = 0;  // the number of ranks whose end or failed start the guard has reported
};

}  // namespace lanyard::launch
