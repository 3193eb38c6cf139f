// A path to processes that share no memory with this one. Beyond the contract of all paths (path.h), the
// runtime needs these functions, mostly when processes are added or leave. Thread rule: the owner of the
// engine.
#pragma once

#include "net/secret.h"
#include "path/path.h"

namespace lanyard {

class NetworkPath : public Path {
public:
    // The job's secret; before the first poll.
    virtual void set_secret(const Secret &secret) = 0;
    // The table of processes has grown. From now on the path may be used to reach the new ones.
    virtual void grow() = 0;
    // Has there been contact with every other process? From now on the path tries to reach those that lack.
    virtual bool connected_to_all() = 0;
    // true: nothing is sent any more, and everything that was sent has arrived; a peer that exits has not
    // failed. false: messages will be sent again after all.
    virtual void leave(bool leaving) = 0;
    // Sends now the acknowledgements that would otherwise travel with a later message.
    virtual void answer_all() = 0;
    // The process ends while others continue. Idle connections are closed, so that the other side does not
    // try to reach this process.
    virtual void close_idle() = 0;
    // MPI is finalised: logs what was out of the ordinary (LANYARD_LOG=info), and warns in any case of what
    // users should know.
    virtual void report() const {}
    // Processes share processors: a poll that finds nothing costs the other processes time.
    virtual void share_processors() {}
    virtual void close() = 0;

protected:
    using Path::Path;
};

}  // namespace lanyard
