// The one function of the module lib/lanyard/binding.so, which is the only part of Lanyard that needs
// hwloc. mpirun loads it only if ranks are to be bound. mpirun itself therefore starts fast and runs without
// hwloc.
#pragma once

#include <sched.h>

enum LanyardDomain { lanyard_cores = 0, lanyard_memory_domains = 1 };

// Fills up to `capacity` sets with the processors of each core (or memory domain) that this process may use,
// in the machine's order. Returns the number of sets, or -1 if hwloc cannot provide them.
extern "C" int lanyard_processor_sets(LanyardDomain domain, cpu_set_t *sets, int capacity);
using LanyardProcessorSets = decltype(lanyard_processor_sets);
