// The wait record for creating a communicator, which takes the engine only now and then. The record therefore
// takes the engine for itself. Used without the engine.
#pragma once

#include <optional>

#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

class Creating {
public:
    Creating(const char *call, const Comm *comm, int peer, int tag, uint64_t sequence = 0) {
        EngineGuard guard(*runtime()->engine);
        waiting_.emplace(call, tool::WaitFor::ranks, comm, peer, tag, sequence);
    }
    ~Creating() {
        EngineGuard guard(*runtime()->engine);
        waiting_.reset();
    }
    Creating(const Creating &) = delete;
    Creating &operator=(const Creating &) = delete;

private:
    std::optional<Waiting> waiting_;
};

}  // namespace lanyard
