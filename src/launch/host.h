// A host where ranks run: this one (LocalHost), or one behind a remote shell, with all hosts that it starts
// in turn (RemoteHost). A host is controlled by the frames of protocol.h and reports by such frames, so its
// owner need not distinguish the two. A job on one machine is a job with one host and no remote shell. Driven
// by the loop; single-threaded. A host never reports during its construction, nor after `over`.
#pragma once

#include <cstdint>
#include <functional>

#include "launch/protocol.h"

namespace lanyard::launch {

class Host {
public:
    using Report = std::function<void(const Frame &)>;

    virtual ~Host() = default;
    // Prepares the start and reports `ready`, or `failed` and `over`; at once or later.
    virtual void prepare() = 0;
    virtual void command(const Frame &frame) = 0;
    // Called if the host is unreachable: ends what can be ended from here, then reports `over`.
    virtual void abandon() = 0;
    virtual void tick(uint64_t) {}
    virtual uint64_t deadline_ns() const { return UINT64_MAX; }
};

}  // namespace lanyard::launch
