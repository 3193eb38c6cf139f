// How a process learns which rank of which job it is, and meets the others before there are paths: the client side of
// launching. One interface; behind it a PMI-1 client (mpirun, mpiexec.hydra, Slurm's PMI-2 plug-in in its PMI-1 manner)
// or the singleton of a program started without a launcher. Called by the runtime; nothing else knows PMI.
// Thread rule: any thread. Calls block until the launcher answers, and those of several threads are answered one after the other; only get()
// waits for nobody else, since who moves messages must not stand still while another thread waits for a barrier. Signals do not disturb them.
// Invariant: a process that sees another launcher's job and cannot join it is an Error, never rank 0 of 1.
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
    // What is known from the start and never changes.
    struct Identity {
        int rank = 0;
        int size = 1;
        int local_rank = 0;  // among the ranks of this node
        int local_size = 1;
        int appnum = -1;         // which of the programs separated by ':'; -1 for a singleton
        int universe_size = -1;  // as MPI_UNIVERSE_SIZE; -1 where the launcher does not say
        int maxprocs = -1;       // ranks this one's program was started with; -1 where the launcher does not say
        int segment_fd = -1;     // open file for this node's segment, shared by the ranks; -1: the library makes its own
        std::string job;         // the same for all ranks of a job, different between jobs; no secret
        std::string launcher;    // "mpirun", "PMI-1" or "none", for reports
        std::vector<int> node_of_rank;  // which node (0, 1, ...) each rank is on
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

    // Publishes `value` under `key` for all ranks of the job; visible to others after the next barrier at the latest.
    // Keys and values are words of printable characters without spaces; the launcher's limits (never below 64 for a key
    // and 1024 for a value with mpirun) are checked here, and what is longer is an Error, not cut.
    virtual Error put(const std::string &key, const std::string &value) = 0;
    // The value some rank has put. An unknown key is an Error of class `name`; one of class `pending` says that another thread is
    // waiting for the launcher now.
    virtual Error get(const std::string &key, std::string &value) = 0;
    // Returns when every rank of the job has called it.
    Error barrier() {
        if (Error error = enter_barrier()) return error;
        return leave_barrier();
    }
    // The same for who has other things to do meanwhile: it says that this rank is there; all are once the descriptor is readable (-1: they
    // are); then it leaves. Until then other threads wait with what they ask the launcher.
    virtual Error enter_barrier() { return {}; }
    virtual int barrier_descriptor() const { return -1; }
    virtual Error leave_barrier() { return {}; }
    // Writes `message` to standard error and has the launcher end the whole job with exit code `code`. Returns: the
    // caller then ends its own process with that code. `asked`: the program called MPI_Abort; otherwise it is for an error.
    virtual void abort(int code, std::string_view message, bool asked) = 0;
    // Tells the launcher that this rank may end now without having failed. The last call, except where the launcher takes_back().
    virtual Error finalize() = 0;
    // May rejoin() follow finalize()?
    virtual bool takes_back() const { return true; }
    // After finalize(): the rank goes on, and its end would be a failure again.
    virtual Error rejoin() { return {}; }
    // The function of MPI that all calls from now on are made for, where the launcher shows what its ranks wait for.
    void in_call(const char *call) { call_ = call; }

protected:
    Bootstrap() = default;
    Identity identity_;
    const char *call_ = "";
};

// Joins the job this process was started in, by what the environment says. On error returns nullptr and sets `error`;
// its sentence has two lines (what was seen, what to do) where the process belongs to a job that cannot be joined.
std::unique_ptr<Bootstrap> connect_bootstrap(Error &error);

// What maxprocs() of that bootstrap will be, for who asks before there is one; -1 where that is known only
// once the launcher was asked.
int expected_maxprocs();

// Reads "(vector,(first node,nodes,ranks on each)...)", the form in which PMI launchers say where ranks are, into the
// node of each of `size` ranks. False when the text has another form.
bool parse_process_mapping(std::string_view text, int size, std::vector<int> &node_of_rank);

}  // namespace lanyard
