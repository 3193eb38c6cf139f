// The functions of the library fmt that its headers only declare, compiled into the installed programs. These
// programs must not need libfmt at run time, and Debian has no archive of libfmt for linking. With the
// header-only form of fmt, every file that formats text would compile these functions again (4 s each). Here,
// the three pointers have the three functions compiled, and with them everything that these functions call.
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace lanyard {

[[gnu::used]] std::string (*const vformat)(fmt::string_view, fmt::format_args) = fmt::vformat;
[[gnu::used]] void (*const vprint)(fmt::string_view, fmt::format_args) = fmt::vprint;
[[gnu::used]] void (*const vprint_to)(std::FILE *, fmt::string_view, fmt::format_args) = fmt::vprint;

}  // namespace lanyard
