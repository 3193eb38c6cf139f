// A cube of numbers that is periodic and divided among the ranks, with one layer of its neighbours' numbers around each part; for MG.
// One thread.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace lanyard::bench {

// How a cube is divided: ranks along x, y and z, all powers of two. Rank = (z * y's + y) * x's + x. {1, 1, 1} is a whole cube on each rank.
struct Division {
    std::array<int, 3> ranks{1, 1, 1};

    int all() const { return ranks[0] * ranks[1] * ranks[2]; }
    std::array<int, 3> place_of(int rank) const {
        if (all() == 1) return {0, 0, 0};
        return {rank % ranks[0], rank / ranks[0] % ranks[1], rank / (ranks[0] * ranks[1])};
    }
    int rank_of(const std::array<int, 3>& place) const { return (place[2] * ranks[1] + place[1]) * ranks[0] + place[0]; }
};

class Cube {
public:
    // `edge` numbers along each side of the whole cube.
    Cube(long edge, const Division& division, int rank);

    long edge() const { return edge_; }
    long length(int axis) const { return lengths_[static_cast<std::size_t>(axis)]; }  // of this rank's part
    long start(int axis) const;                                                        // where it lies in the whole
    const Division& division() const { return division_; }

    // x, y and z from 0 (the layer around) to the part's length + 1. A line along x lies in one piece.
    double* line(long y, long z) { return &numbers_[static_cast<std::size_t>((z * (length(1) + 2) + y) * (length(0) + 2))]; }
    const double* line(long y, long z) const { return const_cast<Cube*>(this)->line(y, z); }
    void clear();

    // Brings the layer around from the neighbours: along x, then y with the corners that came, then z.
    void exchange();

    // Each rank's part of a divided cube put together on all of them; `whole` is not divided.
    void gather(Cube& whole) const;

private:
    struct Face {
        long fixed;  // the place along the axis
        int axis;
    };
    template <class Each>
    void for_each_of(const Face& face, Each each);
    void exchange_axis(int axis);

    long edge_;
    Division division_;
    int rank_;
    std::array<int, 3> place_;
    std::array<long, 3> lengths_{};
    std::vector<double> numbers_;
    std::array<std::vector<double>, 4> buffers_;  // out down, out up, in from up, in from down
};

}  // namespace lanyard::bench
