// DirectCopies copies between the memory of this process and the memory of the node's other processes. The
// kernel makes the copies (process_vm_readv, process_vm_writev). The kernel may refuse such copies because of
// seccomp or Yama. They also fail if the other process is in another PID namespace, because its process id
// then names a different process here, or none.
//
// - In its part of the segment, each process states its process id and the address of a probe value, which
//   lies there too. Before the first copy, a process reads the peer's probe value once by a direct copy, and
//   once in the segment. If the two values are equal, copies work.
// - A copy that fails later is an error and ends the copies with that process. The caller then uses another
//   copy method.
// Thread rule: the owner of the engine.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "path/shm/segment.h"

namespace lanyard {

class DirectCopies {
public:
    DirectCopies(Segment &segment, uint32_t own, bool allowed);
    // Called when the segment has one more member.
    void add_member() { reach_.push_back(Reach::untried); }

    // Applies the user's setting to messages that begin from now on.
    void allow(bool allowed);
    bool are_allowed() const { return allowed_; }
    // work_with(): may read() and write() be called for this member? work_with_all(): may they be called for
    // all members except this process?
    bool work_with(uint32_t member);
    bool work_with_all();
    // Copies all bytes between the local runs and the remote address. Returns an error if none or only some
    // were copied; work_with() is false from then on. One call copies less than 2 GiB, between at most 1024
    // runs (limits of the kernel).
    Error read(uint32_t member, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    Error write(uint32_t member, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

private:
    enum class Reach : uint8_t { untried, works, refused };

    bool try_once(uint32_t member) const;
    pid_t process(uint32_t member) const {
        return segment_.member(member).reach.process.load(std::memory_order_relaxed);
    }

    Segment &segment_;
    const uint32_t own_;
    bool allowed_ = false;
    std::vector<Reach> reach_;  // indexed by member
};

}  // namespace lanyard
