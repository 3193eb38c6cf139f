// Reads the counts of out-of-memory kills from the control groups. See memory_kills.h.
#include "launch/memory_kills.h"

#include <fstream>
#include <string>

namespace lanyard::launch {

namespace {

// The number after "oom_kill" in a file of lines "NAME NUMBER"; -1 if there is no such file or line.
long count_in(const std::string &path) {
    std::ifstream file(path);
    std::string name;
    long number = 0;
    while (file >> name >> number)
        if (name == "oom_kill") return number;
    return -1;
}

// The count of a control group, from the group's own file, or else from the file at the root of the mount. In
// a container, `group` may be the path outside the container, which does not exist inside.
long count_of_group(const std::string &mount, const std::string &group, const char *file) {
    long count = count_in(mount + group + "/" + file);
    return count >= 0 ? count : count_in(mount + "/" + file);
}

}  // namespace

long memory_kills() {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    long sum = 0;
    while (std::getline(groups, line)) {  // "number:controllers:path"
        size_t first = line.find(':');
        size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        std::string controllers = line.substr(first + 1, second - first - 1);
        std::string group = line.substr(second + 1);
        long count = -1;
        bool version_1 = ("," + controllers + ",").find(",memory,") != std::string::npos;
        if (controllers.empty()) count = count_of_group("/sys/fs/cgroup", group, "memory.events");
        else if (version_1) count = count_of_group("/sys/fs/cgroup/memory", group, "memory.oom_control");
        if (count > 0) sum += count;
    }
    return sum;
}

}  // namespace lanyard::launch
