// See profile_text.h.
#include "tool/profile_text.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace lanyard::tool {

namespace {

std::string amount(double value, const char *const *units, double step, int count) {
    int unit = 0;
    while (unit + 1 < count && value >= step) {
        value /= step;
        ++unit;
    }
    char text[32];
    bool whole = unit == 0 && value == static_cast<double>(static_cast<uint64_t>(value));
    bool long_number = value >= 999.5;  // %.3g would write it with an exponent
    std::snprintf(text, sizeof text, whole || long_number ? "%.0f %s" : "%.3g %s", value, units[unit]);
    return text;
}

}  // namespace

std::string line(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return std::string(text) + "\n";
}

std::string grouped(uint64_t number) {
    std::string text = std::to_string(number);
    for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
        text.insert(static_cast<size_t>(place), 1, ',');
    return text;
}

std::string counted(uint64_t number, const char *what) {
    return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

std::string bytes_text(uint64_t bytes) {
    static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return amount(static_cast<double>(bytes), units, 1024, 5);
}

std::string time_text(double seconds) {
    if (seconds == 0) return "0 s";
    static constexpr const char *units[] = {"us", "ms", "s"};
    return amount(seconds * 1e6, units, 1000, 3);
}

}  // namespace lanyard::tool
