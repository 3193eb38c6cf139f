// Computes Fourier transforms of many lines at once. The length of a line must be a power of two. The
// algorithm is that of J. Cooley and J. Tukey in G. Stockham's variant, which need not reorder the elements
// (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7). One thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace lanyard::bench {

struct Complex {
    double real, imaginary;
};

class Fourier {
public:
    // The sign in the exponent. Neither direction scales the result.
    static constexpr double forward = -1, backward = 1;

    explicit Fourier(std::size_t length)
        : length_(length), roots_(length / 2), here_(length * batch), there_(length * batch) {
        for (std::size_t i = 0; i < roots_.size(); ++i) {
            double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
            roots_[i] = {std::cos(angle), std::sin(angle)};
        }
    }

    // Element i of line n is data[i * step + n * line_step]. All lines are transformed in place.
    void transform(Complex* data, std::size_t step, std::size_t line_step, std::size_t lines,
                   double direction) {
        for (std::size_t line = 0; line < lines; line += batch) {
            std::size_t width = std::min(batch, lines - line);
            Complex* first = data + line * line_step;
            for (std::size_t i = 0; i < length_; ++i)
                for (std::size_t n = 0; n < width; ++n)
                    here_[i * width + n] = first[i * step + n * line_step];
            transform_batch(width, direction);
            for (std::size_t i = 0; i < length_; ++i)
                for (std::size_t n = 0; n < width; ++n)
                    first[i * step + n * line_step] = here_[i * width + n];
        }
    }

private:
    static constexpr std::size_t batch = 16;  // number of lines that are transformed together

    void transform_batch(std::size_t width, double direction) {
        // number of consecutive elements that are multiplied by the same root of unity
        std::size_t run = width;
        for (std::size_t half = length_ / 2; half >= 1; half /= 2, run *= 2) {
            for (std::size_t p = 0; p < half; ++p) {
                Complex root = roots_[p * (length_ / 2 / half)];
                butterflies(&here_[p * run], &here_[(p + half) * run], &there_[2 * p * run], run,
                            {root.real, direction * root.imaginary});
            }
            here_.swap(there_);
        }
    }

    static void butterflies(const Complex* first, const Complex* second, Complex* out, std::size_t count,
                            Complex root) {
        for (std::size_t i = 0; i < count; ++i) {
            Complex a = first[i], b = second[i];
            Complex difference{a.real - b.real, a.imaginary - b.imaginary};
            out[i] = {a.real + b.real, a.imaginary + b.imaginary};
            out[i + count] = {difference.real * root.real - difference.imaginary * root.imaginary,
                              difference.real * root.imaginary + difference.imaginary * root.real};
        }
    }

    std::size_t length_;
    std::vector<Complex> roots_, here_, there_;
};

}  // namespace lanyard::bench
