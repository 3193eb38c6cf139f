// How numbers are written in a profile's table. These functions have no side effects.
#pragma once

#include <cstdint>
#include <string>

namespace lanyard::tool {

[[gnu::format(printf, 1, 2)]] std::string line(const char *format, ...);
// 1234567 as "1,234,567".
std::string grouped(uint64_t number);
// "1 message", "2 messages".
std::string counted(uint64_t number, const char *what);
// Three digits and a unit.
std::string bytes_text(uint64_t bytes);
std::string time_text(double seconds);
inline double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace lanyard::tool
