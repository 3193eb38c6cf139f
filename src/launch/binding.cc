// Chooses the processors on which ranks may run. See binding.h.
//
// The default mode (auto) must not lead two jobs to the same processors while others are idle.
// - If a host has as many ranks as processors, or fewer, auto binds no rank to one processor. The kernel
//   spreads a job well within one memory domain. But it does not see that a rank should stay near the memory
//   that it has touched first. Therefore auto keeps each rank within one memory domain, if there are several
//   domains, and at least as many ranks as domains.
// - If there are several ranks for each processor, and equally many, auto binds each rank to one processor.
//   Left alone, the kernel wakes a sleeping rank on the processor of the rank that woke it. For milliseconds,
//   most ranks then share one processor while another is idle. Every job that is bound in this way uses all
//   processors alike, so two of them are not in each other's way. If the ranks cannot be divided evenly, the
//   kernel does better: it lets them take turns on the processors.
#include "launch/binding.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>

#include "base/processors.h"
#include "launch/binding_module.h"
#include "launch/environment.h"

namespace lanyard::launch {

namespace {

using Sets = std::vector<cpu_set_t>;

bool several_memory_domains() {
    std::ifstream file("/sys/devices/system/node/online");
    std::string online;  // "0", "0-1", "0,2"
    return file >> online && online.find_first_of(",-") != std::string::npos;
}

// Lists the sets of processors of this machine, by the module that uses hwloc. The module is not unloaded,
// because that would gain nothing.
Sets processor_sets(LanyardDomain domain, std::string &trouble) {
    std::string path = prefix_folder() + "/lib/lanyard/binding.so";
    void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *function = module ? dlsym(module, "lanyard_processor_sets") : nullptr;
    if (!function) {
        trouble = fmt::format("hwloc, which knows the processors, cannot be used ({})", dlerror());
        return {};
    }
    Sets sets(CPU_SETSIZE);
    int count = reinterpret_cast<LanyardProcessorSets *>(function)(domain, sets.data(), CPU_SETSIZE);
    if (count < 1) trouble = "hwloc cannot tell the processors of this machine";
    sets.resize(static_cast<size_t>(std::max(count, 0)));
    return sets;
}

// Distributes the ranks over the domains. Each domain gets consecutive ranks, in proportion to the number of
// its processors.
std::vector<std::optional<cpu_set_t>> spread(const Sets &domains, int ranks) {
    long processors = 0;
    for (const cpu_set_t &domain : domains) processors += CPU_COUNT(&domain);
    std::vector<std::optional<cpu_set_t>> bound(static_cast<size_t>(ranks));
    if (ranks > processors || ranks < static_cast<int>(domains.size())) return bound;
    for (int rank = 0; rank < ranks; ++rank) {
        long place = (2L * rank + 1) * processors / (2L * ranks);
        size_t domain = 0;
        for (; place >= CPU_COUNT(&domains[domain]); ++domain) place -= CPU_COUNT(&domains[domain]);
        bound[static_cast<size_t>(rank)] = domains[domain];
    }
    return bound;
}

// Whether each processor can have equally many ranks, more than one. A quota does not say which processors a
// job may use, and a cpu_set_t does not name all processors of a very large machine.
bool can_share_evenly(const std::vector<int> &processors, int ranks) {
    auto count = static_cast<int>(processors.size());
    return count > 0 && ranks > count && ranks % count == 0 && granted_processors() == count &&
           processors.back() < CPU_SETSIZE;
}

// Gives ranks that follow each other different processors.
std::vector<std::optional<cpu_set_t>> share_evenly(const std::vector<int> &processors, int ranks) {
    std::vector<std::optional<cpu_set_t>> bound(static_cast<size_t>(ranks));
    for (size_t rank = 0; rank < bound.size(); ++rank) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<size_t>(processors[rank % processors.size()]), &set);
        bound[rank] = set;
    }
    return bound;
}

}  // namespace

std::vector<std::optional<cpu_set_t>> bind_ranks(Binding binding, int ranks, std::string &note) {
    std::vector<std::optional<cpu_set_t>> bound(static_cast<size_t>(ranks));
    std::string trouble;
    if (binding == Binding::none) return bound;
    if (binding == Binding::automatic) {
        std::vector<int> processors = allowed_processors();
        if (can_share_evenly(processors, ranks)) return share_evenly(processors, ranks);
        if (!several_memory_domains()) return bound;
        Sets domains = processor_sets(lanyard_memory_domains, trouble);
        return domains.size() > 1 ? spread(domains, ranks) : bound;
    }
    Sets cores = processor_sets(lanyard_cores, trouble);
    if (trouble.empty() && static_cast<size_t>(ranks) > cores.size())
        trouble = fmt::format("{} ranks are more than the {} processor cores this job may use", ranks,
                              cores.size());
    if (!trouble.empty()) {
        note = fmt::format("--bind-to core cannot be done: {}; the ranks run unbound", trouble);
        return bound;
    }
    for (int rank = 0; rank < ranks; ++rank)
        bound[static_cast<size_t>(rank)] = cores[static_cast<size_t>(rank)];
    return bound;
}

}  // namespace lanyard::launch
