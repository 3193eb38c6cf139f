// panels: what HPL (Linpack) sends. A matrix lies in blocks on a grid of ranks, block by block round and round in both directions. For
// each block column: its ranks search a pivot for each column (MPI_Allreduce) and pass the pivot's row on (MPI_Bcast); the panel goes along
// the rows of the grid (MPI_Bcast), rows change places down its columns (MPI_Sendrecv), the block row goes down the columns (MPI_Bcast),
// and all update what is left. Panels shrink as it goes on.
//
// The elimination is that of Linpack without its division, modulo 2^64. Verified: the whole matrix, against one rank's computation of it.
#include <algorithm>
#include <array>
#include <cstdint>

#include "tools/bench/applications/application.h"

namespace lanyard::bench {

namespace {

constexpr long width = 32;  // of a block
enum Tag : int { panel_swap_tag = 1, swap_tag };

struct Problem {
    char name;
    long order;
};
constexpr Problem problems[] = {{'S', 192}, {'W', 768}, {'A', 1536}, {'B', 2304}};

using Numbers = std::vector<std::uint64_t>;

// Rows or columns 0 to order - 1 in blocks dealt to `places`; one place's share of them, in order.
struct Dealt {
    long places, own;

    bool is_mine(long index) const { return index / width % places == own; }
    long place_of(long index) const { return index / width % places; }
    // How many of mine are less than it; where it is mine, its place among them.
    long before(long index) const {
        long block = index / width, whole = (block - own + places - 1) / places;  // blocks of mine before its block
        return std::max(whole, 0L) * width + (block % places == own ? index % width : 0);
    }
};

class Matrix {
public:
    // Of an `alone` one no other rank knows.
    Matrix(Run& run, long order, bool alone) : order_(order) {
        if (!alone) MPI_Dims_create(run.size(), 2, shape_.data());
        else shape_ = {1, 1};
        int rank = alone ? 0 : run.rank();
        rows_ = {shape_[0], rank / shape_[1]};
        columns_ = {shape_[1], rank % shape_[1]};
        MPI_Comm of_all = alone ? MPI_COMM_SELF : MPI_COMM_WORLD;
        MPI_Comm_split(of_all, static_cast<int>(rows_.own), static_cast<int>(columns_.own), &along_row_);
        MPI_Comm_split(of_all, static_cast<int>(columns_.own), static_cast<int>(rows_.own), &down_column_);
        my_columns_ = columns_.before(order_);
        numbers_.resize(static_cast<std::size_t>(rows_.before(order_) * my_columns_));
        for (long row = 0; row < order_; ++row)
            for (long column = 0; rows_.is_mine(row) && column < order_; ++column)
                if (columns_.is_mine(column)) at(row)[columns_.before(column)] = original(row, column);
    }
    ~Matrix() {
        MPI_Comm_free(&along_row_);
        MPI_Comm_free(&down_column_);
    }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;

    // Eliminates the columns first to first + width - 1.
    void eliminate(long first) {
        Numbers pivots(width);
        bool mine = columns_.is_mine(first);
        for (long column = first; mine && column < first + width; ++column)
            pivots[static_cast<std::size_t>(column - first)] = eliminate_in_panel(first, column);
        auto owner = static_cast<int>(columns_.place_of(first));
        MPI_Bcast(pivots.data(), width, MPI_UINT64_T, owner, along_row_);
        Numbers panel = panel_of(first, owner);
        for (long i = 0; i < width; ++i)
            swap_rows(first + i, static_cast<long>(pivots[static_cast<std::size_t>(i)]), columns_.before(first + width), my_columns_, swap_tag);
        update(first, panel);
    }

    bool agrees_with(Matrix& whole) {
        for (long row = 0; row < order_; ++row)
            for (long column = 0; rows_.is_mine(row) && column < order_; ++column)
                if (columns_.is_mine(column) && at(row)[columns_.before(column)] != whole.at(row)[column]) return false;
        return true;
    }

private:
    std::uint64_t original(long row, long column) const { return static_cast<std::uint64_t>(row * order_ + column) * 0x9e3779b97f4a7c15u; }
    std::uint64_t* at(long row) { return &numbers_[static_cast<std::size_t>(rows_.before(row) * my_columns_)]; }

