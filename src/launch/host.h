// A Host is where ranks run. A LocalHost is this machine. A RemoteHost is a host behind a remote shell,
// together with all hosts that are started from there. A host takes its commands and makes its reports as
// frames of protocol.h, so its owner need not distinguish the two kinds. A job on one machine is a job with
// one host and no remote shell. Driven by the loop; single-threaded. A host makes no report during its
// construction, and none after `over`.
// Tested by: tests/launch/test_hosts.py, tests/launch/test_hosts_endings.py.
#pragma once

#include <cstdint>
#include <functional>

#include "launch/protocol.h"

namespace lanyard::launch {

class Host {
public:
    using Report = std::function<void(const Frame &)>;

    virtual ~Host() = default;
    // Prepares the start. Reports `ready`, or `failed` and then `over`, during this call or later.
    virtual void prepare() = 0;
    virtual void command(const Frame &frame) = 0;
    // Called if the host is unreachable. Ends what can be ended from here, then reports `over`.
    virtual void abandon() = 0;
    virtual void tick(uint64_t) {}
    virtual uint64_t deadline_ns() const { return UINT64_MAX; }
};

}  // namespace lanyard::launch
