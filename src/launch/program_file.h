// Finds the file of a program before anything is started, so that a slip of the pen is one sentence and not N.
#pragma once

#include <string>

namespace lanyard::launch {

struct ProgramFile {
    std::string path;     // to execute; relative ones are relative to the ranks' folder
    bool script = false;  // has no #! line and is text: run by /bin/sh, as the C library's execvp does
    int exit_code = 0;    // not 0: cannot be started, and why
    std::string trouble;
    std::string remedy;   // what the user can do about it, or ""
};

// `search_path` is the ranks' PATH (nullptr if not set) and `folder` the folder they start in ("" for this one).
ProgramFile find_program(const std::string &name, const char *search_path, const std::string &folder);

// Does its first line end as lines of files from Windows do? Then its interpreter is not found, whose name seems to end so.
bool begins_with_crlf_line(const std::string &path, const std::string &folder);

}  // namespace lanyard::launch
