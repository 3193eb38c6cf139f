// The functions of fmt that its headers only declare, for the programs that are installed: these need no libfmt, Debian has no archive of
// it, and fmt's header-only form would compile all of it again in every file that formats a text (4 s each). All that the rest of fmt
// calls is in these three.
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace lanyard {

[[gnu::used]] std::string (*const vformat)(fmt::string_view, fmt::format_args) = fmt::vformat;
[[gnu::used]] void (*const vprint)(fmt::string_view, fmt::format_args) = fmt::vprint;
[[gnu::used]] void (*const vprint_to)(std::FILE *, fmt::string_view, fmt::format_args) = fmt::vprint;

}  // namespace lanyard
