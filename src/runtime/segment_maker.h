// How the ranks of a node come to their segment: the first of them makes it, the others map it once a barrier has told them
// that it is there. The file comes from the launcher, or has a name in LANYARD_SHM_DIR until all have opened it.
//
// A node may have no shared memory: no folder for it, one that is full or read-only, a limit on the length of files. Its first
// rank then tells all ranks of the job why, under one key, before the barrier. All ask for that key after it, so all find the
// same and go on without shared memory together, or end with the same sentence (runtime.cc).
#pragma once

#include <string>

#include "base/error.h"

namespace lanyard {

struct Runtime;

class SegmentMaker {
public:
    explicit SegmentMaker(Runtime &made);
    // Before the barrier. An error is one of telling others.
    Error create();
    // After it. Does some node of the job lack shared memory?
    bool lacking();
    // What is lacking, once that is known; and a line for the user, by one that found it.
    const std::string &lack() const;
    void tell_lack() const;
    // After the barrier and before another: only where nothing is lacking.
    Error attach();
    // After that one.
    void unlink();

private:
    Error make();

    Runtime &made_;
    int descriptor_;
    bool named_;
    std::string name_;
    std::string lack_;  // why this rank could not make it; "": it did, or another rank does
    std::string told_;  // why another could not
};

}  // namespace lanyard
