// Communicates like HPL, an LU factorisation with partial pivoting. The matrix is distributed in square
// blocks over a grid of ranks. A panel is a column of blocks. For each panel, the ranks that have a part of
// it choose a pivot for each of its columns and exchange rows within the panel. They then broadcast the panel
// along the rows of the grid. In the columns to the right of the panel, the same rows are exchanged, and then
// these columns are updated. The panels become shorter as the work proceeds.
//
// HPL multiplies matrices in the update. The update here is cheaper and is computed modulo 2^64. The matrix
// begins as the product of a column and a row, and the part that is still to be updated remains such a
// product. Each rank can therefore repeat the whole computation on the column and the row alone. With the
// result it verifies the pivots and its whole part of the matrix.
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
    // number of rows and of columns, a multiple of `block`
    int rows;
    int block;
    int times;  // number of factorisations of the same matrix
};
constexpr Problem problems[] = {
    {'S', 256, 32, 6}, {'W', 1024, 64, 24}, {'A', 2048, 64, 24}, {'B', 4096, 128, 12}};

// Returns the new value of an element. Received values are multiplied only by odd factors, so that no wrong
// bit vanishes.
std::uint64_t updated(std::uint64_t value, std::uint64_t of_row, std::uint64_t of_column) {
    return 5 * value + of_row * of_column;
}
std::uint64_t of_column(int panel, int column) { return 2 * static_cast<std::uint64_t>(panel + column) + 1; }
// The weight of a column of the panel in a weighted sum. Such a sum is formed for each row of the panel.
std::uint64_t weight(int column) { return 2 * static_cast<std::uint64_t>(column) + 1; }

// Represents a candidate for the pivot as a double. The upper bits are the upper half of the value. The lower
// bits are the row, so that all candidates differ.
constexpr int row_bits = 20;
double key_of(std::uint64_t value, int row) {
    return static_cast<double>(value >> 32 << row_bits | static_cast<std::uint64_t>(row));
}

// The largest key and the negated smallest key, so that one MPI_MAX reduction finds both. The largest key
// determines the pivot's row, and the smallest key determines a factor.
struct Keys {
    std::array<double, 2> both{-1, -0x1p53};

    void add(std::uint64_t value, int row) {
        double key = key_of(value, row);
        both = {std::max(both[0], key), std::max(both[1], -key)};
    }
    int row() const { return static_cast<int>(static_cast<std::uint64_t>(both[0]) & ((1U << row_bits) - 1)); }
    std::uint64_t factor() const { return 2 * static_cast<std::uint64_t>(-both[1]); }
};

// Describes how blocks are dealt cyclically to the ranks along one direction of the grid.
struct Deal {
    int block, parts, mine;

    int owner(int index) const { return index / block % parts; }
    int local(int index) const { return index / block / parts * block + index % block; }
    int global(int place) const { return (place / block * parts + mine) * block + place % block; }
    // Returns the number of rows or columns that this rank has of the first `blocks` blocks.
    int before(int blocks) const { return (blocks + parts - 1 - mine) / parts * block; }
};

class Matrix {
public:
    Matrix(const Problem& problem, int rank, int ranks) : problem_(problem) {
        std::array<int, 2> parts{};
        MPI_Dims_create(ranks, 2, parts.data());
        rows_ = {problem.block, parts[1], rank / parts[0]};
        // HPL requires that the columns are divided into at least as many parts as the rows.
        columns_ = {problem.block, parts[0], rank % parts[0]};
        MPI_Comm_split(MPI_COMM_WORLD, rows_.mine, columns_.mine, &along_row_);
        MPI_Comm_split(MPI_COMM_WORLD, columns_.mine, rows_.mine, &down_column_);
        height_ = rows_.before(blocks());
        values_.resize(static_cast<std::size_t>(height_) *
                       static_cast<std::size_t>(columns_.before(blocks())));
        expected_ = values_;
        panel_.resize(static_cast<std::size_t>((height_ + 1) * problem.block));
        of_row_.resize(static_cast<std::size_t>(height_));
        row_out_.resize(static_cast<std::size_t>(problem.rows));
        row_in_ = row_out_;
        expect();
    }
    Matrix(const Matrix&) = delete;
    ~Matrix() {
        MPI_Comm_free(&along_row_);
        MPI_Comm_free(&down_column_);
    }

