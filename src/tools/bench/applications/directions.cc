// directions: what BT and SP send, which solve along the lines of a grid in one direction after the other. The grid is divided in y and
// z: each step begins with an exchange of faces; then lines of x are local, and lines of y and z go through the ranks, forwards and back,
// in several bundles so that all ranks work at a time.
//
// A line is summed up forwards and then backwards, modulo 2^64. Verified: the whole grid, against one rank's computation of all of it.
#include <array>
#include <cstdint>

#include "tools/bench/applications/application.h"

namespace lanyard::bench {

namespace {

constexpr long parts_of_a_point = 5;  // numbers, as the equations of BT and SP have
constexpr long bundles = 4;
enum Tag : int { face_tag = 1, line_tag = 2 };  // with the axis

struct Problem {
    char name;
    long edge;
    int steps;
};
constexpr Problem problems[] = {{'S', 16, 10}, {'W', 32, 40}, {'A', 64, 50}, {'B', 96, 60}};

// A part of the grid and its place among the others. Lines of x lie in one piece, with all numbers of a point together.
class Grid {
public:
    Grid(long edge, std::array<int, 2> shape, int rank) : edge_(edge), shape_(shape), place_{rank % shape[0], rank / shape[0]} {
        for (std::size_t axis = 0; axis < 2; ++axis) lengths_[axis] = start(axis, place_[axis] + 1) - start(axis, place_[axis]);
        numbers_.resize(static_cast<std::size_t>(row() * lengths_[0] * lengths_[1]));
        for (long z = 0; z < lengths_[1]; ++z)
            for (long y = 0; y < lengths_[0]; ++y)
                for (long i = 0; i < row(); ++i)
                    line(y, z)[i] = static_cast<std::uint64_t>(((first(1) + z) * edge_ + first(0) + y) * row() + i) * 0x9e3779b97f4a7c15u;
    }

    void step() {
        exchange_faces();
        for (long z = 0; z < lengths_[1]; ++z)
            for (long y = 0; y < lengths_[0]; ++y) sum_x(line(y, z));
        for (std::size_t axis = 0; axis < 2; ++axis)
            for (int direction : {1, -1})
                for (long bundle = 0; bundle < bundles; ++bundle) sum_across(axis, direction, bundle);
    }

    bool agrees_with(const Grid& whole) const {
        for (long z = 0; z < lengths_[1]; ++z)
            for (long y = 0; y < lengths_[0]; ++y)
                if (!std::equal(line(y, z), line(y, z) + row(), whole.line(first(0) + y, first(1) + z))) return false;
        return true;
    }

private:
    using Numbers = std::vector<std::uint64_t>;

    long row() const { return edge_ * parts_of_a_point; }
    long start(std::size_t axis, int place) const { return edge_ * place / shape_[axis]; }
    long first(std::size_t axis) const { return start(axis, place_[axis]); }
    std::uint64_t* line(long y, long z) { return &numbers_[static_cast<std::size_t>((z * lengths_[0] + y) * row())]; }
    const std::uint64_t* line(long y, long z) const { return const_cast<Grid*>(this)->line(y, z); }
    int neighbour(std::size_t axis, int step) const {
        std::array<int, 2> place = place_;
        place[axis] += step;
        return place[axis] < 0 || place[axis] >= shape_[axis] ? MPI_PROC_NULL : place[1] * shape_[0] + place[0];
    }
    // Line `across` of those that lie at `along` on the axis.
    std::uint64_t* at(std::size_t axis, long along, long across) { return axis == 0 ? line(along, across) : line(across, along); }

    // Adds the neighbours' faces as they were to the own ones.
    void exchange_faces() {
        std::array<Numbers, 4> out, in;
        std::array<MPI_Request, 8> requests;
        for (std::size_t side = 0; side < 4; ++side) {
            std::size_t axis = side / 2;
            long across = lengths_[1 - axis];
            for (long i = 0; i < across; ++i) {
                const std::uint64_t* of = at(axis, side % 2 ? lengths_[axis] - 1 : 0, i);
                out[side].insert(out[side].end(), of, of + row());
            }
            in[side].resize(out[side].size());
            int other = neighbour(axis, side % 2 ? 1 : -1), count = static_cast<int>(out[side].size());
            int tag = face_tag + 10 * static_cast<int>(axis);
            MPI_Irecv(in[side].data(), count, MPI_UINT64_T, other, tag, MPI_COMM_WORLD, &requests[side]);
            MPI_Isend(out[side].data(), count, MPI_UINT64_T, other, tag, MPI_COMM_WORLD, &requests[4 + side]);
        }
        MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
        faces_ = std::move(in);
    }

    static void sum_x(std::uint64_t* numbers, long count) {
        for (long i = parts_of_a_point; i < count; ++i) numbers[i] += numbers[i - parts_of_a_point];
        for (long i = count - parts_of_a_point - 1; i >= 0; --i) numbers[i] += numbers[i + parts_of_a_point];
    }
    void sum_x(std::uint64_t* numbers) const { sum_x(numbers, row()); }

    // The sums so far come from the neighbour behind, and go to the one ahead: a bundle of the lines across.
    void sum_across(std::size_t axis, int direction, long bundle) {
        long across = lengths_[1 - axis], begin = across * bundle / bundles, end = across * (bundle + 1) / bundles;
        Numbers sums(static_cast<std::size_t>((end - begin) * row()));
        int count = static_cast<int>(sums.size()), tag = line_tag + 10 * static_cast<int>(axis);
        MPI_Recv(sums.data(), count, MPI_UINT64_T, neighbour(axis, -direction), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        long length = lengths_[axis];
        for (long i = 0; i < length; ++i)
            for (long k = begin; k < end; ++k) {
                std::uint64_t *numbers = at(axis, direction > 0 ? i : length - 1 - i, k), *sum = &sums[static_cast<std::size_t>((k - begin) * row())];
                for (long n = 0; n < row(); ++n) sum[n] = numbers[n] += sum[n];
            }
        MPI_Send(sums.data(), count, MPI_UINT64_T, neighbour(axis, direction), tag, MPI_COMM_WORLD);
    }

    long edge_;
    std::array<int, 2> shape_, place_;
    std::array<long, 2> lengths_{};  // in y and z
    Numbers numbers_;
    std::array<Numbers, 4> faces_;
};

}  // namespace

Outcome run_directions(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    std::array<int, 2> shape{0, 0};
    MPI_Dims_create(run.size(), 2, shape.data());
    Grid grid(problem.edge, shape, run.rank());
    run.start();
    for (int step = 0; step < problem.steps; ++step) {
        grid.step();
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();
    Grid whole(problem.edge, {1, 1}, 0);
    for (int step = 0; step < problem.steps; ++step) whole.step();
    return {grid.agrees_with(whole), 0};
}

}  // namespace lanyard::bench
