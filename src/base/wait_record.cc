// See wait_record.h.
#include "base/wait_record.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>

#include "base/clock.h"

namespace lanyard {

namespace {

std::string rank_and_tag(const char *before, int32_t peer, int32_t tag) {
    std::string text = before + (peer == -1 ? std::string("any rank") : "rank " + std::to_string(peer));
    if (tag == -2) text += ", any tag";
    if (tag >= 0) text += ", tag " + std::to_string(tag);
    return text;
}

std::string describe(const WaitPart &part) {
    if (part.kind == WaitPart::send) return rank_and_tag("a send to ", part.peer, part.tag);
    if (part.kind == WaitPart::receive) return rank_and_tag("a receive from ", part.peer, part.tag);
    std::string name(part.operation, strnlen(part.operation, sizeof part.operation));
    if (name.empty()) return "an operation";
    return part.tag ? name + " number " + std::to_string(part.tag) : name;
}

// What the rank waits for, as a part of a sentence: " for a receive from any rank", " for 5 requests: a send
// to rank 1, tag 2; ...; and 2 more", " with rank 3, tag 4", " with root 0", or "".
std::string awaited(const WaitRecord &record) {
    uint32_t requests = record.parts.requests;
    if (requests == 0) {
        if (record.peer < -1) return "";
        return record.sequence ? " with root " + std::to_string(record.peer)
                               : rank_and_tag(" with ", record.peer, record.tag);
    }
    std::string text = requests == 1 ? " for " : " for " + std::to_string(requests) + " requests: ";
    for (uint32_t i = 0; i < requests && i < most_wait_parts; ++i)
        text += (i ? "; " : "") + describe(record.parts.part[i]);
    if (requests > most_wait_parts) text += "; and " + std::to_string(requests - most_wait_parts) + " more";
    return text;
}

std::string describe(const WaitRecord &record) {
    char text[600];
    int rank = record.world_rank;
    if (record.state == 0) return "";
    if (record.state == 2) {
        std::snprintf(text, sizeof text, "rank %d: has finalised MPI", rank);
    } else if (!record.waiting.load(std::memory_order_acquire)) {
        std::snprintf(text, sizeof text,
                      "rank %d: is not waiting in MPI (computing, or testing); %" PRIu64
                      " messages sent, %" PRIu64 " received",
                      rank, record.sent.load(), record.matched.load());
    } else {
        char name[64] = "", number[64] = "";
        if (record.communicator[0]) std::snprintf(name, sizeof name, " on %.31s", record.communicator);
        if (record.sequence)
            std::snprintf(number, sizeof number, ", number %" PRIu64 " of this communicator",
                          record.sequence);
        // `since` may be later than `now` if the rank begins a new wait meanwhile, which has then lasted 0 s.
        uint64_t since = record.since_ns, now = clock_ns();
        double seconds = since && since < now ? static_cast<double>(now - since) * 1e-9 : 0;
        std::snprintf(text, sizeof text,
                      "rank %d: waits in %.31s%s%s%s, for %.1f s; %" PRIu64 " messages sent, %" PRIu64
                      " received",
                      rank, record.call, awaited(record).c_str(), name, number, seconds, record.sent.load(),
                      record.matched.load());
    }
    return text;
}

}  // namespace

std::vector<std::string> describe_waits(int descriptor) {
    std::vector<std::string> lines;
    struct stat about;
    if (fstat(descriptor, &about) != 0 || static_cast<size_t>(about.st_size) < sizeof(SegmentLabel))
        return lines;
    auto size = static_cast<size_t>(about.st_size);
    void *base = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return lines;
    const auto *label = static_cast<const SegmentLabel *>(base);
    if (label->magic == segment_magic && label->record_bytes == sizeof(WaitRecord)) {
        for (size_t i = 0, members = members_of(*label).load(std::memory_order_acquire); i < members; ++i) {
            uint64_t offset = label->first_record + i * label->record_stride;
            if (size < sizeof(WaitRecord) || offset > size - sizeof(WaitRecord)) break;
            lines.push_back(
                describe(*reinterpret_cast<const WaitRecord *>(static_cast<const char *>(base) + offset)));
        }
    }
    munmap(base, size);
    return lines;
}

}  // namespace lanyard
