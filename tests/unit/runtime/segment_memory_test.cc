// Allocates, leaves and releases areas of communicators at random, in a segment that two processes have
// mapped (here one process twice). Each area must be zeroed when it is new, keep what is written, and overlap
// no other. Memory must go back to the system.
#include "runtime/segment_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

class Node {
public:
    Node() {
        file_ = memfd_create("segment-memory-test", MFD_CLOEXEC);
        check(segments_[0].create(file_, 2));
        for (Segment &segment : segments_) check(segment.attach(dup(file_)));
    }
    ~Node() { close(file_); }
    SegmentMemory &of(int process) { return memory_[process]; }
    Segment &segment() { return segments_[0]; }
    size_t held_bytes() const {
        struct stat about {};
        fstat(file_, &about);
        return static_cast<size_t>(about.st_blocks) * 512;
    }
    // Returns how many bytes of the file the two processes have mapped.
    size_t mapped_bytes() const {
        struct stat about {};
        fstat(file_, &about);
        std::ifstream maps("/proc/self/maps");
        size_t mapped = 0;
        for (std::string line; std::getline(maps, line);) {
            unsigned long from = 0, to = 0, inode = 0;
            if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode) == 3 &&
                inode == about.st_ino)
                mapped += to - from;
        }
        return mapped;
    }

private:
    static void check(Error error) { LANYARD_MUST(!error); }

    int file_;
    Segment segments_[2];
    SegmentMemory memory_[2]{SegmentMemory(segments_[0]), SegmentMemory(segments_[1])};
};

struct Area {
    uint64_t offset;
    size_t bytes;
    int owner;
    std::byte *seen[2];
    std::byte filling;
};

bool all_are(const std::byte *memory, size_t bytes, std::byte value) {
    return std::all_of(memory, memory + bytes, [&](std::byte each) { return each == value; });
}

class Player {
public:
    explicit Player(uint64_t seed) : random_(seed) {}
    void play(int turns, int most) {
        for (int turn = 0; turn < turns && !::testing::Test::HasFatalFailure(); ++turn) {
            if (static_cast<int>(areas_.size()) < most && random_.chance(turn / 100 % 2 ? 30 : 70)) begin();
            else if (!areas_.empty()) end(random_.below(areas_.size()));
        }
        while (!areas_.empty()) end(areas_.size() - 1);
    }
    Node &node() { return node_; }

private:
    void begin() {
        Area area{0,
                  random_.pick(lengths_),
                  static_cast<int>(random_.below(2)),
                  {},
                  std::byte{static_cast<uint8_t>(random_.between(1, 255))}};
        ASSERT_TRUE(node_.of(area.owner).allocate(area.bytes, area.offset));
        for (int process : {0, 1}) {
            area.seen[process] = node_.of(process).open(area.offset, area.bytes);
            ASSERT_NE(area.seen[process], nullptr);
            ASSERT_EQ(reinterpret_cast<uintptr_t>(area.seen[process]) % 64, 0u);
        }
        ASSERT_TRUE(all_are(area.seen[1], area.bytes, std::byte{0})) << "a new area is zeroed";
        std::memset(area.seen[0], static_cast<int>(area.filling), area.bytes);
        areas_.push_back(area);
    }
    void end(size_t place) {
        Area area = areas_[place];
        areas_.erase(areas_.begin() + static_cast<long>(place));
        ASSERT_TRUE(all_are(area.seen[1], area.bytes, area.filling)) << "another area lies here too";
        int last = static_cast<int>(random_.below(2));
        bool emptied = node_.of(last).empty(area.offset, area.bytes);
        for (int process : {0, 1}) node_.of(process).close(area.offset, area.seen[process], area.bytes);
        node_.of(area.owner).release(area.offset, area.bytes, emptied);
    }

    sim::Random random_;
    Node node_;
    std::vector<size_t> lengths_{64, 4096, 4160, 20'000, 145'000, 300'000};
    std::vector<Area> areas_;
};

TEST(SegmentMemory, KeepsAreasApartInRandomSequences) {
    for (uint64_t seed : sim::seeds(3)) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Player player(seed);
        player.play(600, 60);
        if (HasFailure()) return;
    }
}

TEST(SegmentMemory, GivesBackWhatManyAreasHad) {
    Player player(sim::first_seed());
    size_t held = player.node().held_bytes(), mapped = player.node().mapped_bytes();
    player.play(3000, 400);
    EXPECT_LE(player.node().held_bytes(), held + SegmentMemory::most_idle + 1000 * 4096)
        << "a page is left of each area";
    EXPECT_LE(player.node().mapped_bytes(), mapped + 2 * (SegmentMemory::most_closed + 300 * 1024));
    EXPECT_LE(player.node().segment().header().idle_area_bytes.load(), SegmentMemory::most_idle);
}

// If the file may not grow, an emptied area is not handed out, but remains for later.
TEST(SegmentMemory, SaysWhenThereIsNoMore) {
    Node node;
    constexpr size_t bytes = 1 << 20;
    uint64_t offset = 0, last = 0;
    node.segment().header().limit =
        node.segment().header().appended.load() + node.segment().members() * ring_bytes + 3 * bytes;
    int made = 0;
    for (; node.of(0).allocate(bytes, offset); ++made) last = offset;
    EXPECT_GE(made, 2);
    EXPECT_LE(made, 3);
    // A released area serves the next allocation, and then there is no more again.
    node.of(0).release(last, bytes, node.of(0).empty(last, bytes));
    EXPECT_TRUE(node.of(0).allocate(bytes, offset));
    EXPECT_EQ(offset, last);
    EXPECT_FALSE(node.of(0).allocate(bytes, offset));
}

}  // namespace
}  // namespace lanyard
