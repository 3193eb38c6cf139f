// bench-many measures short messages between ranks that have many peers. It reports the message rate, summed
// over all ranks, and the memory that a process holds for its peers. An example is a halo of 48 neighbours
// with more ranks than processors. It is an ordinary MPI program, started by `lanyard bench many` or any
// mpirun. It needs glibc on Linux (held.h).
//
// Rank r exchanges messages with the ranks r - peers/2 ... r + peers/2, modulo the number of ranks. In a
// round, a rank posts the receives of a window of messages from each peer, sends a window to each peer, and
// waits for all. It sends one message to every peer before the next message to any.
//
// `processor` is the processor time of one message, summed over both sides. With more ranks than processors,
// this time determines the rate, and other programs on the machine hardly change it.
//
// The memory rows show the growth over a baseline, which each rank measures before its first round of this
// size with other ranks. `busy` is measured right after the last round, and `quiet` after a pause without
// messages. Each of these rows has one sample from each rank, so its median is over the ranks. Before the
// baseline is measured, each rank sends as many messages to itself as in a round. The baseline therefore
// already includes the memory that these messages need without any path: their buffers, and the requests of
// the library.
//
// `kernel` is the kernel's memory for sockets: the growth of the whole machine divided by the number of
// ranks. Other programs therefore change it. Only root can read it, and a job on several hosts does not
// report it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

#include "bench/programs/held.h"
#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

// Returns the peers of this rank. Peers are mutual: a rank has as many peers below it as above it. An odd
// number is rounded down. The exception is a job in which every rank is a peer of every other rank.
std::vector<int> peers_of(const Job& job) {
    std::vector<int> peers;
    int most = static_cast<int>(std::min<long>(job.settings.peers, job.size - 1));
    for (int distance = 1; distance <= most / 2; ++distance)
        for (int shift : {distance, job.size - distance}) peers.push_back((job.rank + shift) % job.size);
    if (most == job.size - 1 && most % 2) peers.push_back((job.rank + job.size / 2) % job.size);
    return peers;
}

class Neighbours {
public:
    Neighbours(const Job& job, std::size_t bytes)
        : job_(job), peers_(peers_of(job)), bytes_(bytes), window_(job.settings.window),
          requests_(2 * messages()), out_(messages() * bytes), in_(messages() * bytes) {}

    // The number of messages that this rank sends in a round.
    std::size_t messages() const { return peers_.size() * static_cast<std::size_t>(window_); }

    void round() { round_with([&](std::size_t peer) { return peers_[peer]; }); }
    void round_with_oneself() { round_with([&](std::size_t) { return job_.rank; }); }

