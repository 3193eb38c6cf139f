// Handles, in mpirun, the standard streams of ranks on other hosts. The output of these ranks is written to
// mpirun's output, or into files on this host. mpirun's standard input is sent to the one rank that reads it.
// Both directions are limited by credit (protocol.h). So a slow reader on either side slows down the writer,
// and costs at most one window of memory for each stream of a host. Driven by the loop; single-threaded.
// Tested by: tests/launch/test_hosts.py.
#pragma once

#include <map>
#include <vector>

#include "launch/host.h"
#include "launch/output.h"

namespace lanyard::launch {

// The output of ranks on other hosts.
class RemoteOutput {
public:
    using Send = std::function<void(const Frame &)>;
    RemoteOutput(const Plan &plan, Output &output, Send send);
    ~RemoteOutput();
    RemoteOutput(const RemoteOutput &) = delete;
    RemoteOutput &operator=(const RemoteOutput &) = delete;

    void take(const Stream &stream);
    const std::string &trouble() const { return trouble_; }  // why a file could not be written, or ""

private:
    bool in_files(int target) const;
    void settle();
    void write_file(const std::string &name, const Stream &stream);

    const Plan &plan_;
    Output &output_;
    Send send_;
    std::map<std::pair<int, int>, uint32_t> owed_;  // by node and target: credit to grant again
    bool told_gone_[3] = {};
    std::map<std::string, int> files_;
    std::string trouble_;
};

// mpirun's standard input, for a rank on another host. mpirun reads only as much as fits into that rank's
// pipe and one window of credit, so it may read more than the rank does. mpirun reads from a terminal only
// while mpirun is in the foreground, because otherwise the input belongs to the user's shell.
class RemoteInput {
public:
    RemoteInput(Loop &loop, int node, std::function<void(const Frame &)> send)
        : loop_(loop), node_(node), send_(std::move(send)) {}
    ~RemoteInput() { watch(false); }
    RemoteInput(const RemoteInput &) = delete;
    RemoteInput &operator=(const RemoteInput &) = delete;

    void start();
    // Handles a frame input_credit. If it grants no credit, the rank reads no more.
    void take_credit(const Stream &credit);
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const { return look_again_ns_; }

private:
    void pump();
    void watch(bool wanted);
    void finish();

    Loop &loop_;
    int node_;
    std::function<void(const Frame &)> send_;
    uint32_t credit_ = stream_window;
    bool open_ = false;
    bool watched_ = false;
    bool terminal_ = false;
    uint64_t look_again_ns_ = UINT64_MAX;
};

}  // namespace lanyard::launch
