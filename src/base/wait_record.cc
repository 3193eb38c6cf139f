#include "base/wait_record.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>

#include "base/clock.h"

namespace lanyard {

namespace {

std::string describe(const WaitRecord &record, size_t member) {
    char line[400];
    int rank = record.state ? record.world_rank : static_cast<int>(member);
    if (record.state == 0) {
        std::snprintf(line, sizeof line, "rank %d: has not called MPI_Init", rank);
    } else if (record.state == 2) {
        std::snprintf(line, sizeof line, "rank %d: has finalised MPI", rank);
    } else if (!record.waiting.load(std::memory_order_acquire)) {
        std::snprintf(line, sizeof line,
                      "rank %d: is not waiting in MPI (computing, or testing); %" PRIu64 " messages sent, %" PRIu64 " received", rank,
                      record.sent.load(), record.matched.load());
    } else {
        char peer[48] = "", tag[32] = "", name[64] = "", number[64] = "";
        if (record.peer == -1) std::snprintf(peer, sizeof peer, " with any rank");
        else if (record.peer >= 0) std::snprintf(peer, sizeof peer, " with rank %d", record.peer);
        if (record.peer >= -1 && record.tag >= 0) std::snprintf(tag, sizeof tag, ", tag %d", record.tag);
        else if (record.peer >= -1 && record.tag == -2) std::snprintf(tag, sizeof tag, ", any tag");
        if (record.communicator[0]) std::snprintf(name, sizeof name, " on %.31s", record.communicator);
        if (record.peer < -1 && record.sequence) std::snprintf(number, sizeof number, ", number %" PRIu64 " of this communicator", record.sequence);
        uint64_t since = record.since_ns, now = clock_ns();  // a wait that begins meanwhile is no long one
        double seconds = since && since < now ? static_cast<double>(now - since) * 1e-9 : 0;
        std::snprintf(line, sizeof line,
                      "rank %d: waits in %.31s%s%s%s%s, for %.1f s; %" PRIu64 " messages sent, %" PRIu64 " received", rank, record.call,
                      peer, tag, name, number, seconds, record.sent.load(), record.matched.load());
    }
    return line;
}

}  // namespace

std::vector<std::string> describe_waits(int descriptor) {
    std::vector<std::string> lines;
    struct stat about;
    if (fstat(descriptor, &about) != 0 || static_cast<size_t>(about.st_size) < sizeof(SegmentLabel)) return lines;
    auto size = static_cast<size_t>(about.st_size);
    void *base = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return lines;
    const auto *label = static_cast<const SegmentLabel *>(base);
    if (label->magic == segment_magic && label->record_bytes == sizeof(WaitRecord)) {
        for (size_t i = 0; i < label->members; ++i) {
            uint64_t offset = label->first_record + i * label->record_stride;
            if (size < sizeof(WaitRecord) || offset > size - sizeof(WaitRecord)) break;
            lines.push_back(describe(*reinterpret_cast<const WaitRecord *>(static_cast<const char *>(base) + offset), i));
        }
    }
    munmap(base, size);
    return lines;
}

}  // namespace lanyard
