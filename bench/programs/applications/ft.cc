// FT solves a partial differential equation in three dimensions in the frequency domain (RNR-94-007, section
// 2.5). The kernel transforms random numbers into frequencies once. After each time step it transforms the
// frequencies back and computes a checksum of 1,024 points.
//
// In space, each rank has some planes of constant z, so transforms along x and y are local. One MPI_Alltoall
// then gives each rank complete lines along z for some values of y. The frequencies remain distributed in
// this way.
#include <array>
#include <cmath>
#include <numbers>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/fourier.h"
#include "bench/programs/applications/random.h"

namespace lanyard::bench {

namespace {

constexpr std::uint64_t seed = 314159265;
constexpr double alpha = 1e-6;
constexpr double tolerance = 1e-12;

struct Problem {
    char name;
    std::size_t nx, ny, nz;
    int steps;
    std::array<Complex, 20> checksums;  // the published checksums, by step
};

constexpr Problem problems[] = {
    {'S', 64, 64, 64, 6,
     {{{5.546087004964e+02, 4.845363331978e+02}, {5.546385409189e+02, 4.865304269511e+02},
       {5.546148406171e+02, 4.883910722336e+02}, {5.545423607415e+02, 4.901273169046e+02},
       {5.544255039624e+02, 4.917475857993e+02}, {5.542683411902e+02, 4.932597244941e+02}}}},
    {'W', 128, 128, 32, 6,
     {{{5.673612178944e+02, 5.293246849175e+02}, {5.631436885271e+02, 5.282149986629e+02},
       {5.594024089970e+02, 5.270996558037e+02}, {5.560698047020e+02, 5.260027904925e+02},
       {5.530898991250e+02, 5.249400845633e+02}, {5.504159734538e+02, 5.239212247086e+02}}}},
    {'A', 256, 256, 128, 6,
     {{{5.046735008193e+02, 5.114047905510e+02}, {5.059412319734e+02, 5.098809666433e+02},
       {5.069376896287e+02, 5.098144042213e+02}, {5.077892868474e+02, 5.101336130759e+02},
       {5.085233095391e+02, 5.104914655194e+02}, {5.091487099959e+02, 5.107917842803e+02}}}},
    {'B', 512, 256, 256, 20,
     {{{5.177643571579e+02, 5.077803458597e+02}, {5.154521291263e+02, 5.088249431599e+02},
       {5.146409228649e+02, 5.096208912659e+02}, {5.142378756213e+02, 5.101023387619e+02},
       {5.139626667737e+02, 5.103976610617e+02}, {5.137423460082e+02, 5.105948019802e+02},
       {5.135547056878e+02, 5.107404165783e+02}, {5.133910925466e+02, 5.108576573661e+02},
       {5.132470705390e+02, 5.109577278523e+02}, {5.131197729984e+02, 5.110460304483e+02},
       {5.130070319283e+02, 5.111252433800e+02}, {5.129070537032e+02, 5.111968077718e+02},
       {5.128182883502e+02, 5.112616233064e+02}, {5.127393733383e+02, 5.113203605551e+02},
       {5.126691062020e+02, 5.113735928093e+02}, {5.126064276004e+02, 5.114218460548e+02},
       {5.125504076570e+02, 5.114656139760e+02}, {5.125002331720e+02, 5.115053595966e+02},
       {5.124551951846e+02, 5.115415130407e+02}, {5.124146770029e+02, 5.115744692211e+02}}}}};

class Spectrum {
public:
    explicit Spectrum(Run& run)
        : problem_(problem_of(problems, run.problem())), nx_(problem_.nx), ny_(problem_.ny), nz_(problem_.nz),
          ranks_(static_cast<std::size_t>(run.size())), rank_(static_cast<std::size_t>(run.rank())),
          my_ny_(ny_ / ranks_), my_nz_(nz_ / ranks_), along_x_(nx_), along_y_(ny_), along_z_(nz_),
          space_(nx_ * ny_ * my_nz_), frequencies_(space_.size()), evolved_(space_.size()),
          decay_(space_.size()) {}

    int steps() const { return problem_.steps; }
    double points() const { return static_cast<double>(nx_ * ny_ * nz_); }
    bool is_published(int step, Complex checksum) const {
        const Complex& reference = problem_.checksums[static_cast<std::size_t>(step)];
        return close_to(checksum.real, reference.real, tolerance) &&
               close_to(checksum.imaginary, reference.imaginary, tolerance);
    }

    void fill() {
        Random random(seed);
        random.skip(2 * rank_ * space_.size());
        for (Complex& value : space_) {
            value.real = random.next();
            value.imaginary = random.next();
        }
    }

    // Computes the factor by which each frequency is multiplied in a time step.
    void find_decay() {
        double factor = -4 * alpha * std::numbers::pi * std::numbers::pi;
        for (std::size_t y = 0; y < my_ny_; ++y)
            for (std::size_t z = 0; z < nz_; ++z)
                for (std::size_t x = 0; x < nx_; ++x) {
                    double square = squared(x, nx_) + squared(rank_ * my_ny_ + y, ny_) + squared(z, nz_);
                    decay_[(y * nz_ + z) * nx_ + x] = std::exp(factor * square);
                }
    }

    void to_frequencies() {
        for (std::size_t z = 0; z < my_nz_; ++z) {
            Complex* plane = &space_[z * ny_ * nx_];
            along_x_.transform(plane, 1, nx_, ny_, Fourier::forward);
            along_y_.transform(plane, nx_, 1, nx_, Fourier::forward);
        }
        space_to_lines(frequencies_);
        for (std::size_t y = 0; y < my_ny_; ++y)
            along_z_.transform(&frequencies_[y * nz_ * nx_], nx_, 1, nx_, Fourier::forward);
    }

