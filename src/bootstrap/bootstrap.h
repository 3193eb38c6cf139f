// Bootstrap is the client side of launching. By it a process finds out its rank and its job, and synchronises
// with the other ranks before there are paths. The interface has two implementations: a PMI-1 client (for
// mpirun, mpiexec.hydra, and Slurm's PMI-2 plug-in, which also speaks PMI-1), and the singleton of a program
// that was started without a launcher. The runtime uses this interface; no other part uses PMI.
// Thread rule: any thread. Calls block until the launcher answers, and the calls of several threads are
// served one after another. Only get() never waits for another thread's call, because a thread that makes
// progress must not be blocked while another thread is in a barrier. Signals do not interrupt calls.
// Invariant: a process that finds signs of a job and cannot join that job gets an Error. It runs as rank 0 of
// 1 only if no rank of the job is missing because of this (bootstrap.cc).
// Tested by: tests/launch/test_pmi.py, tests/unit/launch/hosts_test.cc.
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
    // What a rank knows from the start and what never changes.
    struct Identity {
        int rank = 0;
        int size = 1;
        int local_rank = 0;      // this rank's number among the ranks of its node
        int local_size = 1;      // the number of ranks of this node
        int appnum = -1;         // which of the programs that mpirun's ':' separates; -1 if not known
        int universe_size = -1;  // the value of MPI_UNIVERSE_SIZE; -1 if the launcher does not report it
        // The number of ranks with which this rank's program was started; -1 if the launcher does not report
        // it.
        int maxprocs = -1;
        // The descriptor of an open file for the segment that the ranks of this node share. -1 if there is no
        // such file, so that the library must create it.
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

    // Publishes `value` under `key` for all ranks of the job. Other ranks can get the value after the next
    // barrier at the latest. Keys and values are words of printable characters without spaces. The launcher's
    // limits for their lengths (with mpirun at least 64 for a key and 1024 for a value) are checked here. A
    // longer value is an Error; it is never truncated.
    virtual Error put(const std::string &key, const std::string &value) = 0;
    // Gets the value that some rank has put. An unknown key is an Error of class `name`. An Error of class
    // `pending` means that another thread is waiting for the launcher.
    virtual Error get(const std::string &key, std::string &value) = 0;
    // Returns when every rank of the job has called barrier().
    Error barrier() {
        if (Error error = enter_barrier()) return error;
        return leave_barrier();
    }
    // The same barrier in three steps, for a caller that has other work meanwhile. enter_barrier() reports
    // that this rank has arrived. barrier_descriptor() becomes readable when all ranks have arrived; -1 means
    // that all have arrived. The same thread must then call leave_barrier(). Requests of other threads to
    // the launcher wait until leave_barrier() returns. After an Error of enter_barrier(), leave_barrier()
    // must not be called. The descriptor also becomes readable if the launcher ends; leave_barrier() then
    // returns an Error.
    virtual Error enter_barrier() { return {}; }
    virtual int barrier_descriptor() const { return -1; }
    virtual Error leave_barrier() { return {}; }
    // Writes `message` to standard error and has the launcher end the whole job with exit code `code`. Then
    // abort() returns, and the caller must end its own process with that code. `asked` is true if the program
    // has called MPI_Abort, and false if the reason is an error.
    virtual void abort(int code, std::string_view message, bool asked) = 0;
    // Reports to the launcher that the end of this rank is no failure from now on. No further call may
    // follow, except rejoin() if takes_back() is true.
    virtual Error finalize() = 0;
    // True if rejoin() may follow finalize().
    virtual bool takes_back() const { return true; }
    // Takes back finalize(): the rank goes on, and its end counts as a failure again.
    virtual Error rejoin() { return {}; }
    // Sets the name of the MPI function that makes all later calls, for launchers that show what their ranks
    // wait for. The string must live as long as this object.
    void in_call(const char *call) { call_ = call; }

protected:
    Bootstrap() = default;
    Identity identity_;
    const char *call_ = "";
};

// Joins the job in which this process was started, as its environment, its descriptors and the processes
// above it show. On error returns nullptr and sets `error`. If the process belongs to a job that it cannot
// join, the error's sentence has two lines: what was found, and what to do.
std::unique_ptr<Bootstrap> connect_bootstrap(Error &error);

// Returns what maxprocs() of the bootstrap will be, for callers before connect_bootstrap(). -1 if that shows
// only when the process joins.
int expected_maxprocs();

// Reads a text by which PMI launchers describe where ranks run, "(vector,(first node,nodes,ranks on
// each)...)". Stores the node of each of `size` ranks. False if the text has another form.
bool parse_process_mapping(std::string_view text, int size, std::vector<int> &node_of_rank);

}  // namespace lanyard
