// Deep halos (sPPM, a gas dynamics code): a periodic grid of five values a point, divided over ranks in all three directions. In each
// step, for one direction after the other, faces of four layers go to both neighbours in it, then each point takes from points up to four
// away. Few messages, of MB.
//
// All is done modulo 2^64 and can be undone, so no wrong value gets lost. The grid begins as the product of three lines, and as the
// directions do not mix it remains one: each point is verified against the lines, which each rank computes alone.
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
    int points;  // in each direction
    int steps;
};
constexpr Problem problems[] = {{'S', 32, 8}, {'W', 64, 40}, {'A', 128, 24}, {'B', 160, 48}};
constexpr int values_of_point = 5;
constexpr int depth = 4;  // layers of a face

using Values = std::vector<std::uint64_t>;
using Three = std::array<int, 3>;  // by direction: x, y, z

// What a value becomes. Odd factors lose no bit of a value; as they are five, this can be undone on lines of 2^k and of 5 2^k points.
std::uint64_t relaxed(std::uint64_t here, std::uint64_t low, std::uint64_t lowest, std::uint64_t high, std::uint64_t highest) {
    return here + 5 * (low + high) + 3 * (lowest + highest);
}

// A rank's part of the grid. A rank has nothing to do where its part would be thinner than a face.
struct Place {
    Three parts{}, mine{}, first{}, points{};
    bool idle = false;

    Place(int rank, int ranks, int all_points) {
        Three wanted{};
        MPI_Dims_create(ranks, 3, wanted.data());
        for (int axis = 0; axis < 3; ++axis) parts[2 - axis] = std::min(wanted[axis], all_points / depth);  // the most along z
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

// The points of the part from 0, and around it the layers of the neighbours.
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
        return values_.data() + (x + depth) * strides_[0] + (y + depth) * strides_[1] + (z + depth) * strides_[2];
    }

    void exchange_faces(int axis);
    void relax(int axis);

private:
    // Calls visit with each line of values along x in the four layers from `first`, and with their number.
    template <class Visit>
    void each_line(int axis, int first, Visit visit) {
        Three begin{}, end = place_.points;
        begin[axis] = first;
        end[axis] = first + depth;
        for (int z = begin[2]; z < end[2]; ++z)
            for (int y = begin[1]; y < end[1]; ++y) visit(at(begin[0], y, z), (end[0] - begin[0]) * values_of_point);
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
    std::array<std::array<Values, 2>, 3> in_, out_;  // faces by axis and side
};

void Grid::exchange_faces(int axis) {
    std::array<MPI_Request, 4> requests;
    requests.fill(MPI_REQUEST_NULL);
    int points = place_.points[axis];
    bool alone = place_.parts[axis] == 1;  // the rank is its own neighbour
    for (int side = 0; side < 2; ++side) {
        Values &in = in_[axis][side], &out = out_[axis][side];
        int other = place_.neighbour(axis, side == 0 ? -1 : 1);
        if (!alone) MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_UINT64_T, other, 1 - side, MPI_COMM_WORLD, &requests[side]);
        pack(axis, side == 0 ? 0 : points - depth, out.data());
        if (!alone) MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_UINT64_T, other, side, MPI_COMM_WORLD, &requests[2 + side]);
    }
    if (!alone) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side)
        unpack(axis, side == 0 ? -depth : points, alone ? out_[axis][1 - side].data() : in_[axis][side].data());
}

void Grid::relax(int axis) {
    int stride = strides_[axis], length = place_.points[0] * values_of_point;
    for (int z = 0; z < place_.points[2]; ++z)
        for (int y = 0; y < place_.points[1]; ++y) {
            const std::uint64_t* here = at(0, y, z);
            std::uint64_t* to = next_.data() + (here - values_.data());
            for (int k = 0; k < length; ++k)
                to[k] = relaxed(here[k], here[k - stride], here[k - depth * stride], here[k + stride], here[k + depth * stride]);
        }
    values_.swap(next_);
}

// The same for a whole line of points with `width` values each.
void relax_alone(Values& line, int width) {
    int length = static_cast<int>(line.size());
    Values old = line;
    auto at = [&](int k) { return old[static_cast<std::size_t>((k + length) % length)]; };
    for (int k = 0; k < length; ++k) line[k] = relaxed(at(k), at(k - width), at(k - depth * width), at(k + width), at(k + depth * width));
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
    // Calls visit with each value of the rank and the product of the lines there.
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
