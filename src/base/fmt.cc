// Compiles the functions of the library fmt that its headers only declare, for the installed programs. These
// programs must not need libfmt at run time, and Debian has no archive of libfmt for linking. With the
// header-only form of fmt, every file that formats text would compile these functions again (4 s each). Here,
// the three pointers make the compiler compile the three functions and everything that these functions call.
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace lanyard {

[[gnu::used]] std::string (*const vformat)(fmt::string_view, fmt::format_args) = fmt::vformat;
[[gnu::used]] void (*const vprint)(fmt::string_view, fmt::format_args) = fmt::vprint;
[[gnu::used]] void (*const vprint_to)(std::FILE *, fmt::string_view, fmt::format_args) = fmt::vprint;

}  // namespace lanyard
