// Communicates like a code with deep halos (sPPM, a gas dynamics code). A periodic grid with five values at
// each point is divided among the ranks in all three directions. Each step works on one direction after the
// other: ranks send faces of four layers to both neighbours in that direction, and then compute each point
// from points that are up to four points away. The messages are few and large, some megabytes each.
//
// All arithmetic is modulo 2^64 and reversible, so a wrong value cannot vanish before it is checked. The grid
// begins as the product of three lines, one for each direction. It remains such a product, because each
// operation changes only one of the lines. Each rank can therefore compute the lines alone, and verify all
// its points with them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/programs/applications/application.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    int points;  // number of points in each direction
    int steps;
};
constexpr Problem problems[] = {{'S', 32, 8}, {'W', 64, 40}, {'A', 128, 24}, {'B', 160, 48}};
constexpr int values_of_point = 5;
constexpr int depth = 4;  // number of layers in a face

using Values = std::vector<std::uint64_t>;
using Three = std::array<int, 3>;  // indexed by direction: x, y, z

// Returns the new value of a point. All factors are odd, so that no bit of a value is lost. The operation
// adds an odd number (five) of values with odd factors, and is therefore reversible on lines of 2^k and of 5
// * 2^k points.
std::uint64_t relaxed(std::uint64_t here, std::uint64_t low, std::uint64_t lowest, std::uint64_t high,
                      std::uint64_t highest) {
    return here + 5 * (low + high) + 3 * (lowest + highest);
}

// A rank's part of the grid. No part is thinner than a face. Ranks for which no part is left are idle.
struct Place {
    Three parts{}, mine{}, first{}, points{};
    bool idle = false;

    Place(int rank, int ranks, int all_points) {
        Three wanted{};
        MPI_Dims_create(ranks, 3, wanted.data());
        // The direction z gets the most parts.
        for (int axis = 0; axis < 3; ++axis) parts[2 - axis] = std::min(wanted[axis], all_points / depth);
        idle = rank >= parts[0] * parts[1] * parts[2];
        mine = {rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]};
        for (int axis = 0; axis < 3; ++axis) {
            first[axis] = all_points * mine[axis] / parts[axis];
            points[axis] = idle ? 0 : all_points * (mine[axis] + 1) / parts[axis] - first[axis];
        }
    }

    int neighbour(int axis, int step) const {
        Three other = mine;
        other[axis] = (other[axis] + step + parts[axis]) % parts[axis];
        return other[0] + parts[0] * (other[1] + parts[1] * other[2]);
    }
};

// The values of this rank's part, whose points are counted from 0, and the neighbours' layers around the
// part.
class Grid {
public:
    explicit Grid(const Place& place) : place_(place) {
        int stride = values_of_point;
        for (int axis = 0; axis < 3; ++axis) {
            strides_[axis] = stride;
            stride *= place.points[axis] + 2 * depth;
        }
        values_.resize(static_cast<std::size_t>(stride));
        next_ = values_;
        for (int axis = 0; axis < 3; ++axis) {
            std::size_t size = static_cast<std::size_t>(depth * values_of_point);
            for (int other = 0; other < 3; ++other)
                if (other != axis) size *= static_cast<std::size_t>(place.points[other]);
            for (int side = 0; side < 2; ++side) in_[axis][side].resize(size), out_[axis][side].resize(size);
        }
    }

    std::uint64_t* at(int x, int y, int z) {
        return values_.data() + (x + depth) * strides_[0] + (y + depth) * strides_[1] +
               (z + depth) * strides_[2];
    }

    void exchange_faces(int axis);
    void relax(int axis);

private:
    // Calls `visit` for each line along x in the four layers that begin at `first`. Passes the line's values
    // and the number of values.
    template <class Visit>
    void each_line(int axis, int first, Visit visit) {
        Three begin{}, end = place_.points;
        begin[axis] = first;
        end[axis] = first + depth;
        for (int z = begin[2]; z < end[2]; ++z)
            for (int y = begin[1]; y < end[1]; ++y)
                visit(at(begin[0], y, z), (end[0] - begin[0]) * values_of_point);
    }
    void pack(int axis, int first, std::uint64_t* to) {
        each_line(axis, first, [&](std::uint64_t* line, int length) { to = std::copy_n(line, length, to); });
    }
    void unpack(int axis, int first, const std::uint64_t* from) {
        each_line(axis, first, [&](std::uint64_t* line, int length) {
            std::copy_n(from, length, line);
            from += length;
        });
    }

