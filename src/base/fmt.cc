// The functions of fmt that its headers only declare, for the installed programs. They must not need libfmt,
// and Debian has no archive of it. The header-only form of fmt would be compiled again in every file that
// formats text (4 s each). Everything else that fmt calls is in these three functions.
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace lanyard {

[[gnu::used]] std::string (*const vformat)(fmt::string_view, fmt::format_args) = fmt::vformat;
[[gnu::used]] void (*const vprint)(fmt::string_view, fmt::format_args) = fmt::vprint;
[[gnu::used]] void (*const vprint_to)(std::FILE *, fmt::string_view, fmt::format_args) = fmt::vprint;

}  // namespace lanyard
