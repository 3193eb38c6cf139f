// How the ranks of a node obtain their segment. The first of them creates it, and the others map it after a
// barrier, when it exists. The file comes from the launcher, or has a name in LANYARD_SHM_DIR until all have
// opened it.
//
// A node may have no shared memory: no folder for it, a full or read-only folder, or a limit on the length of
// files. Its first rank then publishes the reason under one key, before the barrier. All ranks of the job
// read that key after the barrier. So all find the same and go on together without shared memory, or end with
// the same message (runtime.cc).
#pragma once

#include <string>

#include "base/error.h"

namespace lanyard {

struct Runtime;

class SegmentMaker {
public:
    explicit SegmentMaker(Runtime &made);
    // Called before the barrier. An error means that the reason could not be published.
    Error create();
    // Called after the barrier. True if some node of the job lacks shared memory.
    bool lacking();
    // The reason, once it is known; and a message for the user, by a rank that found it.
    const std::string &lack() const;
    void tell_lack() const;
    // Called after the first barrier and before a second, only if nothing is lacking.
    Error attach();
    // Called after the second barrier.
    void unlink();

private:
    Error make();

    Runtime &made_;
    int descriptor_;
    bool named_;
    std::string name_;
    std::string lack_;  // why this rank could not create it; "": it did, or another rank does
    std::string told_;  // why another rank could not
};

}  // namespace lanyard
