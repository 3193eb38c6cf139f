// The one function of the module lib/lanyard/binding.so, the only part of Lanyard that needs hwloc. mpirun loads it when
// ranks are to be bound, so that mpirun itself starts fast and runs where there is no hwloc.
#pragma once

#include <sched.h>

enum LanyardDomain { lanyard_cores = 0, lanyard_memory_domains = 1 };

// Fills up to `capacity` sets with the processors of each core (or memory domain) that this process may use, in the
// machine's order; returns how many there are, or -1 when hwloc cannot tell.
extern "C" int lanyard_processor_sets(LanyardDomain domain, cpu_set_t *sets, int capacity);
using LanyardProcessorSets = decltype(lanyard_processor_sets);