    const Place& place_;
    Three strides_{};
    Values values_, next_;
    std::array<std::array<Values, 2>, 3> in_, out_;  // faces, indexed by axis and side
};

void Grid::exchange_faces(int axis) {
    std::array<MPI_Request, 4> requests;
    requests.fill(MPI_REQUEST_NULL);
    int points = place_.points[axis];
    bool alone = place_.parts[axis] == 1;  // the rank is its own neighbour
    for (int side = 0; side < 2; ++side) {
        Values &in = in_[axis][side], &out = out_[axis][side];
        int other = place_.neighbour(axis, side == 0 ? -1 : 1);
        if (!alone)
            MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_UINT64_T, other, 1 - side, MPI_COMM_WORLD,
                      &requests[side]);
        pack(axis, side == 0 ? 0 : points - depth, out.data());
        if (!alone)
            MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_UINT64_T, other, side, MPI_COMM_WORLD,
                      &requests[2 + side]);
    }
    if (!alone) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side)
        unpack(axis, side == 0 ? -depth : points,
               alone ? out_[axis][1 - side].data() : in_[axis][side].data());
}

void Grid::relax(int axis) {
    int stride = strides_[axis], length = place_.points[0] * values_of_point;
    for (int z = 0; z < place_.points[2]; ++z)
        for (int y = 0; y < place_.points[1]; ++y) {
            const std::uint64_t* here = at(0, y, z);
            std::uint64_t* to = next_.data() + (here - values_.data());
            for (int k = 0; k < length; ++k)
                to[k] = relaxed(here[k], here[k - stride], here[k - depth * stride], here[k + stride],
                                here[k + depth * stride]);
        }
    values_.swap(next_);
}

// Performs the operation of relaxed() on a whole line of points with `width` values each, without other
// ranks.
void relax_alone(Values& line, int width) {
    int length = static_cast<int>(line.size());
    Values old = line;
    auto at = [&](int k) { return old[static_cast<std::size_t>((k + length) % length)]; };
    for (int k = 0; k < length; ++k)
        line[k] = relaxed(at(k), at(k - width), at(k - depth * width), at(k + width), at(k + depth * width));
}

}  // namespace

Outcome run_halo(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    Place place(run.rank(), run.size(), problem.points);
    Grid grid(place);
    std::array<Values, 3> lines;
    std::mt19937_64 random(1);
    for (int axis = 0; axis < 3; ++axis) {
        lines[axis].resize(static_cast<std::size_t>(problem.points * (axis == 0 ? values_of_point : 1)));
        for (std::uint64_t& value : lines[axis]) value = random() | 1;  // odd, so that no product is 0
    }
    // Calls `visit` for each value of the rank, and passes the product of the three lines at the same point.
    auto each_value = [&](auto visit) {
        for (int z = 0; z < place.points[2]; ++z)
            for (int y = 0; y < place.points[1]; ++y) {
                std::uint64_t* line = grid.at(0, y, z);
                std::uint64_t product = lines[1][place.first[1] + y] * lines[2][place.first[2] + z];
                const std::uint64_t* in_x = &lines[0][place.first[0] * values_of_point];
                for (int k = 0; k < place.points[0] * values_of_point; ++k) visit(line[k], in_x[k] * product);
            }
    };
    each_value([](std::uint64_t& value, std::uint64_t product) { value = product; });

    run.start();
    for (int step = 0; step < problem.steps && !place.idle; ++step) {
        for (int axis = 0; axis < 3; ++axis) {
            grid.exchange_faces(axis);
            grid.relax(axis);
        }
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();

    for (int step = 0; step < problem.steps; ++step)
        for (int axis = 0; axis < 3; ++axis) relax_alone(lines[axis], axis == 0 ? values_of_point : 1);
    bool verified = true;
    each_value([&](std::uint64_t value, std::uint64_t product) { verified &= value == product; });
    return {verified, 0};
}

}  // namespace lanyard::bench
