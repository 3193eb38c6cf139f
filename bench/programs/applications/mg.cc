// MG makes four or twenty V-cycles of the multigrid method on a periodic cube with ten charges of +1 and ten
// of -1 (RNR-94-007, section 2.3). After each operation on a grid, each rank sends the outermost layers of
// its part to its neighbours. The messages are large on the fine grids and tiny on the coarse grids.
//
// A coarse grid that cannot be divided among all ranks is collected on every rank. Then every rank continues
// with the whole grid.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/grid3.h"
#include "bench/programs/applications/random.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    long edge;
    int cycles;
    // weights of the point itself, of its six nearest neighbours, and of the twelve next nearest
    std::array<double, 3> smoother;
    double norm;  // the published norm of the last residual
};
constexpr std::array<double, 3> smooth = {-3.0 / 8, 1.0 / 32, -1.0 / 64},
                                smoother = {-3.0 / 17, 1.0 / 33, -1.0 / 61};
constexpr Problem problems[] = {{'S', 32, 4, smooth, 0.5307707005734e-04},
                                {'W', 128, 4, smooth, 0.6467329375339e-05},
                                {'A', 256, 4, smooth, 0.2433365309069e-05},
                                {'B', 256, 20, smoother, 0.1800564401355e-05}};
// The weights of the point itself, and of its neighbours across faces, edges and corners.
constexpr std::array<double, 4> laplacian = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr std::uint64_t seed = 314159265;
constexpr std::size_t charges = 10;
constexpr double tolerance = 1e-8;

Division division_of(int ranks) {
    Division division;
    for (std::size_t axis = 0; ranks > 1; ranks /= 2, axis = (axis + 1) % 3) division.ranks[2 - axis] *= 2;
    return division;
}

// Sums over the neighbours of each point of a line, in the plane perpendicular to the line: `near` over the
// four nearest neighbours, and `far` over the four diagonal ones.
struct Across {
    explicit Across(const Cube& cube)
        : near(static_cast<std::size_t>(cube.length(0) + 2)), far(near.size()) {}

    void add_up(const Cube& cube, long y, long z) {
        const double *north = cube.line(y + 1, z), *south = cube.line(y - 1, z), *up = cube.line(y, z + 1),
                     *down = cube.line(y, z - 1);
        const double *a = cube.line(y - 1, z - 1), *b = cube.line(y + 1, z - 1), *c = cube.line(y - 1, z + 1),
                     *d = cube.line(y + 1, z + 1);
        for (std::size_t x = 0; x < near.size(); ++x) {
            near[x] = north[x] + south[x] + up[x] + down[x];
            far[x] = a[x] + b[x] + c[x] + d[x];
        }
    }

    std::vector<double> near, far;
};

// Computes residual = right - A * solution. `right` and `residual` may be the same cube.
void find_residual(const Cube& solution, const Cube& right, Cube& residual) {
    Across sums(solution);
    for (long z = 1; z <= solution.length(2); ++z)
        for (long y = 1; y <= solution.length(1); ++y) {
            sums.add_up(solution, y, z);
            const double *here = solution.line(y, z), *given = right.line(y, z), *near = sums.near.data(),
                         *far = sums.far.data();
            double* out = residual.line(y, z);
            for (long x = 1; x <= solution.length(0); ++x)
                out[x] = given[x] - laplacian[0] * here[x] -
                         laplacian[2] * (far[x] + near[x - 1] + near[x + 1]) -
                         laplacian[3] * (far[x - 1] + far[x + 1]);
        }
    residual.exchange();
}

// Computes solution += S * residual, where S is the smoother.
void smooth_solution(const std::array<double, 3>& weights, const Cube& residual, Cube& solution) {
    Across sums(residual);
    for (long z = 1; z <= solution.length(2); ++z)
        for (long y = 1; y <= solution.length(1); ++y) {
            sums.add_up(residual, y, z);
            const double *here = residual.line(y, z), *near = sums.near.data(), *far = sums.far.data();
            double* out = solution.line(y, z);
            for (long x = 1; x <= solution.length(0); ++x)
                out[x] += weights[0] * here[x] + weights[1] * (here[x - 1] + here[x + 1] + near[x]) +
                          weights[2] * (far[x] + near[x - 1] + near[x + 1]);
        }
    solution.exchange();
}

