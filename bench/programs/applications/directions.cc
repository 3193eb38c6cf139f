// Communicates like solvers that work along alternating directions (BT and SP of the NAS benchmarks). A grid
// of points with five values each is divided among the ranks in y and z, so that lines along x are complete.
// Each step exchanges faces with the neighbours. Then it eliminates forward and substitutes back: along x
// within each rank, and along y and z across the ranks. The solves across ranks are divided into chunks, so
// that a rank works on one chunk while its neighbours work on others.
//
// All arithmetic is modulo 2^64 and reversible, so a wrong value cannot vanish before it is checked. The grid
// begins as the product of a line in x and a plane in y and z. It remains such a product, because the solves
// along x change only the line, and the other operations change only the plane. Each rank can therefore
// compute the line and the plane alone, and verify all its points with them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/numbers.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    int points;  // number in each direction; relax() must be reversible for this size
    int steps;
};
constexpr Problem problems[] = {{'S', 12, 100}, {'W', 36, 280}, {'A', 72, 160}, {'B', 102, 220}};
constexpr int values_of_point = 5;
constexpr int chunks = 8;
// factors by which the previous point is multiplied in the two solves
constexpr std::uint64_t forward = 3, back = 5;


// The division of the grid of points among the ranks over y (axis 0) and z (axis 1), and the part of this
// rank. Along an axis, there are no more parts than points. Ranks for which no part is left are idle.
struct Place {
    std::array<int, 2> parts{}, mine{}, first{}, points{};
    bool idle = false;

    Place(int rank, int ranks, int all_points) {
        MPI_Dims_create(ranks, 2, parts.data());
        for (int& part : parts) part = std::min(part, all_points);
        idle = rank >= parts[0] * parts[1];
        mine = {rank / parts[1], rank % parts[1]};
        for (int axis = 0; axis < 2; ++axis) {
            first[axis] = all_points * mine[axis] / parts[axis];
            points[axis] = idle ? 0 : all_points * (mine[axis] + 1) / parts[axis] - first[axis];
        }
    }

    int neighbour(int axis, int step) const {
        std::array<int, 2> other = mine;
        other[axis] += step;
        if (other[axis] < 0 || other[axis] >= parts[axis]) return MPI_PROC_NULL;
        return other[0] * parts[1] + other[1];
    }
};

void add(std::uint64_t* to, const std::uint64_t* from, std::uint64_t factor, int count) {
    for (int k = 0; k < count; ++k) to[k] += factor * from[k];
}

void solve_line(std::uint64_t* line, int length) {
    for (int k = values_of_point; k < length; ++k) line[k] += forward * line[k - values_of_point];
    for (int k = length - values_of_point - 1; k >= 0; --k) line[k] += back * line[k + values_of_point];
}

// A rank's part of the grid: a line of `length` values along x for each point 1, 2, ... in y and z. The part
// has a border at the points 0 and last + 1. At the ends of the grid, the border is 0. Elsewhere it contains
// the values that a neighbour sent.
class Grid {
public:
    Grid(const Place& place, int length)
        : place_(place), length_(length), strides_{length, length * (place.points[0] + 2)} {
        values_.resize(static_cast<std::size_t>(strides_[1]) * static_cast<std::size_t>(place.points[1] + 2));
        next_ = values_;
        for (int axis = 0; axis < 2; ++axis) {
            std::size_t size =
                static_cast<std::size_t>(length) * static_cast<std::size_t>(place.points[1 - axis]);
            for (int side = 0; side < 2; ++side) in_[axis][side].resize(size), out_[axis][side].resize(size);
        }
    }

    std::uint64_t* line(int y, int z) { return values_.data() + y * strides_[0] + z * strides_[1]; }

    // A step consists of these functions, with solve() for both axes, and of the solves along x.
    void exchange_faces();
    void relax();
    void solve(int axis) {
        solve(axis, 1, forward);
        solve(axis, -1, back);
    }

    void solve_lines() {
        for (int z = 1; z <= place_.points[1]; ++z)
            for (int y = 1; y <= place_.points[0]; ++y) solve_line(line(y, z), length_);
    }

private:
    std::uint64_t* line_of(int axis, int along, int across) {
        return values_.data() + along * strides_[axis] + across * strides_[1 - axis];
    }
    void pack(int axis, int along, int begin, int end, std::uint64_t* to) {
        for (int across = begin; across < end; ++across, to += length_)
            std::copy_n(line_of(axis, along, across + 1), length_, to);
    }
    void unpack(int axis, int along, int begin, int end, const std::uint64_t* from) {
        for (int across = begin; across < end; ++across, from += length_)
            std::copy_n(from, length_, line_of(axis, along, across + 1));
    }
    // The index of the first line of a chunk.
    int chunk(int axis, int number) const { return place_.points[1 - axis] * number / chunks; }
    void solve(int axis, int step, std::uint64_t factor);

    const Place& place_;
    int length_;
    std::array<int, 2> strides_;
    Values values_, next_;
    std::array<std::array<Values, 2>, 2> in_, out_;  // faces, indexed by axis and side
};

