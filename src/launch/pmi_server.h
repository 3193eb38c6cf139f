// A PmiServer is the server side of PMI-1 for the ranks of this host, with one socket for each rank. It
// offers each rank its identity, a common table of published values, the barrier, and abort. A request for
// anything else (spawn, publishing of names) is refused with a message.
//
// On several hosts, the servers form the tree of protocol.h. A server waits until all of its ranks and all
// servers below it have entered its barrier. Then it enters the barrier of the server above it, by a message
// with the values that were published since the last barrier ended. The message that ends the barrier
// (`release`) comes from the top of the tree and contains the values of all hosts. So a barrier costs one
// message for each host and direction, and after a barrier every get is answered locally. A get for a value
// that is not known yet is passed upwards. A rank that has finalised MPI and ended (other ranks may continue
// with sessions) counts as entered in every later barrier. The same holds for a server whose ranks and
// servers below have all ended in this way; the server reports this once.
//
// Driven by the loop; single-threaded; never blocks on a rank that does not read its answers.
// Tested by: tests/launch/test_pmi.py, tests/unit/launch/pmi_tree_test.cc, tests/fuzz/pmi_server.cc.
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
        // Sends a barrier, ask or departed frame to the server above; empty at the top of the tree.
        std::function<void(const Frame &)> above;
        // Sends a release or answer frame to a server below.
        std::function<void(size_t remote, const Frame &)> below;
        size_t remote_hosts = 0;
    };
    // `aborted` is called when a rank requests the end of the job.
    PmiServer(Loop &loop, const Placement &placement, std::string job, Neighbours neighbours,
              std::function<void(const Abort &)> aborted);
    ~PmiServer();
    PmiServer(const PmiServer &) = delete;
    PmiServer &operator=(const PmiServer &) = delete;

    // Opens the connection of a rank and returns the rank's end of it, which the caller closes when the rank
    // has been started. Returns -1 with errno set if the system refuses. `program_ranks` is the number of
    // ranks with which the rank's program is started. `segment` is the number that the descriptor of the
    // segment's file has in the rank.
    int connect_rank(int rank, int program, int program_ranks, int segment = -1);
    // Sets a function that is called when a process has joined the job, has not left it, and closes its
    // connection but continues to run. mpirun can no longer reach such a rank.
    void on_cut_off(std::function<void(int rank, pid_t process)> cut_off) { cut_off_ = std::move(cut_off); }
    // Called when the rank's process has ended. Handles what the process has sent before.
    void rank_ended(int rank);
    // Called when the job is ended. A rank that ends from now on was told to do so, so barriers do not count
    // it as entered.
    void job_ends() { job_ends_ = true; }
    // For a rank of this host. inside(): the rank has joined the job and not left it. If such a rank ends,
    // others may wait for it forever. left(): the rank has joined the job and left it.
    bool inside(int rank) const { return clients_.at(rank).stage.joined && !clients_.at(rank).stage.left; }
    bool left(int rank) const { return clients_.at(rank).stage.left; }
    // The stage of each rank of this host, for reports about what the ranks wait for.
    std::vector<RankStage> stages() const;

    // Handle frames of the servers below (barrier, departed, ask) and of the server above (release, answer).
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
    size_t ranks_;  // the number of ranks of the job
    Neighbours neighbours_;
    std::map<int, Client> clients_;  // by rank
    std::unordered_map<std::string, std::string> published_;
    // The values that were published here and below since the last release.
    std::unordered_map<std::string, std::string> fresh_;
    struct Askers {
        std::vector<int> ranks;
        std::vector<size_t> remote_hosts;
    };
    // By key: requests that were passed upwards and are not answered yet.
    std::unordered_map<std::string, Askers> asked_;
    size_t in_barrier_ = 0;                          // how many ranks and remote hosts have entered
    size_t departed_remote_ = 0;                     // how many remote hosts have departed
    bool told_departed_ = false, job_ends_ = false;
};

}  // namespace lanyard::launch
