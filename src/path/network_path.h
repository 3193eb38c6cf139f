// A NetworkPath leads to processes that share no memory with this process. To the contract of all paths
// (path.h) it adds functions that the runtime needs, mostly when processes are added or leave.
// Thread rule: the owner of the engine, or, before the engine exists, the thread that creates the runtime.
// Tested by: tests/sim/processes_test.cc, tests/sim/dying_test.cc.
#pragma once

#include "net/secret.h"
#include "path/path.h"

namespace lanyard {

class NetworkPath : public Path {
public:
    // Sets the job's secret. Must be called before the first poll().
    virtual void set_secret(const Secret &secret) = 0;
    // Called when the table of processes has grown. From now on the path may be used to reach the new
    // processes.
    virtual void grow() = 0;
    // Has there been contact with every other process that has not failed? (A path without connections does
    // not look and returns true.) The call also makes the path try, from now on, to reach the processes with
    // which there was no contact.
    virtual bool connected_to_all() = 0;
    // true: this process sends no more messages, and everything that it sent has arrived. A peer that exits
    // from now on does not count as failed. false: messages will be sent again after all.
    virtual void leave(bool leaving) = 0;
    // Sends now the acknowledgements that would otherwise travel with a later message.
    virtual void answer_all() = 0;
    // The process ends while others continue. Closes idle connections, so that the other side does not try to
    // reach this process.
    virtual void close_idle() = 0;
    // Called when MPI is finalised. Logs what was out of the ordinary, at the level `info`, and what users
    // should know, at the level `warn`.
    virtual void report() const {}
    // Called if processes share processors. A poll that finds nothing then takes time from the other
    // processes.
    virtual void share_processors() {}
    // Closes everything without waiting. No other function may be called afterwards.
    virtual void close() = 0;

protected:
    using Path::Path;
};

}  // namespace lanyard
