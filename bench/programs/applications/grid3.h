// Defines Cube, a periodic cube of numbers that is divided among the ranks (for mg.cc). Each rank's part is
// surrounded by a layer, one number thick, of the neighbours' numbers. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace lanyard::bench {

// The division of a cube: `ranks` has the numbers of ranks along x, y and z, each a power of two. The rank at
// position (x, y, z) is (z * ranks[1] + y) * ranks[0] + x. With {1, 1, 1} the cube is not divided, and each
// rank has the whole cube.
struct Division {
    std::array<int, 3> ranks{1, 1, 1};

    int all() const { return ranks[0] * ranks[1] * ranks[2]; }
    std::array<int, 3> place_of(int rank) const {
        if (all() == 1) return {0, 0, 0};
        return {rank % ranks[0], rank / ranks[0] % ranks[1], rank / (ranks[0] * ranks[1])};
    }
    int rank_of(const std::array<int, 3>& place) const {
        return (place[2] * ranks[1] + place[1]) * ranks[0] + place[0];
    }
};

class Cube {
public:
    // Each side of the whole cube has `edge` numbers.
    Cube(long edge, const Division& division, int rank);

    long edge() const { return edge_; }
    // The length of this rank's part along an axis.
    long length(int axis) const { return lengths_[static_cast<std::size_t>(axis)]; }
    // The position along an axis, from 0, at which this rank's part of the whole cube begins.
    long start(int axis) const;
    const Division& division() const { return division_; }

    // Returns the numbers along x, which are contiguous, at the given y and z. Along each axis, the indices 1
    // to length() belong to this rank's part. The indices 0 and length() + 1 belong to the layer around it.
    double* line(long y, long z) {
        return &numbers_[static_cast<std::size_t>((z * (length(1) + 2) + y) * (length(0) + 2))];
    }
    const double* line(long y, long z) const { return const_cast<Cube*>(this)->line(y, z); }
    void clear();

    // Exchanges the layers with the neighbours: first along x, then along y, then along z. Each exchange also
    // sends the numbers that the exchanges before it received, so that edges and corners arrive too.
    void exchange();

    // Collects all parts of this divided cube in `whole`, on every rank. `whole` must not be divided.
    void gather(Cube& whole) const;

private:
    struct Face {
        long fixed;  // the index of the face along `axis`
        int axis;
    };
    template <class Each>
    void for_each_of(const Face& face, Each each);
    void exchange_axis(int axis);

    long edge_;
    Division division_;
    std::array<int, 3> place_;
    std::array<long, 3> lengths_{};
    std::vector<double> numbers_;
    // sent down, sent up, received from above, received from below
    std::array<std::vector<double>, 4> buffers_;
};

}  // namespace lanyard::bench
