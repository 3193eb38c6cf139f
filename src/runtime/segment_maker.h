// Creates the segment of a node (path/shm/segment.h) or maps it into this process. The first rank of the node
// creates the segment. After a barrier the segment exists, and all ranks map it. The launcher may provide a
// file for the segment. Otherwise the file has a name in LANYARD_SHM_DIR until all ranks have opened it.
//
// A node has no shared memory if LANYARD_SHM_DIR is missing, full or read-only, or if the length of files is
// limited too much. Then the first rank of the node publishes the reason before the barrier, under a key that
// is the same for all nodes. All ranks of the job read that key after the barrier. So all ranks come to the
// same result: together they go on without shared memory, or end with the same message (runtime.cc).
// Thread rule: the thread that creates the runtime. All ranks of the job call lacking(), or none does.
// Tested by: tests/failures/test_machine.py, tests/launch/test_start.py.
#pragma once

#include <string>

#include "base/error.h"

namespace lanyard {

struct Runtime;

class SegmentMaker {
public:
    // The segment of `made` will be created. `made` must already have its settings and bootstrap, and must
    // outlive this object.
    explicit SegmentMaker(Runtime &made);
    // Creates the segment if this is the node's first rank. Called before the barrier. Always returns
    // success; if the segment cannot be created, lacking() returns true on all ranks.
    Error create();
    // True if some node of the job lacks shared memory. Called after the barrier. If the launcher does not
    // answer, this counts as no lack.
    bool lacking();
    // The reason, after lacking() has returned true.
    const std::string &lack() const;
    // Logs a warning with the reason, on a rank that could not create its node's segment.
    void tell_lack() const;
    // Maps the segment into this process. Called between the first barrier and a second one, only if
    // lacking() has returned false. Errors come from the system.
    Error attach();
    // Removes the name of the file, if it has one. Called after the second barrier.
    void unlink();

private:
    Error make();

    Runtime &made_;
    int descriptor_;
    bool named_;
    std::string name_;
    std::string lack_;  // why this rank could not create the segment; "" if it could, or is not the first
    std::string told_;  // the reason that some rank has published
};

}  // namespace lanyard
