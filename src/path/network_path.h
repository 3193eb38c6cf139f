// A path to processes that share no memory with this one: what the runtime asks of it beyond the contract of all paths (path.h), mostly when a
// process comes and goes. Thread rule: the owner of the engine.
#pragma once

#include "net/secret.h"
#include "path/path.h"

namespace lanyard {

class NetworkPath : public Path {
public:
    // The job's; before the first poll.
    virtual void set_secret(const Secret &secret) = 0;
    // The table of processes has further ones, which this path may be asked to reach from now on.
    virtual void grow() = 0;
    // Has there been contact with every other process? Those that lack are wanted from now on.
    virtual bool connected_to_all() = 0;
    // Nothing is sent any more, and all that was sent has arrived: a peer that goes is no loss. false: it goes on after all.
    virtual void leave(bool leaving) = 0;
    // Says now what has come, where that was to be said with a later message.
    virtual void answer_all() = 0;
    // The process ends, others go on: what is quiet is closed, so that the other side need not look for this one.
    virtual void close_idle() = 0;
    // MPI is finalised: tells who asks (LANYARD_LOG=info) what was out of the ordinary, and everybody what they should know of.
    virtual void report() const {}
    // Processes share processors: a look that finds nothing costs the others time.
    virtual void share_processors() {}
    virtual void close() = 0;

protected:
    using Path::Path;
};

}  // namespace lanyard