// Computes the residual on the next coarser grid. Point i of the coarse grid has the same position as point
// 2i of the fine grid. Points are counted from 1 on both grids.
void restrict_to(Cube& coarse, const Cube& fine) {
    Across sums(fine);
    for (long z = 1; z <= coarse.length(2); ++z)
        for (long y = 1; y <= coarse.length(1); ++y) {
            sums.add_up(fine, 2 * y, 2 * z);
            const double *here = fine.line(2 * y, 2 * z), *near = sums.near.data(), *far = sums.far.data();
            double* out = coarse.line(y, z);
            for (long x = 1; x <= coarse.length(0); ++x) {
                long i = 2 * x;
                out[x] = 0.5 * here[i] + 0.25 * (here[i - 1] + here[i + 1] + near[i]) +
                         0.125 * (near[i - 1] + near[i + 1] + far[i]) + 0.0625 * (far[i - 1] + far[i + 1]);
            }
        }
}

// Interpolates the solution of the coarser grid and adds it to the solution of the fine grid, including the
// layer around this rank's part. If the fine grid is divided and the coarse grid is not, each rank uses only
// that part of the coarse grid that corresponds to its own part of the fine grid.
void add_interpolated(const Cube& coarse, Cube& fine) {
    std::array<long, 3> first{};
    for (int axis = 0; axis < 3; ++axis)
        first[static_cast<std::size_t>(axis)] = fine.start(axis) / 2 - coarse.start(axis);
    long half = fine.length(0) / 2;
    std::vector<double> between(static_cast<std::size_t>(half + 2));
    for (long z = 0; z <= fine.length(2) + 1; ++z)
        for (long y = 0; y <= fine.length(1) + 1; ++y) {
            long low_y = first[1] + y / 2, high_y = low_y + y % 2, low_z = first[2] + z / 2,
                 high_z = low_z + z % 2;
            const double *a = coarse.line(low_y, low_z) + first[0],
                         *b = coarse.line(high_y, low_z) + first[0];
            const double *c = coarse.line(low_y, high_z) + first[0],
                         *d = coarse.line(high_y, high_z) + first[0];
            for (long x = 0; x <= half + 1; ++x)
                between[static_cast<std::size_t>(x)] = 0.25 * (a[x] + b[x] + c[x] + d[x]);
            double* out = fine.line(y, z);
            for (long x = 0; x <= half; ++x) {
                out[2 * x] += between[static_cast<std::size_t>(x)];
                out[2 * x + 1] +=
                    0.5 * (between[static_cast<std::size_t>(x)] + between[static_cast<std::size_t>(x + 1)]);
            }
        }
}

struct Point {
    double value;
    long place;
};

// Sets +1 at the positions of the ten largest random numbers and -1 at the positions of the ten smallest.
void set_charges(Cube& cube) {
    std::vector<Point> points;
    auto smaller = [](const Point& a, const Point& b) { return a.value < b.value; };
    long edge = cube.edge();
    auto keep_ends = [&] {
        if (points.size() <= 2 * charges) return;
        std::partial_sort(points.begin(), points.begin() + charges, points.end(), smaller);
        std::partial_sort(points.rbegin(), points.rbegin() + charges, points.rend() - charges,
                          [&](auto& a, auto& b) { return smaller(b, a); });
        points.erase(points.begin() + charges, points.end() - charges);
    };
    for (long z = 0; z < cube.length(2); ++z)
        for (long y = 0; y < cube.length(1); ++y) {
            long place = ((cube.start(2) + z) * edge + cube.start(1) + y) * edge + cube.start(0);
            Random random(seed);
            random.skip(static_cast<std::uint64_t>(place));
            for (long x = 0; x < cube.length(0); ++x) points.push_back({random.next(), place + x});
            keep_ends();
        }
    // Even with class S and 512 ranks, each rank has more points than candidates.
    constexpr std::size_t candidates = 2 * charges;
    points.resize(candidates, points.front());
    std::vector<Point> all(candidates * static_cast<std::size_t>(cube.division().all()));
    PMPI_Allgather(points.data(), candidates * sizeof(Point), MPI_BYTE, all.data(),
                   candidates * sizeof(Point), MPI_BYTE, MPI_COMM_WORLD);
    std::sort(all.begin(), all.end(), [&](auto& a, auto& b) { return smaller(a, b); });
    all.erase(std::unique(all.begin(), all.end(), [](auto& a, auto& b) { return a.place == b.place; }),
              all.end());
    cube.clear();
    auto set = [&](const Point& point, double charge) {
        std::array<long, 3> at{point.place % edge, point.place / edge % edge, point.place / (edge * edge)};
        for (int axis = 0; axis < 3; ++axis) {
            long& along = at[static_cast<std::size_t>(axis)];
            along -= cube.start(axis);
            if (along < 0 || along >= cube.length(axis)) return;
        }
        cube.line(at[1] + 1, at[2] + 1)[at[0] + 1] = charge;
    };
    for (std::size_t i = 0; i < charges; ++i) {
        set(all[i], -1);
        set(all[all.size() - 1 - i], 1);
    }
    cube.exchange();
}

