#include "base/barriers.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace lanyard {

bool register_for_barriers() { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0; }

void barrier_everywhere() { LANYARD_MUST(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0); }

}  // namespace lanyard
