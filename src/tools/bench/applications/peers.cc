// peers: what SMG2000 sends. In each step a rank sends to and receives from up to 48 others at distances that double from level to level
// of a multigrid hierarchy, on each of which messages are shorter: many small messages to many peers, in any order. A sum over all ranks
// ends the step.
//
// Sizes and contents are a function of step, level and both ranks. With few ranks distances come again and again. Verified: every number that comes.
#include <cstdint>
#include <numeric>

#include "tools/bench/applications/application.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    int steps, levels;
    std::uint64_t longest;  // numbers in a message of the finest level
};
constexpr Problem problems[] = {{'S', 50, 8, 64}, {'W', 800, 16, 256}, {'A', 4000, 24, 512}, {'B', 16000, 24, 512}};

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

// A message's first number says all of it.
std::uint64_t first_number(int step, int tag, int from, int to) {
    std::uint64_t which = mixed(static_cast<std::uint64_t>(step) << 8 | static_cast<std::uint64_t>(tag));
    return mixed(mixed(which + static_cast<std::uint64_t>(from)) + static_cast<std::uint64_t>(to));
}

// One to a peer, and one from the peer on the other side of this rank at the same distance.
struct Pair {
    int level, to, from, tag;
    std::vector<std::uint64_t> out, in;
};

class Exchange {
public:
    explicit Exchange(Run& run) : run_(run), problem_(problem_of(problems, run.problem())) {
        for (int level = 0; run.size() > 1 && level < problem_.levels; ++level) {
            int distance = 1 + static_cast<int>(((1L << level) - 1) % (run.size() - 1));
            int up = (run.rank() + distance) % run.size(), down = (run.rank() - distance + run.size()) % run.size();
            pairs_.push_back({level, up, down, 2 * level, {}, {}});
            pairs_.push_back({level, down, up, 2 * level + 1, {}, {}});
        }
    }

    int steps() const { return problem_.steps; }

    // False when something came that was not sent.
    bool step(int number) {
        std::vector<MPI_Request> requests(2 * pairs_.size());
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            Pair& pair = pairs_[i];
            pair.in.resize(length(first_number(number, pair.tag, pair.from, run_.rank()), pair.level));
            MPI_Irecv(pair.in.data(), static_cast<int>(pair.in.size()), MPI_UINT64_T, pair.from, pair.tag, MPI_COMM_WORLD, &requests[2 * i]);
        }
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            Pair& pair = pairs_[i];
            std::uint64_t first = first_number(number, pair.tag, run_.rank(), pair.to);
            pair.out.resize(length(first, pair.level));
            std::iota(pair.out.begin(), pair.out.end(), first);
            MPI_Isend(pair.out.data(), static_cast<int>(pair.out.size()), MPI_UINT64_T, pair.to, pair.tag, MPI_COMM_WORLD, &requests[2 * i + 1]);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        long mine = 1, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        bool good = all == run_.size();
        for (const Pair& pair : pairs_) {
            std::uint64_t next = first_number(number, pair.tag, pair.from, run_.rank());
            for (std::uint64_t value : pair.in) good = good && value == next++;
        }
        return good;
    }

private:
    std::size_t length(std::uint64_t first, int level) const {
        std::uint64_t most = std::max<std::uint64_t>(problem_.longest >> level, 1);
        return static_cast<std::size_t>(1 + first % most);
    }

    Run& run_;
    const Problem& problem_;
    std::vector<Pair> pairs_;
};

}  // namespace

Outcome run_peers(Run& run) {
    Exchange exchange(run);
    bool good = exchange.step(0);
    run.start();
    for (int step = 0; step < exchange.steps(); ++step) {
        good = exchange.step(step) && good;
        run.show_progress(step + 1, exchange.steps());
    }
    run.stop();
    return {good, 0};
}

}  // namespace lanyard::bench
