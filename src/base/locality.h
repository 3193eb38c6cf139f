// Finds out which parts of the host (packages, memory, caches and cores) contain the processors on which the
// calling thread may run. The kernel describes these parts in /sys/devices/system. The description is read
// anew at each call, because programs may bind themselves at any time. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

// From the largest to the smallest.
enum class Resource { package, numa_node, die, l3_cache, l2_cache, l1_cache, core, processor, count_of_them };
constexpr int resources = static_cast<int>(Resource::count_of_them);

struct Locality {
    static constexpr int32_t unknown = -2;     // the kernel does not report the resource
    static constexpr int32_t not_within = -1;  // no single instance contains all the processors
    // By Resource: a number that identifies the instance on this host, or one of the two values above.
    int32_t instance[resources];

    bool within_one(Resource resource) const { return instance[static_cast<int>(resource)] >= 0; }
};

Locality own_locality(const std::string &system = "/sys/devices/system");

// The name of a resource that programs see, as in "hwloc://Package".
const char *name_of(Resource resource);
// The resource with this name; count_of_them if the name is unknown. "hwloc://" may be left out, and upper
// and lower case are the same. Other common names such as "socket" are known, too.
Resource resource_called(std::string_view name);

}  // namespace lanyard
