// Many small messages to many others (SMG2000, a semicoarsening multigrid solver): in each step a rank sends to up to 48 others and
// receives from as many, ever further away and ever less with the levels of the hierarchy, from some KB down to 8 bytes; then a sum of
// 8 bytes over all, as for a norm. In a job of fewer ranks the messages go round all the others.
//
// How long a message is and what is in it follows from step, ranks and place, so each is verified where it arrives. What is in it also
// follows from the sum of the step before, which is verified itself.
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
constexpr int messages = 48;  // of a rank in a step
constexpr int levels = 10;    // the longest message halves with each: 512 values at the first, 1 at the last
constexpr std::uint64_t increment = 0x9e3779b97f4a7c15;  // odd, so that a value does not return

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// How far up the ring of ranks each message goes: both ways in turn, and beyond 49 ranks in growing distances up to half the ring.
std::array<int, messages> ways(int ranks) {
    std::array<int, messages> all{};
    for (int k = 0; k < messages && ranks > 1; ++k) {
        int pair = ranks - 1 > messages ? k / 2 : k % (ranks - 1) / 2, distance = pair + 1;
        bool up = ranks - 1 > messages ? k % 2 == 0 : k % (ranks - 1) % 2 == 0;
        if (ranks - 1 > messages) distance = std::max(distance, static_cast<int>(std::pow((ranks - 1) / 2, pair / (messages / 2 - 1.0))));
        all[k] = up ? distance : ranks - distance;
    }
    return all;
}

// One message: from half to all of the longest of its level.
struct Message {
    int values;
    std::uint64_t first;

    Message(int k, int step, int from, std::uint64_t seed) {
        int longest = 1 << (levels - 1 - k * levels / messages);
        std::uint64_t name = mix(increment * (static_cast<std::uint64_t>(step) << 32 | static_cast<std::uint64_t>(from)) + k);
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
    Exchange(int rank, int ranks) : rank_(rank), ranks_(ranks), ways_(ways(ranks)), out_(messages * longest), in_(messages * longest) {}

    // Whether all arrived that should.
    bool run(int step, std::uint64_t seed) {
        std::array<MPI_Request, 2 * messages> requests;
        for (int k = 0; k < messages; ++k) {
            Message message(k, step, sender(k), seed);
            MPI_Irecv(&in_[longest * k], message.values, MPI_UINT64_T, sender(k), k, MPI_COMM_WORLD, &requests[k]);
        }
        for (int k = 0; k < messages; ++k) {
            Message message(k, step, rank_, seed);
            message.write(&out_[longest * k]);
            int to = (rank_ + ways_[k]) % ranks_;
            MPI_Isend(&out_[longest * k], message.values, MPI_UINT64_T, to, k, MPI_COMM_WORLD, &requests[messages + k]);
        }
        MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
        bool good = true;
        for (int k = 0; k < messages; ++k) good &= Message(k, step, sender(k), seed).is(&in_[longest * k]);
        return good;
    }

private:
    static constexpr int longest = 1 << (levels - 1);
    int sender(int k) const { return (rank_ + ranks_ - ways_[k]) % ranks_; }

    int rank_, ranks_;
    std::array<int, messages> ways_;
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
