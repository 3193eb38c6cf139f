// Finds out whether this process runs under Valgrind. Valgrind's Memcheck treats data that another process
// writes into this process's memory as uninitialised. So under Valgrind other processes do not write into the
// memory of this process. Nor does it map the places of processes that may join the job (path/shm/segment.h).
// Tested by: tests/command/test_sanitizers.py.
#pragma once

#include <cstdlib>
#include <cstring>

namespace lanyard {

// Valgrind is recognised by the libraries that it preloads.
inline bool under_valgrind() {
    static const bool is = [] {
        const char *preloaded = std::getenv("LD_PRELOAD");
        return preloaded && std::strstr(preloaded, "/vgpreload_");
    }();
    return is;
}

}  // namespace lanyard
