// See log.h.
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace lanyard {

namespace detail {
std::atomic<int> log_level{0};
}

namespace {

// One bit for each part, in the order of log_parts; all_parts if LANYARD_LOG names no part.
constexpr uint32_t all_parts = ~uint32_t{0};
std::atomic<uint32_t> shown_parts{all_parts};
std::string log_name;

uint32_t bit_of_part(std::string_view part) {
    auto known = std::find_if(std::begin(log_parts), std::end(log_parts),
                              [&](const LogName &row) { return part == row.name; });
    return known == std::end(log_parts) ? 0 : uint32_t{1} << (known - std::begin(log_parts));
}

bool part_shown(const char *part) {
    uint32_t shown = shown_parts.load(std::memory_order_relaxed);
    return shown == all_parts || (shown & bit_of_part(part)) != 0;
}

}  // namespace

bool set_log(const char *specification) {
    std::string_view text(specification ? specification : "");
    size_t comma = std::min(text.find(','), text.size());
    std::string_view level = text.substr(0, comma);
    auto known = std::find_if(std::begin(log_levels), std::end(log_levels),
                              [&](const LogName &row) { return level == row.name; });
    if (!level.empty() && known == std::end(log_levels)) return false;
    uint32_t parts = comma == text.size() ? all_parts : 0;
    while (comma < text.size()) {
        size_t next = std::min(text.find(',', comma + 1), text.size());
        parts |= bit_of_part(text.substr(comma + 1, next - comma - 1));
        comma = next;
    }
    detail::log_level = level.empty() ? 0 : static_cast<int>(known - std::begin(log_levels)) + 1;
    shown_parts = parts;
    return true;
}

void set_log_name(const char *name) { log_name = name; }
const char *shown_log_name() { return log_name.c_str(); }

void log(LogLevel level, const char *part, const char *format, ...) {
    if (!log_enabled(level) || (level != LogLevel::warn && !part_shown(part))) return;
    char line[2048];
    int used = std::snprintf(line, sizeof line, "lanyard%s%s [%s] ", log_name.empty() ? "" : " ",
                             log_name.c_str(), part);
    va_list arguments;
    va_start(arguments, format);
    int more = std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, arguments);
    va_end(arguments);
    size_t length = std::min<size_t>(static_cast<size_t>(used + (more > 0 ? more : 0)), sizeof line - 2);
    line[length++] = '\n';
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, length);
}

}  // namespace lanyard
