// Memcheck takes what another process writes into this one's memory for uninitialised, so others are not let write there under it.
#pragma once

#include <cstdlib>
#include <cstring>

namespace lanyard {

// Valgrind shows itself by the libraries it preloads.
inline bool under_valgrind() {
    static const bool is = [] {
        const char *preloaded = std::getenv("LD_PRELOAD");
        return preloaded && std::strstr(preloaded, "/vgpreload_");
    }();
    return is;
}

}  // namespace lanyard
