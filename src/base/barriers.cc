#include "base/barriers.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

namespace lanyard {

bool register_for_barriers() {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

// All have agreed on it when the job began, and nothing else can take its place later.
void barrier_everywhere() {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0) return;
    log(LogLevel::warn, "engine",
        "the system call membarrier is refused now (%s), though it was not in MPI_Init; a filter of system calls that "
        "is set later must allow it; this process ends", system_text(errno).c_str());
    _exit(1);
}

}  // namespace lanyard
