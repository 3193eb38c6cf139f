// See place.h.
#include "tools/place.h"

#include <unistd.h>

#include <filesystem>
#include <sstream>

namespace lanyard::tools {

namespace files = std::filesystem;

Installation find_installation() {
    std::error_code ignored;
    files::path program = files::read_symlink("/proc/self/exe", ignored);
    return {program.parent_path().parent_path().string()};
}

std::string find_on_path(const std::string &name, const std::string &folders) {
    std::istringstream list(folders);
    for (std::string folder; std::getline(list, folder, ':');) {
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        std::error_code ignored;
        if (files::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return "";
}

bool same_file(const std::string &one, const std::string &other) {
    std::error_code ignored;
    return files::equivalent(one, other, ignored);
}

}  // namespace lanyard::tools
