// Finds this installation, or the build folder, which has the same form. It is found from the path of the
// running program, so an installation still works after it was moved.
// Tested by: tests/command/test_install.py.
#pragma once

#include <string>

namespace lanyard::tools {

struct Installation {
    std::string prefix;  // the folder that contains bin, lib, include and libexec

    std::string program(const std::string &name) const { return prefix + "/bin/" + name; }
    std::string library(const std::string &name) const { return prefix + "/lib/" + name; }
    std::string helper(const std::string &name) const { return prefix + "/libexec/lanyard/" + name; }
};

// Finds the installation: its prefix is the parent of the folder that contains the running program
// (/proc/self/exe).
Installation find_installation();

// The first executable file called `name` in a list of folders in the form of PATH; "" if there is none.
std::string find_on_path(const std::string &name, const std::string &folders);

// True if two paths lead to the same file.
bool same_file(const std::string &one, const std::string &other);

}  // namespace lanyard::tools
