// A HostTree is the part of a job's tree of hosts that one process starts: its own host, and one RemoteHost
// for each remote shell. mpirun has a HostTree, and so has every agent. A report that every host makes
// (ready, over, the barrier) is passed to the owner once, when the last host has made it. All other reports
// are passed on immediately. Driven by the loop; single-threaded.
// Tested by: tests/launch/test_hosts.py, tests/launch/test_hosts_endings.py.
#pragma once

#include <memory>
#include <vector>

#include "launch/local_host.h"
#include "launch/remote_host.h"

namespace lanyard::launch {

class HostTree {
public:
    struct Owner {
        Host::Report report;
        bool at_top;  // the owner is mpirun
        StandardStreams &streams;
        // The standard input for the rank of this host that reads it, if there is one; -1: that rank reads
        // /dev/null. A descriptor above 2 is closed here once the rank has it.
        int input;
    };
    HostTree(Loop &loop, const Assignment &job, const Surroundings &surroundings, const Owner &owner);

    void prepare();
    // Passes a frame to all hosts, or to the hosts for which it is meant.
    void command(const Frame &frame);
    void abandon();
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;

private:
    void add_remote_hosts(Loop &loop, const Assignment &job, const Surroundings &surroundings);
    PmiServer::Neighbours neighbours(bool at_top, size_t remote_hosts);
    void on_report(const Frame &frame);
    void on_remote_report(size_t remote, const Frame &frame);

    Host::Report report_;
    PmiServer pmi_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::vector<RemoteHost *> remote_;  // the remote hosts among hosts_
    size_t ready_ = 0, over_ = 0;       // how many hosts have reported `ready` and `over`
};

}  // namespace lanyard::launch
