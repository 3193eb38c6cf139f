// Finds the file of a program before anything is started, so that a mistyped name causes one message and not
// one from each rank.
// Tested by: tests/launch/test_start.py.
#pragma once

#include <string>

namespace lanyard::launch {

struct ProgramFile {
    std::string path;     // the file to execute; a relative path is relative to the ranks' folder
    bool script = false;  // the file is text without a #! line; /bin/sh runs it, as with execvp
    int exit_code = 0;    // if not 0, the program cannot be started, and `trouble` states why
    std::string trouble;
    std::string remedy;   // what the user can do about the trouble, or ""
};

// `search_path` is the PATH of the ranks, or nullptr if it is not set. `folder` is the folder in which the
// ranks start, or "" for the current folder.
ProgramFile find_program(const std::string &name, const char *search_path, const std::string &folder);

// True if the file begins with a "#!" line that ends with CRLF, as lines of files from Windows do. The name
// of the interpreter then seems to end with CR, so the interpreter is not found.
bool begins_with_crlf_line(const std::string &path, const std::string &folder);

}  // namespace lanyard::launch
