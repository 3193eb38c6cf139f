// Communicates like programs with wavefronts (LU of the NAS benchmarks, Sweep3D). A grid is divided among the
// ranks in x and y, and swept plane by plane, once from each of its four corners. A rank begins a plane when
// it has received the edges of the neighbours that precede it in x and in y. The messages are many and small,
// and follow one after the other.
//
// Each point of a plane becomes v(i,j) + 5 (v(i-1,j) + v(i,j-1)) modulo 2^64. This is reversible, so a wrong
// value cannot vanish before it is checked. The planes begin as multiples of one another and remain so. At
// the end, each rank computes one whole plane alone. It compares each point of its part of every plane with
// that plane, times the multiple.
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
    int points, planes;  // points: number in x and in y; planes: number in z
    int steps;           // number of steps; each has four sweeps
};
constexpr Problem problems[] = {
    {'S', 24, 16, 50}, {'W', 64, 32, 400}, {'A', 120, 48, 300}, {'B', 120, 96, 600}};

struct Corner {
    int step_x, step_y;  // the direction, 1 or -1, in which the sweep leaves this corner
};
constexpr Corner corners[] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
constexpr int tag_x = 1, tag_y = 2;

// The grid of ranks, and the position of this rank. Along an axis, there are no more parts than points. Ranks
// for which no part is left are idle.
struct Place {
    std::array<int, 2> parts{}, mine{};
    bool idle = false;

    Place(int rank, int ranks, int points) {
        MPI_Dims_create(ranks, 2, parts.data());
        for (int& part : parts) part = std::min(part, points);
        mine = {rank / parts[1], rank % parts[1]};
        idle = rank >= parts[0] * parts[1];
    }

    int neighbour(int axis, int step) const {
        std::array<int, 2> other = mine;
        other[axis] += step;
        if (other[axis] < 0 || other[axis] >= parts[axis]) return MPI_PROC_NULL;
        return other[0] * parts[1] + other[1];
    }

    // Returns the first point of this part. With `next` = 1, returns the first point of the next part, which
    // is the end of this part.
    int begin(int axis, int points, int next = 0) const { return points * (mine[axis] + next) / parts[axis]; }
};

// The points of this rank's part of a plane, with x and y from 0. The part has a border that is one point
// wide. At the ends of the grid, the border is 0. Elsewhere it contains the values that a neighbour sent.
struct Plane {
    int width, height;
    std::vector<std::uint64_t> values;

    Plane(int columns, int rows)
        : width(columns), height(rows),
          values(static_cast<std::size_t>(columns + 2) * static_cast<std::size_t>(rows + 2)) {}

    std::uint64_t* at(int x, int y) { return values.data() + (y + 1) * (width + 2) + x + 1; }

    void sweep(Corner from) {
        int x = from.step_x > 0 ? 0 : width - 1, y = from.step_y > 0 ? 0 : height - 1,
            row = from.step_y * (width + 2);
        for (int line = 0; line < height; ++line, y += from.step_y) {
            std::uint64_t* value = at(x, y);
            for (int point = 0; point < width; ++point, value += from.step_x)
                *value += 5 * (value[-from.step_x] + value[-row]);
        }
    }
};

void receive_edges(Plane& plane, Corner from, const Place& place, std::vector<std::uint64_t>& edge) {
    int before_x = place.neighbour(0, -from.step_x), before_y = place.neighbour(1, -from.step_y);
    if (before_x != MPI_PROC_NULL) {
        MPI_Recv(edge.data(), plane.height, MPI_UINT64_T, before_x, tag_x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int border = from.step_x > 0 ? -1 : plane.width;
        for (int y = 0; y < plane.height; ++y) *plane.at(border, y) = edge[y];
    }
    if (before_y == MPI_PROC_NULL) return;
    int border = from.step_y > 0 ? -1 : plane.height;
    MPI_Recv(plane.at(0, border), plane.width, MPI_UINT64_T, before_y, tag_y, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

void send_edges(Plane& plane, Corner from, const Place& place, std::vector<std::uint64_t>& edge) {
    int after_x = place.neighbour(0, from.step_x), after_y = place.neighbour(1, from.step_y);
    if (after_x != MPI_PROC_NULL) {
        int last = from.step_x > 0 ? plane.width - 1 : 0;
        for (int y = 0; y < plane.height; ++y) edge[y] = *plane.at(last, y);
        MPI_Send(edge.data(), plane.height, MPI_UINT64_T, after_x, tag_x, MPI_COMM_WORLD);
    }
    if (after_y == MPI_PROC_NULL) return;
    int last = from.step_y > 0 ? plane.height - 1 : 0;
    MPI_Send(plane.at(0, last), plane.width, MPI_UINT64_T, after_y, tag_y, MPI_COMM_WORLD);
}

}  // namespace

Outcome run_wavefront(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    Place place(run.rank(), run.size(), problem.points);
    int first_x = place.begin(0, problem.points), first_y = place.begin(1, problem.points);
    int width = place.idle ? 0 : place.begin(0, problem.points, 1) - first_x,
        height = place.idle ? 0 : place.begin(1, problem.points, 1) - first_y;
    std::vector<std::uint64_t> start = odd_numbers(problem.points * problem.points, 1),
                               multiples = odd_numbers(problem.planes, 2);
    auto start_at = [&](int x, int y) { return start[static_cast<std::size_t>(y) * problem.points + x]; };
    std::vector<Plane> planes(static_cast<std::size_t>(problem.planes), Plane(width, height));
    auto each_point = [&](auto visit) {
        for (int z = 0; z < problem.planes; ++z)
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x)
                    visit(*planes[z].at(x, y), multiples[z], first_x + x, first_y + y);
    };
    each_point([&](std::uint64_t& value, std::uint64_t multiple, int x, int y) {
        value = multiple * start_at(x, y);
    });
    std::vector<std::uint64_t> edge(static_cast<std::size_t>(problem.points));

    run.start();
    for (int step = 0; step < problem.steps && !place.idle; ++step) {
        for (Corner corner : corners)
            for (Plane& plane : planes) {
                receive_edges(plane, corner, place, edge);
                plane.sweep(corner);
                send_edges(plane, corner, place, edge);
            }
        run.show_progress(step + 1, problem.steps);
    }
    run.stop();

    Plane whole(problem.points, problem.points);
    for (int y = 0; y < problem.points; ++y)
        for (int x = 0; x < problem.points; ++x) *whole.at(x, y) = start_at(x, y);
    for (int step = 0; step < problem.steps; ++step)
        for (Corner corner : corners) whole.sweep(corner);
    bool verified = true;
    each_point([&](std::uint64_t& value, std::uint64_t multiple, int x, int y) {
        verified &= value == multiple * *whole.at(x, y);
    });
    return {verified, 0};
}

}  // namespace lanyard::bench
