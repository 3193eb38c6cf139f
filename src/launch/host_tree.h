// The part of the tree of hosts that one process starts: its own host, and one RemoteHost for each remote
// shell. mpirun has one, and so has every agent. Reports that all hosts make (ready, over, the barrier) are
// passed to the owner once, when the last host has made them. All others are passed at once. Driven by the
// loop; single-threaded.
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
        int input;  // for the rank of this host that reads standard input; -1: none
    };
    HostTree(Loop &loop, const Assignment &job, const Surroundings &surroundings, const Owner &owner);

    void prepare();
    // To all hosts, or to those for which the frame is meant.
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
    std::vector<RemoteHost *> remote_;  // of hosts_
    size_t ready_ = 0, over_ = 0;
};

}  // namespace lanyard::launch
