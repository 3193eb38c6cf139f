// Creating shows a wait record (runtime/waiting.h) while a communicator is being created. The thread that
// creates a communicator does not own the engine all the time, so this class takes the engine itself to write
// and to remove the record. Thread rule: the caller must not own the engine.
// Tested by: tests/failures/test_messages.py, tests/failures/test_mismatch.py.
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
