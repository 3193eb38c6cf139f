// Where this installation (or build folder, which has the same form) lies, found from the running program, so that a
// folder that was moved still works.
#pragma once

#include <string>

namespace lanyard::tools {

struct Place {
    std::string prefix;  // the folder that holds bin, lib, include and libexec

    std::string program(const std::string &name) const { return prefix + "/bin/" + name; }
    std::string library(const std::string &name) const { return prefix + "/lib/" + name; }
    std::string helper(const std::string &name) const { return prefix + "/libexec/lanyard/" + name; }
};

// The folder above the one of /proc/self/exe.
Place find_place();

// The first file called `name` that may be executed in the folders of a PATH-like list, or "".
std::string find_on_path(const std::string &name, const std::string &folders);

// Whether two names lead to the same file.
bool same_file(const std::string &one, const std::string &other);

}  // namespace lanyard::tools
