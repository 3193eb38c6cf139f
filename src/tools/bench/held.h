// What a process holds at the moment, so that a benchmark can tell how much more it is afterwards. glibc on Linux only, as it asks mallinfo2 and
// reads /proc/self. The memory of sockets themselves is the kernel's and not counted. Any thread.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <malloc.h>

namespace lanyard::bench {

struct Held {
    double allocated_bytes = 0;  // by the counters of the allocator
    double private_bytes = 0;    // of pages that were written to and are no other process's
    double descriptors = 0;
};

inline Held held_now() {
    Held held;
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (word != "Private_Dirty:") continue;  // clean ones are of programs' files, and others' as soon as another rank starts
        double kib = 0;
        file >> kib;
        held.private_bytes = kib * 1024;
    }
    auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    held.descriptors = static_cast<double>(std::distance(begin(entries), end(entries)));
    struct mallinfo2 info = mallinfo2();
    held.allocated_bytes = static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
    return held;
}

inline Held operator-(const Held& after, const Held& before) {
    return {after.allocated_bytes - before.allocated_bytes, after.private_bytes - before.private_bytes, after.descriptors - before.descriptors};
}

}  // namespace lanyard::bench