    int blocks() const { return problem_.rows / problem_.block; }
    void fill();
    void work_on(int panel);
    bool good() const { return keys_agree_ && values_ == expected_; }

private:
    std::uint64_t* column(int place) { return values_.data() + static_cast<std::ptrdiff_t>(place) * height_; }
    void expect();
    void expect_rows(int block, const Values& of_rows, const Values& of_columns);
    void find_pivots(int panel);
    void exchange_rows(int first, int second, int begin, int end);
    void update(int panel);

    Problem problem_;
    Deal rows_, columns_;
    MPI_Comm along_row_ = MPI_COMM_NULL, down_column_ = MPI_COMM_NULL;
    int height_;               // number of elements in each of this rank's columns
    Values values_, expected_; // stored column by column
    Values panel_;             // the row numbers of the panel's pivots, then the panel's columns
    Values of_row_, row_out_, row_in_;
    std::vector<Keys> keys_;  // the expected keys, by column of the matrix
    bool keys_agree_ = true;
};

void Matrix::fill() {
    Values of_rows = odd_numbers(problem_.rows, 1), of_columns = odd_numbers(problem_.rows, 2);
    for (int place = 0; place < columns_.before(blocks()); ++place)
        for (int row = 0; row < height_; ++row)
            column(place)[row] = of_rows[rows_.global(row)] * of_columns[columns_.global(place)];
}

// Computes the expected final matrix. The part of the matrix that is still to be updated is always the
// product of a column and a row, so only these two are computed.
void Matrix::expect() {
    Values of_rows = odd_numbers(problem_.rows, 1), of_columns = odd_numbers(problem_.rows, 2);
    for (int panel = 0; panel < blocks(); ++panel) {
        int first = panel * problem_.block, end = first + problem_.block;
        std::uint64_t of_panel = 0;
        for (int column = first; column < end; ++column) {
            Keys keys;
            for (int row = column; row < problem_.rows; ++row)
                keys.add(of_rows[row] * of_columns[column], row);
            std::swap(of_rows[column], of_rows[keys.row()]);
            keys_.push_back(keys);
            if (column + 1 < end) of_columns[column + 1] += keys.factor() * of_columns[column];
            of_panel += weight(column - first) * of_columns[column];
        }
        for (int column = end; column < problem_.rows; ++column)
            of_columns[column] = updated(of_columns[column], of_panel, of_column(panel, column));
        expect_rows(panel, of_rows, of_columns);
    }
}

// Stores expected values that later panels do not change: those in the rows of this block, and below these
// rows those in the columns of the block's panel.
void Matrix::expect_rows(int block, const Values& of_rows, const Values& of_columns) {
    for (int place = columns_.before(block); place < columns_.before(blocks()); ++place) {
        bool in_panel = place < columns_.before(block + 1);
        for (int row = rows_.before(block); row < (in_panel ? height_ : rows_.before(block + 1)); ++row)
            expected_[static_cast<std::size_t>(place) * height_ + row] =
                of_rows[rows_.global(row)] * of_columns[columns_.global(place)];
    }
}

// Exchanges two rows of the matrix in this rank's columns from `begin` to `end`.
void Matrix::exchange_rows(int first, int second, int begin, int end) {
    int owner = rows_.owner(first), other = rows_.owner(second);
    if (owner == other && owner == rows_.mine)
        for (int place = begin; place < end; ++place)
            std::swap(column(place)[rows_.local(first)], column(place)[rows_.local(second)]);
    if (owner == other || begin == end || (owner != rows_.mine && other != rows_.mine)) return;
    int row = rows_.local(owner == rows_.mine ? first : second),
        partner = owner == rows_.mine ? other : owner;
    for (int place = begin; place < end; ++place) row_out_[place] = column(place)[row];
    partner = partner * columns_.parts + columns_.mine;
    MPI_Sendrecv(&row_out_[begin], end - begin, MPI_UINT64_T, partner, 0, &row_in_[begin], end - begin,
                 MPI_UINT64_T, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int place = begin; place < end; ++place) column(place)[row] = row_in_[place];
}

