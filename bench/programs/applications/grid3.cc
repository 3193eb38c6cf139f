// See grid3.h.
#include "bench/programs/applications/grid3.h"

#include <algorithm>
#include <mpi.h>

namespace lanyard::bench {

namespace {

enum Tag : int { down_tag = 10, up_tag = 20 };  // the axis is added to the tag

}  // namespace

Cube::Cube(long edge, const Division& division, int rank)
    : edge_(edge), division_(division), place_(division.place_of(rank)) {
    for (std::size_t axis = 0; axis < 3; ++axis) lengths_[axis] = edge / division.ranks[axis];
    numbers_.resize(static_cast<std::size_t>((lengths_[0] + 2) * (lengths_[1] + 2) * (lengths_[2] + 2)));
}

long Cube::start(int axis) const { return place_[static_cast<std::size_t>(axis)] * length(axis); }

void Cube::clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0); }

// Calls `each` for all numbers of a face. Along axes that have been exchanged already, the face includes the
// layers that the neighbours sent. Corners therefore need no messages of their own.
template <class Each>
void Cube::for_each_of(const Face& face, Each each) {
    auto low = [&](int axis) { return axis == face.axis ? face.fixed : axis < face.axis ? 0 : 1; };
    auto high = [&](int axis) {
        return axis == face.axis ? face.fixed : axis < face.axis ? length(axis) + 1 : length(axis);
    };
    for (long z = low(2); z <= high(2); ++z)
        for (long y = low(1); y <= high(1); ++y) {
            double* numbers = line(y, z);
            for (long x = low(0); x <= high(0); ++x) each(numbers[x]);
        }
}

void Cube::exchange() {
    for (int axis = 0; axis < 3; ++axis) exchange_axis(axis);
}

void Cube::exchange_axis(int axis) {
    auto& [out_down, out_up, from_up, from_down] = buffers_;
    long last = length(axis);
    out_down.clear();
    out_up.clear();
    for_each_of({1, axis}, [&](double number) { buffers_[0].push_back(number); });
    for_each_of({last, axis}, [&](double number) { buffers_[1].push_back(number); });
    int ranks = division_.ranks[static_cast<std::size_t>(axis)];
    if (ranks == 1) {
        from_up.swap(out_down);
        from_down.swap(out_up);
    } else {
        from_up.resize(out_down.size());
        from_down.resize(out_up.size());
        int count = static_cast<int>(out_down.size());
        auto neighbour = [&](int step) {
            std::array<int, 3> place = place_;
            int& along = place[static_cast<std::size_t>(axis)];
            along = (along + step + ranks) % ranks;
            return division_.rank_of(place);
        };
        MPI_Request requests[2];
        MPI_Irecv(from_up.data(), count, MPI_DOUBLE, neighbour(1), down_tag + axis, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(from_down.data(), count, MPI_DOUBLE, neighbour(-1), up_tag + axis, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Send(out_down.data(), count, MPI_DOUBLE, neighbour(-1), down_tag + axis, MPI_COMM_WORLD);
        MPI_Send(out_up.data(), count, MPI_DOUBLE, neighbour(1), up_tag + axis, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    const double* next = from_up.data();
    for_each_of({last + 1, axis}, [&](double& number) { number = *next++; });
    next = from_down.data();
    for_each_of({0, axis}, [&](double& number) { number = *next++; });
}

void Cube::gather(Cube& whole) const {
    std::vector<double> mine, all(static_cast<std::size_t>(edge_ * edge_ * edge_));
    for (long z = 1; z <= length(2); ++z)
        for (long y = 1; y <= length(1); ++y)
            mine.insert(mine.end(), line(y, z) + 1, line(y, z) + 1 + length(0));
    int count = static_cast<int>(mine.size());
    MPI_Allgather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    const double* next = all.data();
    for (int rank = 0; rank < division_.all(); ++rank) {
        std::array<int, 3> place = division_.place_of(rank);
        for (long z = 1; z <= length(2); ++z)
            for (long y = 1; y <= length(1); ++y, next += length(0))
                std::copy_n(next, length(0),
                            whole.line(place[1] * length(1) + y, place[2] * length(2) + z) +
                                place[0] * length(0) + 1);
    }
    whole.exchange();
}

}  // namespace lanyard::bench