void Grid::exchange_faces() {
    std::array<MPI_Request, 8> requests;
    requests.fill(MPI_REQUEST_NULL);
    for (int axis = 0; axis < 2; ++axis)
        for (int side = 0; side < 2; ++side) {
            int other = place_.neighbour(axis, side == 0 ? -1 : 1), place = 4 * axis + 2 * side;
            if (other == MPI_PROC_NULL) continue;
            Values &in = in_[axis][side], &out = out_[axis][side];
            MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_UINT64_T, other, 1 - side, MPI_COMM_WORLD,
                      &requests[place]);
            pack(axis, side == 0 ? 1 : place_.points[axis], 0, place_.points[1 - axis], out.data());
            MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_UINT64_T, other, side, MPI_COMM_WORLD,
                      &requests[place + 1]);
        }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int axis = 0; axis < 2; ++axis)
        for (int side = 0; side < 2; ++side)
            if (place_.neighbour(axis, side == 0 ? -1 : 1) != MPI_PROC_NULL)
                unpack(axis, side == 0 ? 0 : place_.points[axis] + 1, 0, place_.points[1 - axis],
                       in_[axis][side].data());
}

// Adds to each point its neighbours in y and z. The factor is odd, so that no bit of a value is lost. Whether
// the operation is reversible depends only on the lowest bits. For these, the operation is that of the game
// of Lights Out, and it is reversible on squares of the sizes for which this game has only one solution.
void Grid::relax() {
    for (int z = 1; z <= place_.points[1]; ++z)
        for (int y = 1; y <= place_.points[0]; ++y) {
            const std::uint64_t *here = line(y, z), *low = line(y - 1, z), *high = line(y + 1, z),
                                *below = line(y, z - 1), *above = line(y, z + 1);
            std::uint64_t* to = next_.data() + (here - values_.data());
            for (int k = 0; k < length_; ++k) to[k] = here[k] + 3 * (low[k] + high[k] + below[k] + above[k]);
        }
    // The borders of `next_` at the ends of the grid are 0, too. The other borders are written before they
    // are read.
    values_.swap(next_);
}

void Grid::solve(int axis, int step, std::uint64_t factor) {
    int from = place_.neighbour(axis, -step), to = place_.neighbour(axis, step), points = place_.points[axis];
    int first = step > 0 ? 1 : points, last = step > 0 ? points : 1;
    std::array<MPI_Request, 2 * chunks> requests;
    requests.fill(MPI_REQUEST_NULL);
    auto piece = [&](Values& face, int number) { return face.data() + chunk(axis, number) * length_; };
    auto size = [&](int number) { return (chunk(axis, number + 1) - chunk(axis, number)) * length_; };
    Values &in = in_[axis][0], &out = out_[axis][0];
    for (int number = 0; number < chunks && from != MPI_PROC_NULL; ++number)
        if (size(number) > 0)
            MPI_Irecv(piece(in, number), size(number), MPI_UINT64_T, from, 2, MPI_COMM_WORLD,
                      &requests[number]);
    for (int number = 0; number < chunks; ++number) {
        int begin = chunk(axis, number), end = chunk(axis, number + 1);
        if (begin == end) continue;
        if (from != MPI_PROC_NULL) {
            MPI_Wait(&requests[number], MPI_STATUS_IGNORE);
            unpack(axis, first - step, begin, end, piece(in, number));
        }
        for (int along = first; along != last + step; along += step)
            for (int across = begin + 1; across <= end; ++across)
                add(line_of(axis, along, across), line_of(axis, along - step, across), factor, length_);
        if (to == MPI_PROC_NULL) continue;
        pack(axis, last, begin, end, piece(out, number));
        MPI_Isend(piece(out, number), size(number), MPI_UINT64_T, to, 2, MPI_COMM_WORLD,
                  &requests[chunks + number]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

Outcome run_directions(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    int points = problem.points, length = points * values_of_point;
    Place mine(run.rank(), run.size(), points), alone(0, 1, points);
    Grid grid(mine, length), plane(alone, 1);
    Values line = odd_numbers(length, 1), start = odd_numbers(points * points, 2);
    for (int z = 0; z < points; ++z)
        for (int y = 0; y < points; ++y)
            *plane.line(y + 1, z + 1) = start[static_cast<std::size_t>(z) * points + y];
    // Calls `visit` for each value of the rank, with the values of the line and of the plane at the same
    // point.
    auto each_value = [&](auto visit) {
        for (int z = 1; z <= mine.points[1]; ++z)
            for (int y = 1; y <= mine.points[0]; ++y) {
                std::uint64_t in_plane = *plane.line(mine.first[0] + y, mine.first[1] + z);
                for (int k = 0; k < length; ++k) visit(grid.line(y, z)[k], line[k], in_plane);
            }
    };
    each_value([](std::uint64_t& value, std::uint64_t in_line, std::uint64_t in_plane) {
        value = in_line * in_plane;
    });

    run.start();
    for (int step = 0; step < problem.steps && !mine.idle; ++step) {
        grid.exchange_faces();
        grid.relax();
        grid.solve_lines();
        grid.solve(0);
        grid.solve(1);
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();

    for (int step = 0; step < problem.steps; ++step) {
        solve_line(line.data(), length);
        plane.relax();
        plane.solve(0);
        plane.solve(1);
    }
    bool verified = true;
    each_value([&](std::uint64_t value, std::uint64_t in_line, std::uint64_t in_plane) {
        verified &= value == in_line * in_plane;
    });
    return {verified, 0};
}

}  // namespace lanyard::bench
