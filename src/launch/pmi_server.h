// The server side of PMI-1, one socket per rank: identity, a common table of published values, the barrier, abort.
// What it does not offer (spawn, publishing of names) it refuses with a message. Driven by mpirun's loop; single-threaded;
// never blocks on a rank that does not read its answers.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch/loop.h"
#include "launch/pmi_line.h"
#include "launch/waits.h"

namespace lanyard::launch {

class PmiServer {
public:
    // `aborted` is called when a rank asks for the end of the job with an exit code.
    PmiServer(Loop &loop, int ranks, std::string job, std::function<void(int rank, int code)> aborted);
    ~PmiServer();
    PmiServer(const PmiServer &) = delete;
    PmiServer &operator=(const PmiServer &) = delete;

    // Opens the connection of a rank and returns the rank's end, which the caller closes after the rank was started.
    // -1 with errno set when the system refuses.
    // `program_ranks`: how many ranks that program was started with.
    int connect_rank(int rank, int program, int program_ranks);
    // The rank's process has ended: handles what it had sent until then.
    void rank_ended(int rank) {
        ready(rank, EPOLLIN);
        clients_[static_cast<size_t>(rank)].stage.ended = true;
    }
    // True when the rank has joined the job and has not left it: the others may wait for it forever.
    bool inside(int rank) const { return clients_[static_cast<size_t>(rank)].stage.joined && !clients_[static_cast<size_t>(rank)].stage.left; }
    // How far each rank is, for those who ask what it waits for.
    std::vector<RankStage> stages() const;

private:
    struct Client {
        int fd = -1;
        int program = 0;
        int program_ranks = 1;
        RankStage stage;
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
    void answer(int rank, const std::string &line);
    void flush(int rank);
    void drop(int rank);

    Loop &loop_;
    std::string job_;
    std::function<void(int, int)> aborted_;
    std::vector<Client> clients_;
    std::unordered_map<std::string, std::string> published_;
    size_t in_barrier_ = 0;
};

}  // namespace lanyard::launch