    // Runs a round of messages that differ by sender, receiver and position in the window. If a message
    // arrives changed, check() stops the job with an error message.
    void check() {
        std::fill(in_.begin(), in_.end(), 0);
        for (std::size_t peer = 0; peer < peers_.size(); ++peer)
            for (int message = 0; message < window_; ++message)
                for (std::size_t at = 0; at < bytes_; ++at)
                    slot(out_, peer, message)[at] = byte(job_.rank, peers_[peer], message, at);
        round();
        for (std::size_t peer = 0; peer < peers_.size(); ++peer)
            for (int message = 0; message < window_; ++message)
                for (std::size_t at = 0; at < bytes_; ++at)
                    if (slot(in_, peer, message)[at] != byte(peers_[peer], job_.rank, message, at))
                        fail(job_, "message " + std::to_string(message) + " of " + std::to_string(bytes_) +
                                       " bytes from rank " + std::to_string(peers_[peer]) +
                                       " is not as it was sent");
    }

private:
    template <class Other>
    void round_with(Other other) {
        MPI_Request* request = requests_.data();
        auto exchange = [&](auto function, std::vector<char>& bytes) {
            for (int message = 0; message < window_; ++message)
                for (std::size_t peer = 0; peer < peers_.size(); ++peer)
                    function(slot(bytes, peer, message), static_cast<int>(bytes_), MPI_BYTE, other(peer), 1,
                             MPI_COMM_WORLD, request++);
        };
        exchange(MPI_Irecv, in_);
        exchange(MPI_Isend, out_);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

    static char byte(int from, int to, int message, std::size_t at) {
        auto name = static_cast<std::uint32_t>(from) * 65'521u + static_cast<std::uint32_t>(to) * 251u +
                    static_cast<std::uint32_t>(message);
        return static_cast<char>((name + static_cast<std::uint32_t>(at)) * 2'654'435'761u >> 24);
    }
    char* slot(std::vector<char>& bytes, std::size_t peer, int message) const {
        return bytes.data() +
               (peer * static_cast<std::size_t>(window_) + static_cast<std::size_t>(message)) * bytes_;
    }

    const Job& job_;
    std::vector<int> peers_;
    std::size_t bytes_;
    int window_;
    std::vector<MPI_Request> requests_;
    std::vector<char> out_, in_;
};

// Summarises the values of all ranks, one sample each. Empty except on rank 0.
Summary of_all_ranks(const Job& job, double mine) {
    std::vector<double> all(static_cast<std::size_t>(job.size));
    MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return job.rank == 0 ? summarise(std::move(all)) : Summary{};
}

// The growth of the kernel's memory for sockets, per rank. The baseline is the smallest value that any rank
// read before its first round. The earliest rank read it before any rank had sent a message of this size to
// another rank. Other ranks may have read it while messages were already under way.
class KernelMemory {
public:
    KernelMemory() : before_(held_for_sockets()) {}
    void note(const char* when) {
        if (auto now = held_for_sockets()) noted_.push_back({when, *now});
    }
    void report(const Job& job, std::size_t bytes, Report& report) const {
        MPI_Comm host;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
        int on_host = 0;
        MPI_Comm_size(host, &on_host);
        MPI_Comm_free(&host);
        double mine = before_ && on_host == job.size ? *before_ : -1, least = 0;
        MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        if (least < 0) return;
        for (const auto& [when, held] : noted_)
            report.add_named_size(std::string("kernel, ") + when, bytes, "B",
                                  summarise({(held - least) / job.size}));
    }

private:
    std::optional<double> before_;
    std::vector<std::pair<const char*, double>> noted_;
};

void measure(const Job& job, Report& report) {
    for (std::size_t bytes : job.settings.sizes_bytes) {
        Neighbours neighbours(job, bytes);
        neighbours.round_with_oneself();
        held_now();  // otherwise the memory of the first query counts as growth
        KernelMemory kernel;
        Held before = held_now();
        neighbours.check();
        double processors_before = processor_seconds();
        Samples rounds = sample(job.settings, [&] { neighbours.round(); });
        double processors = processor_seconds() - processors_before, of_all = 0;
        Held busy = held_now() - before;
        kernel.note("busy");
        MPI_Reduce(&processors, &of_all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        neighbours.check();
        let_it_become_quiet();
        Held quiet = held_now() - before;
        kernel.note("quiet");
        double messages = static_cast<double>(neighbours.messages()) * job.size;
        report.count_sent(static_cast<long>(messages) * (rounds.rounds + 2), static_cast<double>(bytes));
        of_all /= messages * static_cast<double>(rounds.rounds);
        report.add_size(
            bytes, summarise_as(std::move(rounds), [&](double seconds) { return messages / seconds / 1e6; }));
        report.add_named_size("processor", bytes, "us", summarise({of_all * 1e6}));
        struct Row { const char *name, *unit; double of_this_rank; };
        for (const Row& row : {Row{"resident, busy", "B", busy.private_bytes},
                               {"resident, quiet", "B", quiet.private_bytes},
                               {"allocated, busy", "B", busy.allocated_bytes},
                               {"allocated, quiet", "B", quiet.allocated_bytes},
                               {"descriptors", "each", quiet.descriptors}})
            report.add_named_size(row.name, bytes, row.unit, of_all_ranks(job, row.of_this_rank));
        kernel.report(job, bytes, report);
    }
}

std::string needs_a_peer(const Job& job) {
    return job.size > 1 ? "" : "needs 2 ranks or more, this job has 1. Run it as: lanyard bench -n 64 many";
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "many",
         .purpose = "Messages per second if each rank has many peers, and the memory that a process "
                    "needs for them.",
         .sizes = "256",
         .window = 16,
         .peers = 48},
        needs_a_peer,
        {"message rate of all ranks", "M/s"},
        measure};
    return run_program(frame, argc, argv);
}
