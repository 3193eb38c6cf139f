// Compares Fourier transforms with their definition.
#include "bench/programs/applications/fourier.h"

#include <gtest/gtest.h>

#include "bench/programs/applications/random.h"

using namespace lanyard::bench;

namespace {

std::vector<Complex> by_definition(const std::vector<Complex>& line, double direction) {
    std::size_t length = line.size();
    std::vector<Complex> sums(length);
    for (std::size_t k = 0; k < length; ++k)
        for (std::size_t i = 0; i < length; ++i) {
            double angle = direction * 2 * std::numbers::pi * static_cast<double>(i * k % length) /
                           static_cast<double>(length);
            sums[k].real += line[i].real * std::cos(angle) - line[i].imaginary * std::sin(angle);
            sums[k].imaginary += line[i].real * std::sin(angle) + line[i].imaginary * std::cos(angle);
        }
    return sums;
}

// Transforms `lines` lines and compares them with the definition. The elements of a line are `step` apart,
// and successive lines begin `line_step` apart.
void compare(std::size_t length, std::size_t lines, std::size_t step, std::size_t line_step,
             double direction) {
    std::vector<Complex> data(length * lines);
    Random random(17);
    for (Complex& value : data) value = {random.next(), random.next()};
    std::vector<Complex> before = data;
    Fourier(length).transform(data.data(), step, line_step, lines, direction);
    for (std::size_t n = 0; n < lines; ++n) {
        std::vector<Complex> line(length);
        for (std::size_t i = 0; i < length; ++i) line[i] = before[i * step + n * line_step];
        std::vector<Complex> expected = by_definition(line, direction);
        for (std::size_t i = 0; i < length; ++i) {
            ASSERT_NEAR(data[i * step + n * line_step].real, expected[i].real,
                        1e-12 * static_cast<double>(length));
            ASSERT_NEAR(data[i * step + n * line_step].imaginary, expected[i].imaginary,
                        1e-12 * static_cast<double>(length));
        }
    }
}

}  // namespace

TEST(Fourier, IsItsDefinitionOnLinesInAnyPlace) {
    for (std::size_t length : {2, 4, 8, 64, 128})
        for (std::size_t lines : {1, 5, 16, 37})
            for (double direction : {Fourier::forward, Fourier::backward}) {
                compare(length, lines, lines, 1, direction);
                compare(length, lines, 1, length, direction);
            }
}
