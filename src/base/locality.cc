// See locality.h.
#include "base/locality.h"

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/processors.h"

namespace lanyard {

namespace {

// The first number in a file that contains a number or a list of processors such as "0-3,8"; -1 if the file
// does not begin with a number or cannot be read.
int first_number(const std::string &path) {
    int number = -1;
    if (FILE *file = std::fopen(path.c_str(), "r")) {
        if (std::fscanf(file, "%d", &number) != 1) number = -1;
        std::fclose(file);
    }
    return number;
}

// The number of a processor's memory node, or -1. The processor's folder has a link with a name such as
// "node3" to the node's folder.
int node_of(const std::string &processor) {
    int node = -1;
    if (DIR *folder = opendir(processor.c_str())) {
        while (const dirent *entry = readdir(folder))
            if (std::sscanf(entry->d_name, "node%d", &node) == 1) break;
        closedir(folder);
    }
    return node;
}

// Returns a number that identifies the processor's data or unified cache of this level: the number of the
// first processor that shares the cache. -1 if there is no such cache.
int cache_of(const std::string &processor, int level) {
    for (int index = 0;; ++index) {
        std::string folder = processor + "/cache/index" + std::to_string(index);
        int found = first_number(folder + "/level");
        if (found < 0) return -1;
        char type[16] = "";
        FILE *file = found == level ? std::fopen((folder + "/type").c_str(), "r") : nullptr;
        bool for_data = file && std::fscanf(file, "%15s", type) == 1 && std::strcmp(type, "Instruction") != 0;
        if (file) std::fclose(file);
        if (for_data) return first_number(folder + "/shared_cpu_list");
    }
}

int instance_of(Resource resource, const std::string &processor, int number) {
    switch (resource) {
        case Resource::package: {
            int newer = first_number(processor + "/topology/package_cpus_list");
            return newer >= 0 ? newer : first_number(processor + "/topology/core_siblings_list");
        }
        case Resource::numa_node: return node_of(processor);
        case Resource::die: return first_number(processor + "/topology/die_cpus_list");
        case Resource::l3_cache: return cache_of(processor, 3);
        case Resource::l2_cache: return cache_of(processor, 2);
        case Resource::l1_cache: return cache_of(processor, 1);
        case Resource::core: {
            int newer = first_number(processor + "/topology/core_cpus_list");
            return newer >= 0 ? newer : first_number(processor + "/topology/thread_siblings_list");
        }
        case Resource::processor: return number;
        case Resource::count_of_them: break;
    }
    return -1;
}

// The names of each resource. Programs see the first name.
constexpr const char *names[resources][3] = {
    {"Package", "socket", ""}, {"NUMANode", "numa", ""}, {"Die", "", ""},  {"L3Cache", "", ""},
    {"L2Cache", "", ""},       {"L1Cache", "", ""},      {"Core", "", ""}, {"PU", "hwthread", "processor"}};

bool same_word(std::string_view first, std::string_view second) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

Locality own_locality(const std::string &system) {
    Locality own;
    std::fill_n(own.instance, resources, Locality::unknown);
    std::vector<int> allowed = allowed_processors();
    for (int r = 0; r < resources; ++r) {
        int32_t &instance = own.instance[r];
        for (int number : allowed) {
            if (instance == Locality::not_within) break;
            int found =
                instance_of(static_cast<Resource>(r), system + "/cpu/cpu" + std::to_string(number), number);
            if (found < 0) {
                instance = Locality::unknown;
                break;
            }
            instance = instance == Locality::unknown || instance == found ? found : Locality::not_within;
        }
    }
    return own;
}

const char *name_of(Resource resource) {
    static constexpr const char *full[resources] = {"hwloc://Package", "hwloc://NUMANode", "hwloc://Die",
                                                    "hwloc://L3Cache", "hwloc://L2Cache",  "hwloc://L1Cache",
                                                    "hwloc://Core",    "hwloc://PU"};
    return full[static_cast<int>(resource)];
}

Resource resource_called(std::string_view name) {
    constexpr std::string_view scheme = "hwloc://";
    if (same_word(name.substr(0, scheme.size()), scheme)) name.remove_prefix(scheme.size());
    for (int r = 0; r < resources; ++r)
        for (const char *one : names[r])
            if (*one && same_word(name, one)) return static_cast<Resource>(r);
    return Resource::count_of_them;
}

}  // namespace lanyard
