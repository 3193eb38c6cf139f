// Finds out which processors this process may use: those of the calling thread's affinity mask, and how many
// of them at a time by the quota of its control groups (containers). The kernel is asked anew at each call.
// Any thread.
// Tested by: tests/unit/base/processors_test.cc.
#pragma once

#include <string>
#include <vector>

namespace lanyard {

// The numbers of the processors on which the calling thread may run, in ascending order, also on kernels that
// support more processors than a cpu_set_t has. Empty if the system does not report them.
std::vector<int> allowed_processors();

// The smallest quota that the control group of this process or a group above it has, in processors; 0 if
// there is none. For versions 1 and 2 of control groups. `mounts` is the folder in which they are mounted,
// and `groups` the file that names the groups of this process.
double processor_quota(const std::string &mounts = "/sys/fs/cgroup",
                       const std::string &groups = "/proc/self/cgroup");

// The number of allowed processors, limited by the quota. At least 1. A quota of 1.5 processors counts as 1.
// If the system does not report the allowed processors, the result is 1.
int granted_processors();

}  // namespace lanyard
