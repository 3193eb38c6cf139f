// Copies between this process's memory and that of the node's other processes, by the kernel
// (process_vm_readv). The kernel may refuse them: because of seccomp or Yama, or because a process is in
// another namespace, where its id names a different process.
//
// - Each process writes to its part of the segment its process id, and the address of a value that only it
//   knows. Before the first copy, a process reads this value of the peer once. The result shows whether
//   copies work.
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
    // The segment has one more member.
    void add_member() { reach_.push_back(Reach::untried); }

    // The user's setting, for messages begun from now on.
    void allow(bool allowed);
    bool are_allowed() const { return allowed_; }
    // May read() and write() be called for this member, or for all members but this process?
    bool work_with(uint32_t member);
    bool work_with_all();
    // Copies all bytes between the local runs and the remote address. Returns an error if none or only some
    // were copied.
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
    std::vector<Reach> reach_;  // by member
};

}  // namespace lanyard