class Multigrid {
public:
    explicit Multigrid(Run& run)
        : run_(run), problem_(problem_of(problems, run.problem())), division_(division_of(run.size())),
          right_(problem_.edge, division_, run.rank()) {
        for (long edge = 2; edge <= problem_.edge; edge *= 2) {
            Division division = is_divided(edge) ? division_ : Division{};
            solutions_.emplace_back(edge, division, run.rank());
            residuals_.emplace_back(edge, division, run.rank());
        }
    }

    int cycles() const { return problem_.cycles; }
    void begin() {
        set_charges(right_);
        solutions_.back().clear();
    }
    void find_top_residual() { find_residual(solutions_.back(), right_, residuals_.back()); }

    void cycle() {
        std::size_t top = residuals_.size() - 1;
        for (std::size_t level = top; level > 0; --level) coarsen(level);
        solutions_[0].clear();
        smooth_solution(problem_.smoother, residuals_[0], solutions_[0]);
        for (std::size_t level = 1; level <= top; ++level) {
            if (level < top) solutions_[level].clear();
            add_interpolated(solutions_[level - 1], solutions_[level]);
            find_residual(solutions_[level], level < top ? residuals_[level] : right_, residuals_[level]);
            smooth_solution(problem_.smoother, residuals_[level], solutions_[level]);
        }
    }

    double norm() const {
        const Cube& residual = residuals_.back();
        double mine = 0, all = 0;
        for (long z = 1; z <= residual.length(2); ++z)
            for (long y = 1; y <= residual.length(1); ++y)
                for (long x = 1; x <= residual.length(0); ++x)
                    mine += residual.line(y, z)[x] * residual.line(y, z)[x];
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return std::sqrt(all / points());
    }

    bool is_published(double norm) const { return close_to(norm, problem_.norm, tolerance); }
    double million_operations() const { return 58e-6 * problem_.cycles * points(); }

private:
    double points() const { return std::pow(static_cast<double>(problem_.edge), 3); }
    // A grid is divided only if each part has at least two points along each side. Then each part begins at a
    // point of the next coarser grid.
    bool is_divided(long edge) const {
        return edge >= 2 * *std::max_element(division_.ranks.begin(), division_.ranks.end());
    }

    // Computes the residual of the next coarser level.
    void coarsen(std::size_t level) {
        Cube &fine = residuals_[level], &coarse = residuals_[level - 1];
        bool gathers = fine.division().all() > coarse.division().all();
        if (!gathers) {
            restrict_to(coarse, fine);
            coarse.exchange();
            return;
        }
        Cube mine(coarse.edge(), fine.division(), run_.rank());
        restrict_to(mine, fine);
        mine.gather(coarse);
    }

    Run& run_;
    const Problem& problem_;
    Division division_;
    Cube right_;
    // One cube for each grid, from the coarsest grid, which has two points along each side, to the finest.
    std::vector<Cube> solutions_, residuals_;
};

}  // namespace

std::string takes_mg_ranks(int ranks, char problem) {
    if (std::string sentence = takes_powers_of_two(ranks, problem); !sentence.empty()) return sentence;
    Division division = division_of(ranks);
    if (problem_of(problems, problem).edge >=
        2 * *std::max_element(division.ranks.begin(), division.ranks.end()))
        return "";
    return "has a grid too small in class " + std::string(1, problem) + " for " + std::to_string(ranks) +
           " ranks";
}

Outcome run_mg(Run& run) {
    Multigrid multigrid(run);
    multigrid.begin();
    multigrid.find_top_residual();
    multigrid.cycle();  // an untimed cycle that touches all memory, as in the definition
    multigrid.begin();
    run.start();
    multigrid.find_top_residual();
    multigrid.norm();
    for (int cycle = 0; cycle < multigrid.cycles(); ++cycle) {
        multigrid.cycle();
        multigrid.find_top_residual();
        run.show_progress(cycle + 1, multigrid.cycles());
    }
    double norm = multigrid.norm();
    run.stop();
    return {multigrid.is_published(norm), multigrid.million_operations()};
}

}  // namespace lanyard::bench
