// What the conformance suite (path_suite.h) asks of a kind of path: some paths connected to each other in one process,
// driven by one thread. To let a new path run the suite, write a function that makes it Connected and add it to the list in
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

    // The path of peer i is paths[i]; it reaches all the others, and itself where it is alone.
    std::vector<Path *> paths;

    // Bytes of bulk may come more than once.
    bool repeats_bulk = false;

    // The time that poll() is told.
    virtual uint64_t now_ns() { return clock_ns(); }
    // Ends the process of one peer, where the path can notice such a thing; false when it cannot.
    virtual bool kill(uint32_t peer) { return false; }
};

struct Kind {
    const char *name;
    // `peers` of them, with `seed` where the path has something to decide at random. A path that cannot connect so many
    // connects as many as it can.
    std::unique_ptr<Connected> (*connect)(uint32_t peers, uint64_t seed);
    // What this machine lacks for it, "" where nothing.
    std::string (*lacks)() = [] { return std::string(); };
};
inline void PrintTo(const Kind &kind, std::ostream *out) { *out << kind.name; }

}  // namespace lanyard::conformance
