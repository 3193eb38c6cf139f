// Reads the memory and descriptors that a process holds at the moment, so that a benchmark can measure
// growth. Works only with glibc on Linux, because it uses mallinfo2 and /proc/self. The memory of the sockets
// themselves belongs to the kernel, which reports it only for the whole machine and only to root. Any thread.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <malloc.h>
#include <unistd.h>

namespace lanyard::bench {

struct Held {
    double allocated_bytes = 0;  // by the counters of the allocator
    double private_bytes = 0;    // of pages that only this process has and has written to
    double descriptors = 0;
};

inline Held held_now() {
    Held held;
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        // Clean private pages are not counted. They belong to program files, and become shared as soon as
        // another rank starts.
        if (word != "Private_Dirty:") continue;
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

// Returns the kernel's memory for all sockets of the machine: for the sockets themselves, and for their
// buffers, including memory that is held ready. Empty if the kernel does not report it. The kernel reports it
// only to root.
inline std::optional<double> held_for_sockets() {
    double bytes = 0;
    std::ifstream slabs("/proc/slabinfo");
    if (!slabs) return {};
    for (std::string line, name; std::getline(slabs, line);) {
        double active = 0, all = 0, object_bytes = 0;
        if (!(std::istringstream(line) >> name >> active >> all >> object_bytes)) continue;
        for (const char* one : {"TCP", "TCPv6", "UDP", "UDPv6", "sock_inode_cache", "filp", "eventpoll_epi"})
            if (name == one) bytes += active * object_bytes;
    }
    std::ifstream sockets("/proc/net/sockstat");
    for (std::string word; sockets >> word;) {
        double pages = 0;
        if (word == "mem" && sockets >> pages) bytes += pages * static_cast<double>(sysconf(_SC_PAGESIZE));
    }
    return bytes;
}

inline Held operator-(const Held& after, const Held& before) {
    return {after.allocated_bytes - before.allocated_bytes, after.private_bytes - before.private_bytes,
            after.descriptors - before.descriptors};
}

}  // namespace lanyard::bench
