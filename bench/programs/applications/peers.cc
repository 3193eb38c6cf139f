// Communicates like a program that sends many small messages to many other ranks (SMG2000, a semicoarsening
// multigrid solver). In each step a rank sends 48 messages, each to another rank, and receives 48 messages.
// From level to level of the hierarchy, the distances between the ranks grow and the messages become shorter,
// from some KB to 8 bytes. Each step ends with a sum of 8 bytes over all ranks, as for a norm. If the job has
// fewer than 49 ranks, several messages go to the same rank.
//
// The receiver can verify every message, because the message's length and contents follow from the step, the
// sender and the message's number. The contents also depend on the sum of the previous step, so that this sum
// is verified too.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/programs/applications/application.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    int steps;
};
constexpr Problem problems[] = {{'S', 120}, {'W', 7000}, {'A', 30000}, {'B', 120000}};
constexpr int messages = 48;  // number of messages that a rank sends in a step
// The longest message has 512 values at the first level. At each further level it has half as many, and at
// the last level 1.
constexpr int levels = 10;
// odd, so that repeated addition yields 2^64 different values
constexpr std::uint64_t increment = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Returns, for each message, the distance from its sender to its receiver in the ring of ranks. The two
// directions of the ring alternate. With more than 49 ranks, the distances grow up to half of the ring.
std::array<int, messages> distances(int ranks) {
    std::array<int, messages> all{};
    for (int k = 0; k < messages && ranks > 1; ++k) {
        int pair = ranks - 1 > messages ? k / 2 : k % (ranks - 1) / 2, distance = pair + 1;
        bool up = ranks - 1 > messages ? k % 2 == 0 : k % (ranks - 1) % 2 == 0;
        const int farthest = (ranks - 1) / 2, pairs = messages / 2;
        if (ranks - 1 > messages)
            distance = std::max(distance, static_cast<int>(std::pow(farthest, pair / (pairs - 1.0))));
        all[k] = up ? distance : ranks - distance;
    }
    return all;
}

// One message. Its length is at least half of the longest length of its level.
struct Message {
    int values;
    std::uint64_t first;

    Message(int k, int step, int from, std::uint64_t seed) {
        int longest = 1 << (levels - 1 - k * levels / messages);
        std::uint64_t name =
            mix(increment * (static_cast<std::uint64_t>(step) << 32 | static_cast<std::uint64_t>(from)) + k);
        values = longest - static_cast<int>(name % (longest / 2 + 1));
        if (values == 0) values = 1;
        first = name ^ seed;
    }

    void write(std::uint64_t* to) const {
        for (int k = 0; k < values; ++k) to[k] = first + increment * k;
    }
    bool is(const std::uint64_t* arrived) const {
        std::uint64_t differing = 0;
        for (int k = 0; k < values; ++k) differing |= arrived[k] ^ (first + increment * k);
        return differing == 0;
    }
};

class Exchange {
public:
    Exchange(int rank, int ranks)
        : rank_(rank), ranks_(ranks), distances_(distances(ranks)), out_(messages * longest),
          in_(messages * longest) {}

    // Makes one exchange. Returns true if all expected messages have arrived unchanged.
    bool run(int step, std::uint64_t seed) {
        std::array<MPI_Request, 2 * messages> requests;
        for (int k = 0; k < messages; ++k) {
            Message message(k, step, sender(k), seed);
            MPI_Irecv(&in_[longest * k], message.values, MPI_UINT64_T, sender(k), k, MPI_COMM_WORLD,
                      &requests[k]);
        }
        for (int k = 0; k < messages; ++k) {
            Message message(k, step, rank_, seed);
            message.write(&out_[longest * k]);
            int to = (rank_ + distances_[k]) % ranks_;
            MPI_Isend(&out_[longest * k], message.values, MPI_UINT64_T, to, k, MPI_COMM_WORLD,
                      &requests[messages + k]);
        }
        MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
        bool good = true;
        for (int k = 0; k < messages; ++k) good &= Message(k, step, sender(k), seed).is(&in_[longest * k]);
        return good;
    }

private:
    static constexpr int longest = 1 << (levels - 1);
    int sender(int k) const { return (rank_ + ranks_ - distances_[k]) % ranks_; }

    int rank_, ranks_;
    std::array<int, messages> distances_;
    std::vector<std::uint64_t> out_, in_;
};

}  // namespace

Outcome run_peers(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    Exchange exchange(run.rank(), run.size());
    std::uint64_t ranks = static_cast<std::uint64_t>(run.size()), seed = 1;
    bool verified = true;
    run.start();
    for (int step = 0; step < problem.steps; ++step) {
        if (run.size() > 1) verified &= exchange.run(step, seed);
        std::uint64_t mine = seed * (static_cast<std::uint64_t>(run.rank()) + 1), sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        verified &= sum == seed * (ranks * (ranks + 1) / 2);
        seed = mix(sum + 1);
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();
    return {verified, 0};
}

}  // namespace lanyard::bench