// Called by the ranks that have a part of the panel. Finds the pivots, exchanges rows in the panel, and adds
// each column to the next one. If a rank used a wrong key, it could choose another pivot than the other ranks
// and would then wait for ever. Wrong keys are therefore only recorded, and the expected keys are used, both
// here and in update().
void Matrix::find_pivots(int panel) {
    int block = problem_.block, begin = columns_.before(panel), top = rows_.before(panel);
    for (int k = 0; k < block; ++k) {
        int wanted = panel * block + k;
        std::uint64_t* values = column(begin + k);
        int first = rows_.owner(wanted) == rows_.mine ? rows_.local(wanted) : top;
        Keys mine, all;
        for (int row = first; row < height_; ++row) mine.add(values[row], rows_.global(row));
        MPI_Allreduce(mine.both.data(), all.both.data(), 2, MPI_DOUBLE, MPI_MAX, down_column_);
        const Keys& expected = keys_[static_cast<std::size_t>(wanted)];
        keys_agree_ &= all.both == expected.both;
        panel_[static_cast<std::size_t>(k)] = static_cast<std::uint64_t>(expected.row());
        exchange_rows(wanted, expected.row(), begin, begin + block);
        for (int row = top; row < height_ && k + 1 < block; ++row)
            column(begin + k + 1)[row] += expected.factor() * values[row];
    }
    for (int k = 0; k < block; ++k)
        std::copy(column(begin + k) + top, column(begin + k) + height_,
                  panel_.data() + block + k * (height_ - top));
}

// Called by all ranks. Updates the matrix to the right of the panel, using the panel that was
// broadcast.
void Matrix::update(int panel) {
    int block = problem_.block, begin = columns_.before(panel + 1), end = columns_.before(blocks());
    for (int k = 0; k < block; ++k) {
        int row = panel * block + k, pivot = keys_[static_cast<std::size_t>(row)].row();
        keys_agree_ &= panel_[static_cast<std::size_t>(k)] == static_cast<std::uint64_t>(pivot);
        exchange_rows(row, pivot, begin, end);
    }
    int top = rows_.before(panel);
    std::fill(of_row_.begin(), of_row_.end(), 0);
    for (int k = 0; k < block; ++k) {
        const std::uint64_t* in_panel = panel_.data() + block + k * (height_ - top) - top;
        for (int row = top; row < height_; ++row) of_row_[row] += weight(k) * in_panel[row];
    }
    for (int place = begin; place < end; ++place) {
        std::uint64_t* values = column(place);
        std::uint64_t factor = of_column(panel, columns_.global(place));
        for (int row = top; row < height_; ++row) values[row] = updated(values[row], of_row_[row], factor);
    }
}

void Matrix::work_on(int panel) {
    int owner = panel % columns_.parts, rows = height_ - rows_.before(panel);
    if (owner == columns_.mine) find_pivots(panel);
    MPI_Bcast(panel_.data(), problem_.block * (rows + 1), MPI_UINT64_T, owner, along_row_);
    update(panel);
}

}  // namespace

Outcome run_panels(Run& run) {
    const Problem& problem = problem_of(problems, run.problem());
    Matrix matrix(problem, run.rank(), run.size());
    bool verified = true;
    run.start();
    for (int time = 0; time < problem.times; ++time) {
        matrix.fill();
        for (int panel = 0; panel < matrix.blocks(); ++panel) matrix.work_on(panel);
        verified &= matrix.good();
        run.show_progress(time + 1, problem.times);
    }
    run.stop();
    return {verified, 0};
}

}  // namespace lanyard::bench
