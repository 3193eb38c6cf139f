// All places that one process starts: the ranks of its own host and a branch for every host it reaches by remote shell.
// mpirun has one, and so has every agent: what the places say together (ready, over, the barrier) is said once to whoever
// runs the station, everything else is passed on as it comes. Driven by the loop; single-threaded.
#pragma once

#include <memory>
#include <vector>

#include "launch/branch.h"
#include "launch/local_host.h"

namespace lanyard::launch {

class Station {
public:
    struct Owner {
        Place::Report report;
        bool at_top;  // it is mpirun
        StandardStreams &streams;
        int input;    // for the rank of this host that reads; -1: none
    };
    Station(Loop &loop, const Assignment &job, const Surroundings &surroundings, const Owner &owner);

    void prepare();
    // To all places, or to those the frame is meant for.
    void command(const Frame &frame);
    void abandon();
    void tick(uint64_t now_ns);
    uint64_t deadline_ns() const;

private:
    void add_branches(Loop &loop, const Assignment &job, const Surroundings &surroundings);
    PmiServer::Neighbours neighbours(bool at_top, size_t branches);
    void on_report(const Frame &frame);
    void on_branch_report(size_t branch, const Frame &frame);

    Place::Report report_;
    PmiServer pmi_;
    std::vector<std::unique_ptr<Place>> places_;
    std::vector<Branch *> branches_;  // of places_
    size_t ready_ = 0, over_ = 0;
};

}  // namespace lanyard::launch
