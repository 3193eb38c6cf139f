// Declares the only function of the module lib/lanyard/binding.so. This module is the only part of Lanyard
// that needs hwloc. mpirun loads the module only if ranks may have to be bound. So mpirun starts fast, and
// runs without hwloc.
// Tested by: tests/launch/test_start.py.
#pragma once

#include <sched.h>

enum LanyardDomain { lanyard_cores = 0, lanyard_memory_domains = 1 };

// Fills one set for each core (or memory domain) of the machine, in the machine's order. A set contains those
// processors of the core that this process may use and that a cpu_set_t can name (the first 1024 of the
// machine). Sets without processors are left out. Returns the number of sets, at most `capacity`, or -1 if
// hwloc cannot provide them.
extern "C" int lanyard_processor_sets(LanyardDomain domain, cpu_set_t *sets, int capacity);
using LanyardProcessorSets = decltype(lanyard_processor_sets);
