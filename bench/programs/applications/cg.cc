// CG computes the smallest eigenvalue of a large sparse symmetric matrix by inverse iteration. Each step
// solves a linear system by 25 steps of conjugate gradients (RNR-94-007, section 2.4).
//
// The ranks form a grid with as many columns as rows, or with twice as many. Each column of ranks has one
// piece of every vector and the matching columns of the matrix. Each row of ranks has some rows of the
// matrix. So each rank has one block of the matrix. The product of the matrix with a vector is summed along a
// row of ranks. Each rank then exchanges its piece of the product with the rank at the transposed position of
// the grid.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/random.h"

namespace lanyard::bench {

namespace {

struct Problem {
    char name;
    // nonzeros: number of nonzero elements of each random vector from which the matrix is made
    long order, nonzeros;
    int steps;
    double shift, zeta;  // zeta is the published result
};
constexpr Problem problems[] = {{'S', 1400, 7, 15, 10, 8.5971775078648},
                                {'W', 7000, 8, 15, 12, 10.362595087124},
                                {'A', 14000, 11, 15, 20, 17.130235054029},
                                {'B', 75000, 13, 75, 60, 22.712745482631}};
constexpr std::uint64_t seed = 314159265;
constexpr double condition = 0.1, tolerance = 1e-10;
constexpr int gradient_steps = 25;
enum Tag : int { sum_tag = 1, piece_tag, product_tag };

// The grid of ranks. It determines which parts of a vector belong to a column of ranks and to a row of ranks.
struct Grid {
    Grid(int ranks, int rank, long vector_order)
        : columns(1 << ((std::bit_width(static_cast<unsigned>(ranks)) - 1 + 1) / 2)), rows(ranks / columns),
          row(rank / columns), column(rank % columns), order(vector_order) {}

    long piece_start(int piece) const { return order * piece / columns; }
    int pieces_of_row() const { return columns / rows; }  // 1 or 2
    int rank_of(int a_row, int a_column) const { return a_row * columns + a_column; }

    int columns, rows, row, column;
    long order;
};

struct Element {
    long column;
    double value;
};

// Generates vector number `own` of the sparse vectors whose outer products add up to the matrix. The vector
// has `nonzeros` random elements, and the value 0.5 as element `own`.
std::vector<Element> sparse_vector(Random& random, long own, const Problem& problem) {
    std::vector<Element> vector;
    double range = static_cast<double>(std::bit_ceil(static_cast<unsigned long>(problem.order)));
    auto find = [&](long place) {
        return std::find_if(vector.begin(), vector.end(),
                            [=](const Element& one) { return one.column == place; });
    };
    while (static_cast<long>(vector.size()) < problem.nonzeros) {
        double value = random.next();
        long place = static_cast<long>(range * random.next());
        if (place < problem.order && find(place) == vector.end()) vector.push_back({place, value});
    }
    if (auto mine = find(own); mine != vector.end()) mine->value = 0.5;
    else vector.push_back({own, 0.5});
    return vector;
}

// A rank's block of the matrix, row by row.
class Block {
public:
    Block(const Grid& grid, const Problem& problem)
        : first_row_(grid.piece_start(grid.row * grid.pieces_of_row())),
          end_row_(grid.piece_start((grid.row + 1) * grid.pieces_of_row())),
          first_column_(grid.piece_start(grid.column)), end_column_(grid.piece_start(grid.column + 1)) {
        std::vector<std::vector<Element>> rows(static_cast<std::size_t>(end_row_ - first_row_));
        add_outer_products(problem, rows);
        for (std::vector<Element>& row : rows) add_row(row);
    }

    long rows() const { return end_row_ - first_row_; }

