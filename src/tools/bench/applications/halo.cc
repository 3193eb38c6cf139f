// halo: what sPPM sends. A periodic grid in three dimensions is divided in all of them; each step exchanges faces of four layers with both
// neighbours along each axis, one axis after the other, and then goes through the grid once. Few and large messages.
//
// A number is what its place in the whole grid and the step say. Verified: all layers that came with the last step.
#include <array>
#include <cstdint>

#include "tools/bench/applications/application.h"

namespace lanyard::bench {

namespace {

constexpr long layers = 4;
constexpr std::uint64_t growth = 0x9e3779b97f4a7c15u;  // of each number, in a step
enum Tag : int { down_tag = 1, up_tag = 2 };           // with the axis

struct Problem {
    char name;
    long edge;
    int steps;
};
constexpr Problem problems[] = {{'S', 32, 10}, {'W', 128, 20}, {'A', 256, 25}, {'B', 320, 50}};

using Place = std::array<long, 3>;

class Grid {
public:
    Grid(long edge, int ranks, int rank) : edge_(edge) {
        MPI_Dims_create(ranks, 3, shape_.data());
        place_ = {rank % shape_[0], rank / shape_[0] % shape_[1], rank / (shape_[0] * shape_[1])};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            first_[axis] = edge * place_[axis] / shape_[axis];
            lengths_[axis] = edge * (place_[axis] + 1) / shape_[axis] - first_[axis];
        }
        numbers_.resize(static_cast<std::size_t>((lengths_[0] + 2 * layers) * (lengths_[1] + 2 * layers) * (lengths_[2] + 2 * layers)));
        for_each({0, 0, 0}, lengths_, [&](std::uint64_t& number, const Place& at) { number = original(at); });
    }

    void step() {
        for (std::size_t axis = 0; axis < 3; ++axis) exchange(axis);
        for_each({0, 0, 0}, lengths_, [](std::uint64_t& number, const Place&) { number += growth; });
        ++steps_;
    }

    // The layers around are a step behind.
    bool verify() {
        bool good = true;
        std::uint64_t grown = growth * (steps_ - 1);
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (long side : {-layers, lengths_[axis]}) {
                auto [begin, end] = face(axis, side);
                for_each(begin, end, [&](std::uint64_t& number, const Place& at) { good = good && number == original(at) + grown; });
            }
        return good;
    }

private:
    struct Box {
        Place begin, end;
    };

    std::uint64_t original(const Place& at) const {
        Place whole;
        for (std::size_t axis = 0; axis < 3; ++axis) whole[axis] = (first_[axis] + at[axis] + edge_) % edge_;
        return static_cast<std::uint64_t>((whole[2] * edge_ + whole[1]) * edge_ + whole[0]);
    }

    // Four layers from `from` on along the axis; across it with the layers that came along earlier axes.
    Box face(std::size_t axis, long from) const {
        Box box;
        for (std::size_t other = 0; other < 3; ++other) {
            bool wide = other < axis;
            box.begin[other] = other == axis ? from : wide ? -layers : 0;
            box.end[other] = other == axis ? from + layers : lengths_[other] + (wide ? layers : 0);
        }
        return box;
    }

    template <class Each>
    void for_each(const Place& begin, const Place& end, Each each) {
        for (long z = begin[2]; z < end[2]; ++z)
            for (long y = begin[1]; y < end[1]; ++y) {
                long line = (z + layers) * (lengths_[1] + 2 * layers) + y + layers;
                std::uint64_t* numbers = &numbers_[static_cast<std::size_t>(line * (lengths_[0] + 2 * layers) + layers)];
                for (long x = begin[0]; x < end[0]; ++x) each(numbers[x], Place{x, y, z});
            }
    }

    int neighbour(std::size_t axis, int step) const {
        std::array<int, 3> place = place_;
        place[axis] = (place[axis] + step + shape_[axis]) % shape_[axis];
        return (place[2] * shape_[1] + place[1]) * shape_[0] + place[0];
    }

    void exchange(std::size_t axis) {
        std::array<std::vector<std::uint64_t>, 2> out, in;
        std::array<long, 2> from = {0, lengths_[axis] - layers}, to = {lengths_[axis], -layers};
        std::array<MPI_Request, 4> requests;
        for (std::size_t side = 0; side < 2; ++side) {
            auto [begin, end] = face(axis, from[side]);
            for_each(begin, end, [&](std::uint64_t& number, const Place&) { out[side].push_back(number); });
            in[side].resize(out[side].size());
            int count = static_cast<int>(out[side].size()), tag = (side ? up_tag : down_tag) + 10 * static_cast<int>(axis);
            MPI_Irecv(in[side].data(), count, MPI_UINT64_T, neighbour(axis, side ? -1 : 1), tag, MPI_COMM_WORLD, &requests[side]);
            MPI_Isend(out[side].data(), count, MPI_UINT64_T, neighbour(axis, side ? 1 : -1), tag, MPI_COMM_WORLD, &requests[2 + side]);
        }
        MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t side = 0; side < 2; ++side) {
            auto [begin, end] = face(axis, to[side]);
            const std::uint64_t* next = in[side].data();
            for_each(begin, end, [&](std::uint64_t& number, const Place&) { number = *next++; });
        }
    }

    long edge_;
    std::array<int, 3> shape_{0, 0, 0}, place_{};
    Place first_{}, lengths_{};
    std::uint64_t steps_ = 0;
    std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::string takes_halo_ranks(int ranks, char problem) {
    std::array<int, 3> shape{0, 0, 0};
    MPI_Dims_create(ranks, 3, shape.data());
    if (problem_of(problems, problem).edge / shape[0] >= layers) return "";
    return "has a grid too small in class " + std::string(1, problem) + " for " + std::to_string(ranks) + " ranks";
}

Outcome run_halo(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    Grid grid(problem.edge, run.size(), run.rank());
    grid.step();  // touches all memory
    run.start();
    for (int step = 0; step < problem.steps; ++step) {
        grid.step();
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();
    return {grid.verify(), 0};
}

}  // namespace lanyard::bench
