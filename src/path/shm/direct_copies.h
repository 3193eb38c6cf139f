// Copies from and to the memory of the node's other processes, by the kernel (process_vm_readv), which may refuse them: by seccomp, by Yama, or
// because a process is in another namespace, where its id names somebody else.
//
// - Each process says in its part of the segment who it is, and where a value lies that it alone knows. Who wants to copy reads that value
//   first, once for each process; what comes says whether copies work.
// - A copy that fails later is an error, and ends the copies with that process: its caller takes another way.
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
    // There is a further member.
    void add_member() { reach_.push_back(Reach::untried); }

    // By the user, for messages begun from now on.
    void allow(bool allowed);
    bool are_allowed() const { return allowed_; }
    // May read() and write() be called for this member; for all but this process?
    bool work_with(uint32_t member);
    bool work_with_all();
    // Of all the bytes between the local runs and the address there; or an error, when none or only some were copied.
    Error read(uint32_t member, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    Error write(uint32_t member, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

private:
    enum class Reach : uint8_t { untried, works, refused };

    bool try_once(uint32_t member) const;
    pid_t process(uint32_t member) const { return segment_.member(member).reach.process.load(std::memory_order_relaxed); }

    Segment &segment_;
    const uint32_t own_;
    bool allowed_ = false;
    std::vector<Reach> reach_;  // by member
};

}  // namespace lanyard