    // Makes one time step of the frequencies, and transforms a copy of the result back into space.
    void step() {
        for (std::size_t i = 0; i < frequencies_.size(); ++i) {
            frequencies_[i].real *= decay_[i];
            frequencies_[i].imaginary *= decay_[i];
        }
        evolved_ = frequencies_;
        for (std::size_t y = 0; y < my_ny_; ++y)
            along_z_.transform(&evolved_[y * nz_ * nx_], nx_, 1, nx_, Fourier::backward);
        lines_to_space(evolved_);
        for (std::size_t z = 0; z < my_nz_; ++z) {
            Complex* plane = &space_[z * ny_ * nx_];
            along_y_.transform(plane, nx_, 1, nx_, Fourier::backward);
            along_x_.transform(plane, 1, nx_, ny_, Fourier::backward);
        }
    }

    Complex checksum() const {
        Complex mine{}, all{};
        for (std::size_t j = 1; j <= 1024; ++j) {
            std::size_t x = j % nx_, y = 3 * j % ny_, z = 5 * j % nz_;
            if (z / my_nz_ != rank_) continue;
            const Complex& value = space_[((z % my_nz_) * ny_ + y) * nx_ + x];
            mine.real += value.real;
            mine.imaginary += value.imaginary;
        }
        MPI_Allreduce(&mine, &all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return {all.real / points(), all.imaginary / points()};
    }

private:
    static double squared(std::size_t place, std::size_t length) {
        double frequency =
            static_cast<double>(place) - (place >= length / 2 ? static_cast<double>(length) : 0);
        return frequency * frequency;
    }

    int block_doubles() const { return static_cast<int>(2 * nx_ * my_ny_ * my_nz_); }

    // Redistributes the data from the order [own z][y][x] to the order [own y][z][x]. The block
    // that a rank sends to another has the order [z of the sender][y of the receiver][x].
    void space_to_lines(std::vector<Complex>& lines) {
        pack_.resize(space_.size());
        unpack_.resize(space_.size());
        std::size_t rows = my_ny_ * nx_, block = rows * my_nz_;
        for (std::size_t rank = 0; rank < ranks_; ++rank)
            for (std::size_t z = 0; z < my_nz_; ++z)
                std::copy_n(&space_[(z * ny_ + rank * my_ny_) * nx_], rows, &pack_[rank * block + z * rows]);
        MPI_Alltoall(pack_.data(), block_doubles(), MPI_DOUBLE, unpack_.data(), block_doubles(), MPI_DOUBLE,
                     MPI_COMM_WORLD);
        for (std::size_t z = 0; z < nz_; ++z)
            for (std::size_t y = 0; y < my_ny_; ++y)
                std::copy_n(&unpack_[z * rows + y * nx_], nx_, &lines[(y * nz_ + z) * nx_]);
    }

    void lines_to_space(const std::vector<Complex>& lines) {
        std::size_t rows = my_ny_ * nx_, block = rows * my_nz_;
        for (std::size_t z = 0; z < nz_; ++z)
            for (std::size_t y = 0; y < my_ny_; ++y)
                std::copy_n(&lines[(y * nz_ + z) * nx_], nx_, &pack_[z * rows + y * nx_]);
        MPI_Alltoall(pack_.data(), block_doubles(), MPI_DOUBLE, unpack_.data(), block_doubles(), MPI_DOUBLE,
                     MPI_COMM_WORLD);
        for (std::size_t rank = 0; rank < ranks_; ++rank)
            for (std::size_t z = 0; z < my_nz_; ++z)
                std::copy_n(&unpack_[rank * block + z * rows], rows,
                            &space_[(z * ny_ + rank * my_ny_) * nx_]);
    }

    const Problem& problem_;
    std::size_t nx_, ny_, nz_, ranks_, rank_, my_ny_, my_nz_;
    Fourier along_x_, along_y_, along_z_;
    std::vector<Complex> space_, frequencies_, evolved_, pack_, unpack_;
    std::vector<double> decay_;
};

}  // namespace

std::string takes_ft_ranks(int ranks, char problem) {
    if (std::string sentence = takes_powers_of_two(ranks, problem); !sentence.empty()) return sentence;
    const Problem& wanted = problem_of(problems, problem);
    std::size_t most = std::min(wanted.ny, wanted.nz);
    if (static_cast<std::size_t>(ranks) <= most) return "";
    return "has " + std::to_string(most) + " planes in class " + problem + ", too few for " +
           std::to_string(ranks) + " ranks";
}

Outcome run_ft(Run& run) {
    Spectrum spectrum(run);
    spectrum.fill();  // an untimed transform that touches all memory, as in the definition
    spectrum.to_frequencies();
    bool verified = true;
    run.start();
    spectrum.find_decay();
    spectrum.fill();
    spectrum.to_frequencies();
    for (int step = 0; step < spectrum.steps(); ++step) {
        spectrum.step();
        verified = spectrum.is_published(step, spectrum.checksum()) && verified;
        run.show_progress(step + 1, spectrum.steps());
    }
    run.stop();
    double logarithm = std::log(spectrum.points());
    double operations = 14.8157 + 7.19641 * logarithm + (5.23518 + 7.21113 * logarithm) * spectrum.steps();
    return {verified, 1e-6 * spectrum.points() * operations};
}

}  // namespace lanyard::bench
