// How a process finds out its rank and its job, and synchronises with the others before there are paths: the
// client side of launching. There is one interface. Behind it is a PMI-1 client (for mpirun, mpiexec.hydra,
// and Slurm's PMI-2 plug-in, which also speaks PMI-1), or the singleton of a program started without a
// launcher. The runtime calls it; no other part uses PMI.
// Thread rule: any thread. Calls block until the launcher answers, and the calls of several threads are
// served one after another. Only get() never waits for another thread's call, because a thread that makes
// progress must not be blocked while another thread is in a barrier. Signals do not interrupt calls.
// Invariant: a process that finds a job of another launcher and cannot join it gets an Error, and is never
// rank 0 of 1.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lanyard {

class Bootstrap {
public:
    // Known from the start; never changes.
    struct Identity {
        int rank = 0;
        int size = 1;
        int local_rank = 0;  // among the ranks of this node
        int local_size = 1;
        int appnum = -1;         // which of the programs separated by ':'; -1 for a singleton
        int universe_size = -1;  // as MPI_UNIVERSE_SIZE; -1 if the launcher does not report it
        // Ranks with which this one's program was started; -1 if the launcher does not report it.
        int maxprocs = -1;
        // An open file for this node's segment, which the ranks share; -1: the library creates its own.
        int segment_fd = -1;
        std::string job;         // equal on all ranks of a job, different between jobs; not secret
        std::string launcher;    // "mpirun", "PMI-1" or "none", for reports
        std::vector<int> node_of_rank;  // the node (0, 1, ...) of each rank
    };

    virtual ~Bootstrap() = default;
    Bootstrap(const Bootstrap &) = delete;
    Bootstrap &operator=(const Bootstrap &) = delete;

    int rank() const { return identity_.rank; }
    int size() const { return identity_.size; }
    int local_rank() const { return identity_.local_rank; }
    int local_size() const { return identity_.local_size; }
    int appnum() const { return identity_.appnum; }
    int universe_size() const { return identity_.universe_size; }
    int maxprocs() const { return identity_.maxprocs; }
    int segment_fd() const { return identity_.segment_fd; }
    const std::string &job() const { return identity_.job; }
    const Identity &identity() const { return identity_; }

    // Publishes `value` under `key` for all ranks of the job. It is visible to others after the next barrier
    // at the latest. Keys and values are words of printable characters without spaces. The launcher's limits
    // (with mpirun at least 64 for a key and 1024 for a value) are checked here. A longer value is an Error;
    // it is never cut.
    virtual Error put(const std::string &key, const std::string &value) = 0;
    // The value that some rank has put. An unknown key is an Error of class `name`. Class `pending` means
    // that another thread is waiting for the launcher.
    virtual Error get(const std::string &key, std::string &value) = 0;
    // Returns when every rank of the job has called it.
    Error barrier() {
        if (Error error = enter_barrier()) return error;
        return leave_barrier();
    }
    // A barrier in three steps, for a caller that has other work meanwhile. enter_barrier() reports that this
    // rank has arrived. The descriptor becomes readable when all have arrived (-1: they have). Then
    // leave_barrier() must be called. Until then, other threads' requests to the launcher wait.
    virtual Error enter_barrier() { return {}; }
    virtual int barrier_descriptor() const { return -1; }
    virtual Error leave_barrier() { return {}; }
    // Writes `message` to standard error and has the launcher end the whole job with exit code `code`. It
    // returns, and the caller then ends its own process with that code. `asked`: the program called
    // MPI_Abort; otherwise the reason is an error.
    virtual void abort(int code, std::string_view message, bool asked) = 0;
    // Reports to the launcher that this rank may end now without having failed. It is the last call, unless
    // takes_back().
    virtual Error finalize() = 0;
    // True if rejoin() may follow finalize().
    virtual bool takes_back() const { return true; }
    // Called after finalize(): the rank goes on, and its end would be a failure again.
    virtual Error rejoin() { return {}; }
    // The MPI function in which all later calls are made, for launchers that show what their ranks wait for.
    void in_call(const char *call) { call_ = call; }

protected:
    Bootstrap() = default;
    Identity identity_;
    const char *call_ = "";
};

// Joins the job in which this process was started, as the environment describes it. On error returns nullptr
// and sets `error`. Its sentence has two lines (what was found, what to do) if the process belongs to a job
// that cannot be joined.
std::unique_ptr<Bootstrap> connect_bootstrap(Error &error);

// What maxprocs() of that bootstrap will be, for callers before it exists. -1 if only the launcher can
// answer.
int expected_maxprocs();

// Reads "(vector,(first node,nodes,ranks on each)...)", the form in which PMI launchers describe where ranks
// are, into the node of each of `size` ranks. False if the text has another form.
bool parse_process_mapping(std::string_view text, int size, std::vector<int> &node_of_rank);

}  // namespace lanyard
