#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace lanyard {

namespace {

thread_local int lack_allowed = 0;

void on_lack() {
    if (lack_allowed > 0) throw std::bad_alloc();  // ends in `new (std::nothrow)`, which called this
    out_of_memory("its own records", 0);
}

}  // namespace

void out_of_memory(const char *what, size_t bytes) {
    int error_number = errno;
    rlimit addresses{};
    char limit[64] = "", lacking[64] = "memory";
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
        std::snprintf(limit, sizeof limit, "; it may have %llu KiB of addresses (ulimit -v)",
                      static_cast<unsigned long long>(addresses.rlim_cur / 1024));
    if (bytes) std::snprintf(lacking, sizeof lacking, "%zu KiB", (bytes + 1023) / 1024);
    std::fprintf(stderr, "lanyard: process %d ends: %s for %s cannot be had: %s%s\n", static_cast<int>(getpid()), lacking, what,
                 strerror(error_number ? error_number : ENOMEM), limit);
    std::fflush(nullptr);
    _exit(1);
}

LackAllowed::LackAllowed() { ++lack_allowed; }
LackAllowed::~LackAllowed() { --lack_allowed; }

void end_when_out_of_memory() { std::set_new_handler(on_lack); }

}  // namespace lanyard
