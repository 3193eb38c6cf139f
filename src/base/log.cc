#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace lanyard {

namespace detail {
int log_level = 0;
}

namespace {

std::vector<std::string> shown_parts;  // empty: all parts
std::string log_name;

bool part_shown(const char *part) {
    if (shown_parts.empty()) return true;
    for (const std::string &shown : shown_parts)
        if (shown == part) return true;
    return false;
}

}  // namespace

bool set_log(const char *specification) {
    std::string text(specification ? specification : "");
    size_t comma = text.find(',');
    std::string level = text.substr(0, comma);
    auto known = std::find_if(std::begin(log_levels), std::end(log_levels), [&](const LogName &row) { return level == row.name; });
    if (!level.empty() && known == std::end(log_levels)) return false;
    detail::log_level = level.empty() ? 0 : static_cast<int>(known - std::begin(log_levels)) + 1;
    shown_parts.clear();
    while (comma != std::string::npos) {
        size_t next = text.find(',', comma + 1);
        shown_parts.push_back(text.substr(comma + 1, next - comma - 1));
        comma = next;
    }
    return true;
}

void set_log_name(const char *name) { log_name = name; }

void log(LogLevel level, const char *part, const char *format, ...) {
    if (!log_enabled(level) || (level != LogLevel::warn && !part_shown(part))) return;
    char line[2048];
    int used = std::snprintf(line, sizeof line, "lanyard%s%s [%s] ", log_name.empty() ? "" : " ", log_name.c_str(), part);
    va_list arguments;
    va_start(arguments, format);
    int more = std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, arguments);
    va_end(arguments);
    size_t length = std::min<size_t>(static_cast<size_t>(used + (more > 0 ? more : 0)), sizeof line - 2);
    line[length++] = '\n';
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, length);
}

}  // namespace lanyard
