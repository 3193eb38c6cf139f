// Declares what a kind of path must provide for the conformance suite (path_suite.h): some paths in one
// process that are connected to each other and that one thread drives. To run the suite on a new kind of
// path, write a function that creates a Connected with such paths, and add the function to the list in
// kinds.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "path/path.h"

namespace lanyard::conformance {

class Connected {
public:
    virtual ~Connected() = default;

    // paths[i] is the path of peer i. It reaches all other peers, or itself if it is the only peer.
    std::vector<Path *> paths;

    // True if bytes of bulk may arrive more than once.
    bool repeats_bulk = false;

    // The time that the suite passes to poll().
    virtual uint64_t now_ns() { return clock_ns(); }
    // Ends the process of one peer. Returns false if the other peers cannot notice this through the
    // path.
    virtual bool kill(uint32_t peer) { return false; }
};

struct Kind {
    const char *name;
    // Connects `peers` paths, with `seed` for random decisions of the path. A kind of path that cannot
    // connect this many peers connects as many as it can.
    std::unique_ptr<Connected> (*connect)(uint32_t peers, uint64_t seed);
    // Describes what this kind needs and this machine lacks, or returns "".
    std::string (*lacks)() = [] { return std::string(); };
};
inline void PrintTo(const Kind &kind, std::ostream *out) { *out << kind.name; }

}  // namespace lanyard::conformance
