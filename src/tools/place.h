// Where this installation lies, or the build folder, which has the same form. It is found from the running
// program, so that a folder that was moved still works.
#pragma once

#include <string>

namespace lanyard::tools {

struct Place {
    std::string prefix;  // the folder that contains bin, lib, include and libexec

    std::string program(const std::string &name) const { return prefix + "/bin/" + name; }
    std::string library(const std::string &name) const { return prefix + "/lib/" + name; }
    std::string helper(const std::string &name) const { return prefix + "/libexec/lanyard/" + name; }
};

// The folder above the one of /proc/self/exe.
Place find_place();

// The first executable file called `name` in the folders of a PATH-like list, or "".
std::string find_on_path(const std::string &name, const std::string &folders);

// True if two names lead to the same file.
bool same_file(const std::string &one, const std::string &other);

}  // namespace lanyard::tools
