// wavefront: what LU and Sweep3D send. A sweep goes through a grid from one of its four corners in x and y, plane by plane of z: a rank
// waits for the edges of its two neighbours upstream, computes, and sends its own edges downstream. Almost all messages are short, and
// the next one depends on the last.
//
// v(x, y, z) = v(x-1, y, z) + v(x, y-1, z) + v(x, y, z-1) modulo 2^64 as seen from the corner, with 0 outside and the number of the sweep
// beneath the first plane. Verified: the last plane of the last sweep, against one rank's computation of all of it.
#include <array>
#include <cstdint>

#include "tools/bench/applications/application.h"

namespace lanyard::bench {

namespace {

enum Tag : int { along_x_tag = 1, along_y_tag };

struct Problem {
    char name;
    int edge, planes, sweeps;  // edge along x and y
};
constexpr Problem problems[] = {{'S', 64, 32, 8}, {'W', 64, 64, 60}, {'A', 128, 128, 120}, {'B', 128, 128, 480}};

using Line = std::vector<std::uint64_t>;

// A part of the plane, as wide as x and as long as y, with what came from upstream.
class Part {
public:
    Part(int width, int length) : width_(width), length_(length), values_(static_cast<std::size_t>(width * length)) {}

    int width() const { return width_; }
    int length() const { return length_; }
    std::uint64_t& at(int x, int y) { return values_[static_cast<std::size_t>(y * width_ + x)]; }
    void begin_sweep(int sweep) { std::fill(values_.begin(), values_.end(), static_cast<std::uint64_t>(sweep + 1)); }

    // One plane more. x_down and y_down say from which side; the incoming edges become the outgoing ones.
    void compute(bool x_down, bool y_down, Line& edge_along_y, Line& edge_along_x) {
        for (int i = 0; i < length_; ++i) {
            int y = y_down ? length_ - 1 - i : i;
            std::uint64_t left = edge_along_y[static_cast<std::size_t>(y)];
            for (int k = 0; k < width_; ++k) {
                int x = x_down ? width_ - 1 - k : k;
                std::uint64_t& below = edge_along_x[static_cast<std::size_t>(x)];
                left = below = at(x, y) += left + below;
            }
            edge_along_y[static_cast<std::size_t>(y)] = left;
        }
    }

private:
    int width_, length_;
    std::vector<std::uint64_t> values_;
};

struct Corner {
    explicit Corner(int sweep) : x_down((sweep & 1) != 0), y_down((sweep & 2) != 0) {}
    bool x_down, y_down;
};

class Sweeps {
public:
    explicit Sweeps(Run& run) : problem_(problem_of(problems, run.problem())), shape_{0, 0} {
        MPI_Dims_create(run.size(), 2, shape_.data());
        place_ = {run.rank() % shape_[0], run.rank() / shape_[0]};
        part_ = Part(start(0, place_[0] + 1) - start(0, place_[0]), start(1, place_[1] + 1) - start(1, place_[1]));
    }

    int count() const { return problem_.sweeps; }

    void sweep(int number) {
        Corner corner(number);
        int step_x = corner.x_down ? -1 : 1, step_y = corner.y_down ? -1 : 1;
        int from_x = neighbour(-step_x, 0), to_x = neighbour(step_x, 0), from_y = neighbour(0, -step_y), to_y = neighbour(0, step_y);
        Line along_y(static_cast<std::size_t>(part_.length())), along_x(static_cast<std::size_t>(part_.width()));
        part_.begin_sweep(number);
        for (int plane = 0; plane < problem_.planes; ++plane) {
            std::fill(along_y.begin(), along_y.end(), 0);
            std::fill(along_x.begin(), along_x.end(), 0);
            MPI_Recv(along_y.data(), part_.length(), MPI_UINT64_T, from_x, along_x_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(along_x.data(), part_.width(), MPI_UINT64_T, from_y, along_y_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            part_.compute(corner.x_down, corner.y_down, along_y, along_x);
            MPI_Send(along_y.data(), part_.length(), MPI_UINT64_T, to_x, along_x_tag, MPI_COMM_WORLD);
            MPI_Send(along_x.data(), part_.width(), MPI_UINT64_T, to_y, along_y_tag, MPI_COMM_WORLD);
        }
    }

    bool verify() {
        Part whole(problem_.edge, problem_.edge);
        Corner corner(problem_.sweeps - 1);
        whole.begin_sweep(problem_.sweeps - 1);
        for (int plane = 0; plane < problem_.planes; ++plane) {
            Line along_y(static_cast<std::size_t>(problem_.edge)), along_x = along_y;
            whole.compute(corner.x_down, corner.y_down, along_y, along_x);
        }
        for (int y = 0; y < part_.length(); ++y)
            for (int x = 0; x < part_.width(); ++x)
                if (part_.at(x, y) != whole.at(start(0, place_[0]) + x, start(1, place_[1]) + y)) return false;
        return true;
    }

private:
    int start(int axis, int place) const { return problem_.edge * place / shape_[static_cast<std::size_t>(axis)]; }
    int neighbour(int dx, int dy) const {
        int x = place_[0] + dx, y = place_[1] + dy;
        return x < 0 || y < 0 || x >= shape_[0] || y >= shape_[1] ? MPI_PROC_NULL : y * shape_[0] + x;
    }

    const Problem& problem_;
    std::array<int, 2> shape_, place_{};
    Part part_{0, 0};
};

}  // namespace

Outcome run_wavefront(Run& run) {
    Sweeps sweeps(run);
    sweeps.sweep(0);  // touches all memory
    run.start();
    for (int number = 0; number < sweeps.count(); ++number) {
        sweeps.sweep(number);
        run.show_progress(number + 1, sweeps.count());
    }
    run.stop();
    return {sweeps.verify(), 0};
}

}  // namespace lanyard::bench
