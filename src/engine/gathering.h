// Envelopes that wait for those behind them. A call that another must follow and complete (a nonblocking send) says before it sends that it
// gathers: paths that batch may then keep envelopes until a thread leaves MPI that is in no such call, to send them with those that follow.
// Who completes what was sent so enters MPI for this. Only where a path batches, and a helper looks after what it keeps should the program
// stay away.
// Thread rule: the owner of the engine.
#pragma once

#include <utility>

#include "engine/polled_paths.h"

namespace lanyard {

class Gathering {
public:
    explicit Gathering(PolledPaths &paths) : paths_(paths) {}

    bool possible() const { return possible_; }
    void allow(bool helped) {
        possible_ = helped && paths_.any_batches();
        if (on_ && !possible_) turn(false);
    }
    // For one call.
    void begin() {
        for_call_ = true;
        if (!on_) turn(true);
    }
    // What was kept goes now.
    void end() {
        for_call_ = false;
        if (on_) turn(false);
    }
    // A thread leaves MPI.
    void leave() {
        if (on_ && !std::exchange(for_call_, false)) turn(false);
    }

private:
    void turn(bool on) {
        on_ = on;
        paths_.batch(on);
    }

    PolledPaths &paths_;
    bool possible_ = false, on_ = false, for_call_ = false;
};

}  // namespace lanyard
