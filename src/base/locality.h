// To which parts of its host the calling thread's processors belong: packages, memory, caches, cores, as the kernel tells in
// /sys/devices/system. Read anew at each call, as programs bind themselves when they like. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

// From the largest to the smallest.
enum class Resource { package, numa_node, die, l3_cache, l2_cache, l1_cache, core, processor, count_of_them };
constexpr int resources = static_cast<int>(Resource::count_of_them);

struct Locality {
    static constexpr int32_t unknown = -2;     // the kernel does not tell
    static constexpr int32_t not_within = -1;  // no single instance has all the processors
    int32_t instance[resources];               // otherwise: its number on this host

    bool within_one(Resource resource) const { return instance[static_cast<int>(resource)] >= 0; }
};

Locality own_locality(const std::string &system = "/sys/devices/system");

// As programs name it: "hwloc://Package".
const char *name_of(Resource resource);
// By that name, with or without "hwloc://", in whatever case, and by other names in use ("socket"); count_of_them: not known.
Resource resource_called(std::string_view name);

}  // namespace lanyard
