// A place where ranks run: this host (LocalHost), or a host behind a remote shell with all that it starts in turn (Branch).
// A place is told what to do by the frames of protocol.h, and tells by such frames what happens; so a job on one machine
// is the job of one place without a remote shell, and whoever runs several need not know which is which.
// Driven by the loop; single-threaded. A place never reports while it is being made, and never after `over`.
#pragma once

#include <cstdint>
#include <functional>

#include "launch/protocol.h"

namespace lanyard::launch {

class Place {
public:
    using Report = std::function<void(const Frame &)>;

    virtual ~Place() = default;
    // Gets everything ready and reports `ready`, or `failed` and `over`; at once or later.
    virtual void prepare() = 0;
    virtual void command(const Frame &frame) = 0;
    // Nothing more is heard of it: what can be ended from here is, and `over` follows.
    virtual void abandon() = 0;
    virtual void tick(uint64_t) {}
    virtual uint64_t deadline_ns() const { return UINT64_MAX; }
};

}  // namespace lanyard::launch
