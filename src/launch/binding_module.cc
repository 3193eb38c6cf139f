// Lists cores and memory domains as hwloc reports them. See binding_module.h.
#include "launch/binding_module.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

extern "C" __attribute__((visibility("default"))) int lanyard_processor_sets(LanyardDomain domain,
                                                                             cpu_set_t *sets, int capacity) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) return -1;
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    // hwloc asks the kernel, which may support more processors than a cpu_set_t has.
    bool known = bound && hwloc_topology_load(topology) == 0 &&
                 hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) == 0;
    cpu_set_t allowed;
    if (known) hwloc_cpuset_to_glibc_sched_affinity(topology, bound, &allowed, sizeof allowed);
    hwloc_bitmap_free(bound);
    if (!known) {
        hwloc_topology_destroy(topology);
        return -1;
    }
    hwloc_obj_type_t type = domain == lanyard_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_NUMANODE;
    // On some machines hwloc finds no objects of this type. Then each processor is a set of its own.
    if (hwloc_get_nbobjs_by_type(topology, type) < 1) type = HWLOC_OBJ_PU;
    int found = 0;
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology, type) && found < capacity; ++i) {
        cpu_set_t set;
        hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
        hwloc_cpuset_to_glibc_sched_affinity(topology, object->cpuset, &set, sizeof set);
        CPU_AND(&set, &set, &allowed);
        if (CPU_COUNT(&set) > 0) sets[found++] = set;
    }
    hwloc_topology_destroy(topology);
    return found;
}