    void multiply(const std::vector<double>& vector, std::vector<double>& product) const {
        for (std::size_t row = 0; row + 1 < starts_.size(); ++row) {
            double sum = 0;
            for (std::size_t i = starts_[row]; i < starts_[row + 1]; ++i)
                sum += values_[i] * vector[static_cast<std::size_t>(columns_[i])];
            product[row] = sum;
        }
    }

private:
    // Adds this rank's part of all outer products. All ranks must generate all vectors, because the random
    // numbers form one sequence.
    void add_outer_products(const Problem& problem, std::vector<std::vector<Element>>& rows) {
        Random random(seed);
        random.next();
        double scale = 1, ratio = std::pow(condition, 1.0 / static_cast<double>(problem.order));
        for (long own = 0; own < problem.order; ++own, scale *= ratio) {
            std::vector<Element> vector = sparse_vector(random, own, problem);
            for (const Element& one : vector)
                for (const Element& other : vector) {
                    if (!is_mine(other.column, one.column)) continue;
                    double value = one.value * other.value * scale;
                    // `condition` is added to the diagonal and the shift is subtracted from it.
                    if (one.column == own && other.column == own) value += condition - problem.shift;
                    rows[static_cast<std::size_t>(other.column - first_row_)].push_back(
                        {one.column - first_column_, value});
                }
        }
    }

    bool is_mine(long row, long column) const {
        return row >= first_row_ && row < end_row_ && column >= first_column_ && column < end_column_;
    }

    // Appends a row to the block. Elements in the same column are added up.
    void add_row(std::vector<Element>& row) {
        std::stable_sort(row.begin(), row.end(),
                         [](const Element& a, const Element& b) { return a.column < b.column; });
        for (const Element& element : row) {
            if (columns_.size() > starts_.back() && columns_.back() == element.column)
                values_.back() += element.value;
            else {
                columns_.push_back(static_cast<std::int32_t>(element.column));
                values_.push_back(element.value);
            }
        }
        starts_.push_back(columns_.size());
        row = {};
    }

    long first_row_, end_row_, first_column_, end_column_;
    std::vector<std::size_t> starts_{0};
    std::vector<std::int32_t> columns_;  // column of each value, counted from the block's first column
    std::vector<double> values_;
};

class Solver {
public:
    explicit Solver(Run& run)
        : problem_(problem_of(problems, run.problem())), grid_(run.size(), run.rank(), problem_.order),
          block_(grid_, problem_), piece_(static_cast<std::size_t>(grid_.piece_start(grid_.column + 1) -
                                                                   grid_.piece_start(grid_.column))),
          x_(piece_, 1.0), z_(piece_), p_(piece_), q_(piece_), r_(piece_),
          product_(static_cast<std::size_t>(block_.rows())), received_(product_.size()) {}

    int steps() const { return problem_.steps; }
    void begin() { std::fill(x_.begin(), x_.end(), 1.0); }

    // Makes one step of inverse iteration and returns the next estimate of zeta.
    double step() {
        solve();
        std::array<double, 2> sums{dot(x_, z_), dot(z_, z_)};
        sum_over_row(sums.data(), 2);
        double factor = 1 / std::sqrt(sums[1]);
        for (std::size_t i = 0; i < piece_; ++i) x_[i] = factor * z_[i];
        return problem_.shift + 1 / sums[0];
    }

