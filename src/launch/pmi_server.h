// The server side of PMI-1 for the ranks of this host, one socket for each rank: identity, a common table of
// published values, the barrier, abort. It refuses what it does not offer (spawn, publishing of names) with a
// message.
//
// On several hosts, the servers form the tree of protocol.h. A server enters the barrier of the one above
// when all of its ranks and all servers below have entered its own. The values published since the last
// release travel up with it, and the release from the top brings the values of all hosts. A barrier therefore
// costs one message for each host and direction, and after it, every get is answered locally. A get before
// that barrier is passed upwards. A rank that has finalised and ended (others may continue with sessions)
// counts as entered in every later barrier. So does a server all of whose ranks and servers below have ended;
// it reports this once.
//
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
    // `aborted` is called when a rank requests the end of the job.
    PmiServer(Loop &loop, const Placement &placement, std::string job, Neighbours neighbours,
              std::function<void(const Abort &)> aborted);
    ~PmiServer();
    PmiServer(const PmiServer &) = delete;
    PmiServer &operator=(const PmiServer &) = delete;

    // Opens the connection of a rank and returns the rank's end, which the caller closes after the rank was
    // started. Returns -1 with errno set if the system refuses. `program_ranks`: the number of ranks with
    // which that program was started. `segment`: the node's file, under the number that it has in the rank.
    int connect_rank(int rank, int program, int program_ranks, int segment = -1);
    // Sets a function for the case that a process that has joined and not left closes its connection but
    // continues to run. Nothing can reach that rank any more.
    void on_cut_off(std::function<void(int rank, pid_t process)> cut_off) { cut_off_ = std::move(cut_off); }
    // The rank's process has ended. Handles what it had sent before.
    void rank_ended(int rank);
    // The job ends. Ranks that end from now on were told to do so, and barriers do not count them as entered.
    void job_ends() { job_ends_ = true; }
    // True if the rank has joined the job and not left it, so that others may wait for it forever.
    bool inside(int rank) const { return clients_.at(rank).stage.joined && !clients_.at(rank).stage.left; }
    bool left(int rank) const { return clients_.at(rank).stage.left; }
    // The stage of each rank of this host, for reports of what it waits for.
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
        pid_t process = 0;  // the process that joined
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
    std::unordered_map<std::string, Askers> asked_;  // requested from above and not answered yet
    size_t in_barrier_ = 0;                          // ranks and remote hosts
    size_t departed_remote_ = 0;
    bool told_departed_ = false, job_ends_ = false;
};

}  // namespace lanyard::launch
