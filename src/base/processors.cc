// See processors.h.
#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace lanyard {

namespace {

// The quota of a group of cgroup v2, in processors. The file cpu.max contains "max 100000" (no quota) or, for
// example, "50000 100000".
double quota_of(const std::string &folder) {
    double processors = 1e9;
    if (FILE *file = std::fopen((folder + "/cpu.max").c_str(), "r")) {
        long long quota = 0, period = 0;
        if (std::fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
            processors = static_cast<double>(quota) / static_cast<double>(period);
        std::fclose(file);
    }
    return processors;
}

// The quota of cgroup v1, in processors, from two files. Only the topmost group that is visible is read; in a
// container this is the container's group. The number -1 means that there is no quota.
double old_quota() {
    long long quota = -1, period = 0;
    if (FILE *file = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r")) {
        if (std::fscanf(file, "%lld", &quota) != 1) quota = -1;
        std::fclose(file);
    }
    if (FILE *file = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r")) {
        if (std::fscanf(file, "%lld", &period) != 1) period = 0;
        std::fclose(file);
    }
    return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : 1e9;
}

std::string own_group() {
    std::string group;
    if (FILE *file = std::fopen("/proc/self/cgroup", "r")) {
        char line[4096];
        while (std::fgets(line, sizeof line, file))
            if (std::strncmp(line, "0::", 3) == 0)
                group = std::string(line + 3, std::strcspn(line + 3, "\n"));
        std::fclose(file);
    }
    return group;
}

}  // namespace

int granted_processors() {
    cpu_set_t allowed;
    int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    double quota = std::min(quota_of("/sys/fs/cgroup"), old_quota());
    for (std::string group = own_group(); group.size() > 1; group.resize(group.rfind('/')))
        quota = std::min(quota, quota_of("/sys/fs/cgroup" + group));
    if (quota < processors) processors = static_cast<int>(quota);
    return std::max(processors, 1);
}

}  // namespace lanyard