    // Searches the pivot, changes rows within the panel, and eliminates there; the pivot's row.
    std::uint64_t eliminate_in_panel(long first, long column) {
        long begin = columns_.before(first), here = columns_.before(column);
        std::uint64_t best = 0, all = 0;  // the number without its lowest bits, and the row in their place
        for (long row = column; row < order_; ++row)
            if (rows_.is_mine(row)) best = std::max(best, at(row)[here] >> 16 << 16 | static_cast<std::uint64_t>(row));
        MPI_Allreduce(&best, &all, 1, MPI_UINT64_T, MPI_MAX, down_column_);
        long pivot = static_cast<long>(all & 0xffff);
        swap_rows(column, pivot, begin, begin + width, panel_swap_tag);
        Numbers top(width);
        if (rows_.is_mine(column)) std::copy_n(at(column) + begin, width, top.begin());
        MPI_Bcast(top.data(), width, MPI_UINT64_T, static_cast<int>(rows_.place_of(column)), down_column_);
        for (long row = column + 1; row < order_; ++row) {
            if (!rows_.is_mine(row)) continue;
            std::uint64_t* numbers = at(row) + begin;
            for (long i = column - first + 1; i < width; ++i) numbers[i] -= numbers[column - first] * top[static_cast<std::size_t>(i)];
        }
        return static_cast<std::uint64_t>(pivot);
    }

    // Two rows change places, in some columns of mine. They lie with me, with another rank of my column of the grid, or neither does.
    void swap_rows(long one, long other, long begin, long end, int tag) {
        if (one == other || begin == end) return;
        if (rows_.is_mine(one) && rows_.is_mine(other)) {
            std::swap_ranges(at(one) + begin, at(one) + end, at(other) + begin);
        } else if (rows_.is_mine(one) || rows_.is_mine(other)) {
            std::uint64_t* mine = at(rows_.is_mine(one) ? one : other) + begin;
            long there = rows_.place_of(rows_.is_mine(one) ? other : one);
            auto rank = static_cast<int>(there * columns_.places + columns_.own);
            auto count = static_cast<int>(end - begin);
            Numbers out(mine, mine + count);
            MPI_Sendrecv(out.data(), count, MPI_UINT64_T, rank, tag, mine, count, MPI_UINT64_T, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }

    // The panel's rows of mine from `first` on, for all ranks of my row of the grid.
    Numbers panel_of(long first, int owner) {
        long begin = rows_.before(first), count = rows_.before(order_) - begin;
        Numbers panel(static_cast<std::size_t>(count * width));
        const std::uint64_t* mine = numbers_.data() + begin * my_columns_ + columns_.before(first);
        for (long i = 0; columns_.own == owner && i < count; ++i) std::copy_n(mine + i * my_columns_, width, panel.begin() + i * width);
        MPI_Bcast(panel.data(), static_cast<int>(panel.size()), MPI_UINT64_T, owner, along_row_);
        return panel;
    }

    // The rows of the block itself, which then go down the columns, and all below.
    void update(long first, const Numbers& panel) {
        long begin = columns_.before(first + width), count = my_columns_ - begin;
        Numbers top(static_cast<std::size_t>(width * count));
        bool has_top = rows_.is_mine(first);
        if (has_top)
            for (long i = 0; i < width; ++i) {
                std::uint64_t* numbers = at(first + i) + begin;
                for (long k = 0; k < i; ++k) subtract(numbers, panel[static_cast<std::size_t>(i * width + k)], top.data() + k * count, count);
                std::copy_n(numbers, count, top.begin() + i * count);
            }
        MPI_Bcast(top.data(), static_cast<int>(top.size()), MPI_UINT64_T, static_cast<int>(rows_.place_of(first)), down_column_);
        long skipped = has_top ? width : 0;
        for (long row = rows_.before(first) + skipped; row < rows_.before(order_); ++row) {
            const std::uint64_t* factors = &panel[static_cast<std::size_t>((row - rows_.before(first)) * width)];
            std::uint64_t* numbers = &numbers_[static_cast<std::size_t>(row * my_columns_ + begin)];
            for (long k = 0; k < width; ++k) subtract(numbers, factors[k], &top[static_cast<std::size_t>(k * count)], count);
        }
    }

    static void subtract(std::uint64_t* numbers, std::uint64_t factor, const std::uint64_t* row, long count) {
        for (long i = 0; i < count; ++i) numbers[i] -= factor * row[i];
    }

    long order_, my_columns_ = 0;
    std::array<int, 2> shape_{0, 0};
    Dealt rows_{}, columns_{};
    MPI_Comm along_row_ = MPI_COMM_NULL, down_column_ = MPI_COMM_NULL;
    Numbers numbers_;
};

}  // namespace

Outcome run_panels(Run& run) {
    long order = problem_of(problems, run.problem()).order;
    Matrix matrix(run, order, false);
    run.start();
    for (long first = 0; first < order; first += width) {
        matrix.eliminate(first);
        run.show_progress(first + width, order);
    }
    run.stop();
    Matrix whole(run, order, true);
    for (long first = 0; first < order; first += width) whole.eliminate(first);
    return {matrix.agrees_with(whole), 0};
}

}  // namespace lanyard::bench
