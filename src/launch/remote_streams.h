// mpirun's side of the standard streams of ranks on other hosts. What they print goes to mpirun's output or
// into files on this host. What mpirun reads goes to the one rank that reads. Both are governed by credit
// (protocol.h), so a slow reader on either side slows down the writer and costs at most one window of memory
// for each host. Driven by the loop; single-threaded.
#pragma once

#include <map>
#include <vector>

#include "launch/host.h"
#include "launch/output.h"

namespace lanyard::launch {

// What ranks on other hosts print.
class RemoteOutput {
public:
    using Send = std::function<void(const Frame &)>;
    RemoteOutput(const Plan &plan, Output &output, Send send);
    ~RemoteOutput();
    RemoteOutput(const RemoteOutput &) = delete;
    RemoteOutput &operator=(const RemoteOutput &) = delete;

    void take(const Stream &stream);
    const std::string &trouble() const { return trouble_; }  // why a file could not be written

private:
    void settle();
    void write_file(const std::string &name, const Stream &stream);

    const Plan &plan_;
    Output &output_;
    Send send_;
    std::map<std::pair<int, int>, uint32_t> owed_;  // credit by node and target
    bool told_gone_[3] = {};
    std::map<std::string, int> files_;
    std::string trouble_;
};

// mpirun's standard input, for a rank on another host. mpirun reads as far as that rank's pipe has room, and
// so a little more than the rank reads. It reads a terminal only while it is in the foreground, because the
// input belongs to the shell otherwise.
class RemoteInput {
public:
    RemoteInput(Loop &loop, int node, std::function<void(const Frame &)> send)
        : loop_(loop), node_(node), send_(std::move(send)) {}
    ~RemoteInput() { watch(false); }
    RemoteInput(const RemoteInput &) = delete;
    RemoteInput &operator=(const RemoteInput &) = delete;

    void start();
    void take_credit(const Stream &credit);  // without credit: the rank reads no more
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
