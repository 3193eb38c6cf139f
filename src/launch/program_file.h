// Finds the file of a program before anything is started, so that a mistyped name causes one message and not
// N.
#pragma once

#include <string>

namespace lanyard::launch {

struct ProgramFile {
    std::string path;     // to execute; a relative path is relative to the ranks' folder
    bool script = false;  // text without a #! line: run by /bin/sh, as the C library's execvp does
    int exit_code = 0;    // not 0: the program cannot be started, for the reason in `trouble`
    std::string trouble;
    std::string remedy;   // what the user can do about it, or ""
};

// `search_path` is the ranks' PATH (nullptr if not set). `folder` is the folder in which they start ("" for
// this one).
ProgramFile find_program(const std::string &name, const char *search_path, const std::string &folder);

// True if the first line ends like lines of files from Windows. The name of its interpreter then seems to end
// with CR, and the interpreter is not found.
bool begins_with_crlf_line(const std::string &path, const std::string &folder);

}  // namespace lanyard::launch
