// Writes numbers as they appear in a profile's table. These functions have no side effects.
// Tested by: tests/unit/tool/profile_test.cc.
#pragma once

#include <cstdint>
#include <string>

namespace lanyard::tool {

// A line with its newline. A text of more than 255 bytes is cut off.
[[gnu::format(printf, 1, 2)]] std::string line(const char *format, ...);
// Writes 1234567 as "1,234,567".
std::string grouped(uint64_t number);
// A number with what is counted, as in "1 message" or "2 messages".
std::string counted(uint64_t number, const char *what);
// These two functions write a quantity and its unit: a whole number of the smallest unit in full, any other
// number with three significant digits (from 1000 on with an exponent).
std::string bytes_text(uint64_t bytes);
std::string time_text(double seconds);
inline double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace lanyard::tool
