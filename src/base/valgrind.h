// Whether the process runs under Valgrind. Memcheck treats what another process writes into this one's memory
// as uninitialised, so other processes do not write there under it.
#pragma once

#include <cstdlib>
#include <cstring>

namespace lanyard {

// The libraries that Valgrind preloads reveal it.
inline bool under_valgrind() {
    static const bool is = [] {
        const char *preloaded = std::getenv("LD_PRELOAD");
        return preloaded && std::strstr(preloaded, "/vgpreload_");
    }();
    return is;
}

}  // namespace lanyard