    bool is_published(double zeta) const { return close_to(zeta, problem_.zeta, tolerance); }
    double million_operations() const {
        double products = static_cast<double>(problem_.nonzeros * (problem_.nonzeros + 1));
        return 2e-6 * problem_.steps * static_cast<double>(problem_.order) *
               (3 + products + gradient_steps * (5 + products) + 3);
    }

private:
    // Computes z = A^-1 x approximately. The definition also requires the residual of z, which costs one more
    // product with the matrix.
    double solve() {
        std::fill(z_.begin(), z_.end(), 0.0);
        r_ = p_ = x_;
        double rho = dot(r_, r_);
        sum_over_row(&rho, 1);
        for (int i = 0; i < gradient_steps; ++i) {
            multiply(p_, q_);
            double d = dot(p_, q_);
            sum_over_row(&d, 1);
            double length = rho / d, before = rho;
            for (std::size_t j = 0; j < piece_; ++j) {
                z_[j] += length * p_[j];
                r_[j] -= length * q_[j];
            }
            rho = dot(r_, r_);
            sum_over_row(&rho, 1);
            double beta = rho / before;
            for (std::size_t j = 0; j < piece_; ++j) p_[j] = r_[j] + beta * p_[j];
        }
        multiply(z_, r_);
        double residual = 0;
        for (std::size_t j = 0; j < piece_; ++j) residual += (x_[j] - r_[j]) * (x_[j] - r_[j]);
        sum_over_row(&residual, 1);
        return std::sqrt(residual);
    }

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    // Sums values over a row of ranks, which together have all pieces of a vector.
    void sum_over_row(double* values, int count) {
        std::array<double, 2> others{};
        for (int distance = 1; distance < grid_.columns; distance *= 2) {
            exchange(values, count, others.data(), count, grid_.rank_of(grid_.row, grid_.column ^ distance),
                     sum_tag);
            for (int i = 0; i < count; ++i) values[i] += others[static_cast<std::size_t>(i)];
        }
    }

    // Computes the product of the matrix with the vector. `result` becomes this rank's piece of the
    // product.
    void multiply(const std::vector<double>& vector, std::vector<double>& result) {
        block_.multiply(vector, product_);
        double* sums = product_.data();
        std::size_t length = product_.size();
        int distance = 1, partner_row = grid_.column, partner_column = grid_.row;
        // If there are twice as many columns as rows, the product that a row of ranks computes has two
        // pieces. This rank sums up one piece, and its neighbour sums up the other.
        if (grid_.pieces_of_row() == 2) {
            int parity = grid_.column % 2;
            auto middle = static_cast<std::size_t>(grid_.piece_start(2 * grid_.row + 1) -
                                                   grid_.piece_start(2 * grid_.row));
            double* theirs = sums + (parity ? 0 : middle);
            std::size_t their_length = parity ? middle : length - middle;
            sums += parity ? middle : 0;
            length -= their_length;
            exchange(theirs, static_cast<int>(their_length), received_.data(), static_cast<int>(length),
                     grid_.rank_of(grid_.row, grid_.column ^ 1), product_tag);
            for (std::size_t i = 0; i < length; ++i) sums[i] += received_[i];
            distance = 2;
            partner_row = grid_.column / 2;
            partner_column = 2 * grid_.row + parity;
        }
        for (; distance < grid_.columns; distance *= 2) {
            exchange(sums, static_cast<int>(length), received_.data(), static_cast<int>(length),
                     grid_.rank_of(grid_.row, grid_.column ^ distance), product_tag);
            for (std::size_t i = 0; i < length; ++i) sums[i] += received_[i];
        }
        int partner = grid_.rank_of(partner_row, partner_column);
        if (partner == grid_.rank_of(grid_.row, grid_.column)) std::copy_n(sums, length, result.begin());
        else
            exchange(sums, static_cast<int>(length), result.data(), static_cast<int>(piece_), partner,
                     piece_tag);
    }

    static void exchange(const double* out, int out_count, double* in, int in_count, int other, int tag) {
        MPI_Request request;
        MPI_Irecv(in, in_count, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &request);
        MPI_Send(out, out_count, MPI_DOUBLE, other, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }

    const Problem& problem_;
    Grid grid_;
    Block block_;
    std::size_t piece_;
    std::vector<double> x_, z_, p_, q_, r_;   // this rank's pieces
    std::vector<double> product_, received_;  // of length rows(): sums for the matrix rows of this rank
};

}  // namespace

Outcome run_cg(Run& run) {
    Solver solver(run);
    solver.step();  // an untimed step that touches all memory, as in the definition
    solver.begin();
    double zeta = 0;
    run.start();
    for (int step = 0; step < solver.steps(); ++step) {
        zeta = solver.step();
        run.show_progress(step + 1, solver.steps());
    }
    run.stop();
    return {solver.is_published(zeta), solver.million_operations()};
}

}  // namespace lanyard::bench
