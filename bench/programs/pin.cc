// See pin.h.
#include "bench/programs/pin.h"

#include <sched.h>

namespace lanyard::bench {

int pin_to_processor(int index) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
    int wanted = index % CPU_COUNT(&allowed);
    int processor = 0;
    for (int seen = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &allowed) && seen++ == wanted) break;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? processor : -1;
}

}  // namespace lanyard::bench
