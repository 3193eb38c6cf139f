// The parts of the host to which the calling thread's processors belong: packages, memory, caches and cores,
// as the kernel describes them in /sys/devices/system. Read anew at each call, because programs may bind
// themselves at any time. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

// From the largest to the smallest.
enum class Resource { package, numa_node, die, l3_cache, l2_cache, l1_cache, core, processor, count_of_them };
constexpr int resources = static_cast<int>(Resource::count_of_them);

struct Locality {
    static constexpr int32_t unknown = -2;     // the kernel does not report it
    static constexpr int32_t not_within = -1;  // no single instance contains all the processors
    int32_t instance[resources];               // otherwise: the instance's number on this host

    bool within_one(Resource resource) const { return instance[static_cast<int>(resource)] >= 0; }
};

Locality own_locality(const std::string &system = "/sys/devices/system");

// The name that programs see, as in "hwloc://Package".
const char *name_of(Resource resource);
// The resource with that name, with or without "hwloc://", in any case, or with another name in use
// ("socket"). count_of_them: unknown name.
Resource resource_called(std::string_view name);

}  // namespace lanyard
