// Chooses the processors on which ranks may run. See binding.h.
//
// The default mode (auto) never binds a rank to one processor. The kernel spreads a job well within one
// memory domain. If the launchers of two jobs bound ranks to the same processors, these would be
// oversubscribed while other processors are idle. But the kernel does not see that a rank should stay near
// the memory that it has touched first. Therefore the mode auto keeps each rank within one memory domain, if
// there are several domains, at least as many ranks as domains, and not more ranks than processors.
#include "launch/binding.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>

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

}  // namespace

std::vector<std::optional<cpu_set_t>> bind_ranks(Binding binding, int ranks, std::string &note) {
    std::vector<std::optional<cpu_set_t>> bound(static_cast<size_t>(ranks));
    std::string trouble;
    if (binding == Binding::none || (binding == Binding::automatic && !several_memory_domains()))
        return bound;
    if (binding == Binding::automatic) {
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
