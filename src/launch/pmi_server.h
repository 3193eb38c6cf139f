// The server side of PMI-1 for the ranks of this host, one socket per rank: identity, a common table of published values,
// the barrier, abort. What it does not offer (spawn, publishing of names) it refuses with a message.
//
// On several hosts the servers form the tree of protocol.h. Rule: a server enters the barrier of the one above it when all
// its ranks and all servers below have entered its own, and takes along what was published since the last release; the
// release from the top brings everything that was published anywhere. So a barrier costs one message a host and
// direction, and after it every get is answered on the spot; what is asked before its barrier is asked upwards.
// A rank that has ended in order (it may have finalised MPI while others go on with sessions) counts as entered in every barrier,
// a server all of whose ranks have as well: it says so once.
// Driven by the loop; single-threaded; never blocks on a rank that does not read its answers.
#pragma once

#include <functional>
#include <string>
#include <map>
#include <unordered_map>
#include <vector>

#include "bootstrap/pmi_line.h"
#include "launch/loop.h"
#include "launch/protocol.h"
#include "launch/waits.h"

namespace lanyard::launch {

class PmiServer {
public:
    struct Neighbours {
        std::function<void(const Frame &)> above;                // barrier and ask; empty at the top
        std::function<void(size_t remote, const Frame &)> below;  // release and answer
        size_t remote_hosts = 0;
    };
    // `aborted` is called when a rank asks for the end of the job.
    PmiServer(Loop &loop, const Placement &placement, std::string job, Neighbours neighbours, std::function<void(const Abort &)> aborted);
    ~PmiServer();
    PmiServer(const PmiServer &) = delete;
    PmiServer &operator=(const PmiServer &) = delete;

    // Opens the connection of a rank and returns the rank's end, which the caller closes after the rank was
    // started. -1 with errno set when the system refuses. `program_ranks`: how many ranks that program was
    // started with. `segment`: the node's file, as the rank will have it.
    int connect_rank(int rank, int program, int program_ranks, int segment = -1);
    // Called when a process that has joined and not left closes its connection, but lives on: nothing can
    // reach it any more.
    void on_cut_off(std::function<void(int rank, pid_t process)> cut_off) { cut_off_ = std::move(cut_off); }
    // The rank's process has ended: handles what it had sent until then.
    void rank_ended(int rank);
    // The job ends: whoever ends from now on was told to, and is missed by the others.
    void job_ends() { job_ends_ = true; }
    // True when the rank has joined the job and has not left it: the others may wait for it forever.
    bool inside(int rank) const { return clients_.at(rank).stage.joined && !clients_.at(rank).stage.left; }
    bool left(int rank) const { return clients_.at(rank).stage.left; }
    // How far each rank of this host is, for those who ask what it waits for.
    std::vector<RankStage> stages() const;

    void remote_entered(const Values &published);
    void remote_departed();
    void remote_asks(size_t remote, const std::string &key);
    void release(const Values &published);
    void answered(const Answer &answer);

private:
    struct Client {
        int fd = -1;
        int program = 0;
        int program_ranks = 1;
        pid_t process = 0;  // that joined
        RankStage stage;
        bool was_told_to_end = false;
        bool waiting_to_send = false;
        bool skipping_block = false;  // inside "mcmd=" ... "endcmd", a request of several lines
        std::string received;
        std::string unsent;
    };

    void ready(int rank, uint32_t events);
    void handle(int rank, const PmiLine &line);
    void handle_put(int rank, const PmiLine &line);
    void handle_get(int rank, const PmiLine &line);
    void enter_barrier(int rank);
    void pass_barrier();
    size_t departed() const;
    void tell_departed();
    void publish(const std::string &key, const std::string &value);
    void answer_get(int rank, const Answer &answer);
    void ask_above(const std::string &key);
    void answer(int rank, const std::string &line);
    void flush(int rank);
    void drop(int rank);
    void closed(int rank);

    Loop &loop_;
    std::string job_;
    std::function<void(const Abort &)> aborted_;
    std::function<void(int, pid_t)> cut_off_;
    size_t ranks_;  // of the job
    Neighbours neighbours_;
    std::map<int, Client> clients_;  // by rank
    std::unordered_map<std::string, std::string> published_;
    std::unordered_map<std::string, std::string> fresh_;  // published here and below since the last release
    struct Askers {
        std::vector<int> ranks;
        std::vector<size_t> remote_hosts;
    };
    std::unordered_map<std::string, Askers> asked_;  // above, and not answered yet
    size_t in_barrier_ = 0;                          // ranks and remote hosts
    size_t departed_remote_ = 0;
    bool told_departed_ = false, job_ends_ = false;
};

}  // namespace lanyard::launch
