// See processors.h.
#include "base/processors.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lanyard {

namespace {

// The largest mask that is tried, in units of cpu_set_t (1024 processors).
constexpr size_t most_sets = 1024;

std::string first_line(const std::string &path) {
    char line[256] = "";
    if (FILE *file = std::fopen(path.c_str(), "r")) {
        if (!std::fgets(line, sizeof line, file)) line[0] = 0;
        std::fclose(file);
    }
    return {line, std::strcspn(line, "\n")};
}

// The quota in a text of two numbers, "QUOTA PERIOD", in processors: "150000 100000" grants 1.5. Returns 0
// for a text without a quota, such as "max 100000" (version 2) or "-1 100000" (version 1).
double quota_in(const std::string &text) {
    long long quota = 0, period = 0;
    bool limited = std::sscanf(text.c_str(), "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0;
    return limited ? static_cast<double>(quota) / static_cast<double>(period) : 0;
}

// Where control groups with these controllers are mounted. Version 2 names no controllers, and has a mount
// point of its own if version 1 is mounted, too. A mount point of version 1 has the names of its controllers,
// and usually a link with the name of each.
std::string mount_of(const std::string &mounts, const std::string &controllers) {
    std::string usual = mounts + (controllers.empty() ? "/unified" : "/cpu");
    if (access(usual.c_str(), F_OK) == 0) return usual;
    return controllers.empty() ? mounts : mounts + "/" + controllers;
}

// The quota of the group with this folder: from one file in version 2, from two files in version 1.
double quota_of(const std::string &folder) {
    std::string text = first_line(folder + "/cpu.max");
    if (text.empty())
        text = first_line(folder + "/cpu.cfs_quota_us") + " " + first_line(folder + "/cpu.cfs_period_us");
    return quota_in(text);
}

}  // namespace

// The kernel refuses a mask that has fewer bits than the kernel supports processors.
std::vector<int> allowed_processors() {
    std::vector<cpu_set_t> mask;
    int refusal = EINVAL;
    for (size_t sets = 1; refusal == EINVAL && sets <= most_sets; sets *= 2) {
        mask.resize(sets);
        refusal = sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0 ? 0 : errno;
    }
    std::vector<int> numbers;
    size_t bytes = refusal ? 0 : mask.size() * sizeof(cpu_set_t);
    for (size_t number = 0; number < bytes * 8; ++number)
        if (CPU_ISSET_S(number, bytes, mask.data())) numbers.push_back(static_cast<int>(number));
    return numbers;
}

// In a container with version 1, the path of its group may be the path outside the container, which does not
// exist inside. The container's group is then at the mount point.
double processor_quota(const std::string &mounts, const std::string &groups) {
    double least = 0;
    FILE *file = std::fopen(groups.c_str(), "r");
    char line[4096];
    while (file && std::fgets(line, sizeof line, file)) {  // "NUMBER:CONTROLLERS:PATH"
        std::string text(line, std::strcspn(line, "\n"));
        size_t first = text.find(':'), second = text.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        std::string controllers = text.substr(first + 1, second - first - 1);
        bool of_processors =
            controllers.empty() || ("," + controllers + ",").find(",cpu,") != std::string::npos;
        if (!of_processors) continue;
        std::string mount = mount_of(mounts, controllers);
        for (std::string group = text.substr(second + 1);; group.resize(group.rfind('/'))) {
            double quota = quota_of(mount + group);
            if (quota > 0 && (least == 0 || quota < least)) least = quota;
            if (group.find('/') == std::string::npos) break;
        }
    }
    if (file) std::fclose(file);
    return least;
}

int granted_processors() {
    auto processors = static_cast<double>(allowed_processors().size());
    double quota = processor_quota();
    if (quota > 0) processors = std::min(processors, quota);
    return std::max(static_cast<int>(processors), 1);
}

}  // namespace lanyard
