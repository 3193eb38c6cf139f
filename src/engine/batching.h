// Turns the batching of envelopes on and off. A nonblocking send must be completed by a later call, which
// enters MPI again. The call that begins a nonblocking send therefore allows batching before it sends
// (begin()). Paths that can batch may then hold envelopes back and send them together with later ones, until
// a thread leaves MPI from a call that did not allow batching. Batching is possible only if a path can batch
// and a helper exists. The helper sends what is held back while the program is outside MPI.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/engine/progress_test.cc.
#pragma once

#include <utility>

#include "engine/polled_paths.h"

namespace lanyard {

class Batching {
public:
    explicit Batching(PolledPaths &paths) : paths_(paths) {}

    // May begin() be called?
    bool possible() const { return possible_; }
    // `helped`: a helper exists. Call allow() again whenever the helper or the set of paths has changed.
    void allow(bool helped) {
        possible_ = helped && paths_.any_batches();
        if (on_ && !possible_) turn(false);
    }
    // Paths may hold back what is sent during this call of the program. Requires possible().
    void begin() {
        for_call_ = true;
        if (!on_) turn(true);
    }
    // Sends what was held back.
    void end() {
        for_call_ = false;
        if (on_) turn(false);
    }
    // Called when a thread leaves MPI. Sends what was held back, unless begin() was called during the same
    // MPI call.
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
