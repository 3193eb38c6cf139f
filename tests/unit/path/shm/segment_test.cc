// Tests the node's segment: processes that join while others work in it, a segment of another version, and
// the memory that its file has.
#include "path/shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <memory>

#include "base/valgrind.h"
#include "path/shm/shm_path.h"

namespace lanyard {
namespace {

class File {
public:
    File() : descriptor_(memfd_create("lanyard-test", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {}
    ~File() { close(descriptor_); }
    int descriptor() const { return descriptor_; }
    // A descriptor of the file, as another process gets it.
    int copy() const { return dup(descriptor_); }
    // Allocating fails from this offset on.
    void end_at(uint64_t bytes) const {
        ASSERT_EQ(ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
        ASSERT_EQ(fcntl(descriptor_, F_ADD_SEALS, F_SEAL_GROW), 0);
    }
    uint64_t used_bytes() const {
        struct stat about;
        EXPECT_EQ(fstat(descriptor_, &about), 0);
        return static_cast<uint64_t>(about.st_blocks) * 512;
    }

private:
    int descriptor_;
};

std::string sentence(Error error) { return error ? error.take().sentence : ""; }

TEST(Segment, OfAnotherVersionIsRefusedWithBoth) {
    File file;
    Segment made, other;
    ASSERT_EQ(sentence(made.create(file.descriptor(), 2)), "");
    uint64_t magic = segment_magic - (uint64_t{1} << 48);
    ASSERT_EQ(pwrite(file.descriptor(), &magic, sizeof magic, 0), 8);
    EXPECT_EQ(sentence(other.attach(file.copy())),
              "the shared memory of this node has version 2 of its layout, and this process needs version 3: "
              "all processes of a node need the same Lanyard");
    magic = 0x1234;
    ASSERT_EQ(pwrite(file.descriptor(), &magic, sizeof magic, 0), 8);
    EXPECT_EQ(sentence(other.attach(file.copy())), "the file for shared memory holds something else");
}

TEST(Segment, TakesNoMemoryWhereCreateFailsPartway) {
    File file;
    file.end_at(uint64_t{1} << 20);
    EXPECT_NE(sentence(Segment().create(file.descriptor(), 4)), "");
    EXPECT_EQ(file.used_bytes(), 0u);
}

TEST(Segment, TakesNoMemoryWhereAnAppendFailsPartway) {
    File file;
    Segment segment;
    ASSERT_EQ(sentence(segment.create(file.descriptor(), 2)), "");
    ASSERT_EQ(sentence(segment.attach(file.copy())), "");
    uint64_t before = file.used_bytes();
    file.end_at(segment.header().appended + (uint64_t{5} << 19));
    EXPECT_EQ(segment.append_area(size_t{4} << 20), 0u);
    EXPECT_EQ(file.used_bytes(), before);
}

// What is reported is what the processes use. Places of members that do not exist take nothing, and blocks
// count too.
TEST(Segment, ReportsTheMemoryThatItHas) {
    File file;
    Segment segment;
    ASSERT_EQ(sentence(segment.create(file.descriptor(), 2)), "");
    ASSERT_EQ(sentence(segment.attach(file.copy())), "");
    uint64_t first = segment.used_bytes();
    EXPECT_GE(first, 2 * segment.header().member_bytes);
    EXPECT_LT(first, 3 * segment.header().member_bytes);
    constexpr size_t bytes = 4 << 20;
    uint64_t block = segment.append_block(bytes, Segment::Need::necessity);
    ASSERT_NE(block, 0u);
    EXPECT_GE(segment.used_bytes(), first + bytes);
    segment.empty(block, bytes);
    EXPECT_EQ(segment.used_bytes(), first);
}

// The system maps a part of the file only from the beginning of a page. The length of its pages differs
// between machines.
TEST(Segment, MapsWhatItAppendsWhateverThePagesAre) {
    File file;
    Segment segment;
    ASSERT_EQ(sentence(segment.create(file.descriptor(), 3)), "");
    ASSERT_EQ(sentence(segment.attach(file.copy())), "");
    auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    for (int round = 0; round < 3; ++round)
        for (uint64_t offset : {segment.append_ring(), segment.append_area(100), segment.append_ring(),
                                segment.append_block(100, Segment::Need::necessity)}) {
            ASSERT_NE(offset, 0u);
            EXPECT_EQ(offset % page, 0u);
            std::byte *memory = segment.map(offset, ring_bytes);
            ASSERT_NE(memory, nullptr);
            Segment::unmap(memory, ring_bytes);
        }
}

// Memory is given back up to the end of an area, and not beyond. The first bytes stay.
TEST(Segment, EmptiesTheRestOfAnAreaAndNothingBehindIt) {
    File file;
    Segment segment;
    ASSERT_EQ(sentence(segment.create(file.descriptor(), 2)), "");
    ASSERT_EQ(sentence(segment.attach(file.copy())), "");
    constexpr size_t bytes = 256 << 10, kept = 4096;
    uint64_t area = segment.append_area(bytes), behind = segment.append_area(bytes);
    std::byte *here = segment.map(area, bytes), *there = segment.map(behind, bytes);
    ASSERT_TRUE(here && there);
    for (std::byte *memory : {here, there}) std::memset(memory, 7, bytes);
    segment.empty(area + kept, bytes - kept);
    ASSERT_TRUE(segment.refill(area + kept, bytes - kept));
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(here[i], std::byte(i < kept ? 7 : 0)) << i;
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(there[i], std::byte{7}) << i;
    for (std::byte *memory : {here, there}) Segment::unmap(memory, bytes);
}

// Counts the envelopes of each peer and checks that they arrive in order.
struct Counting final : Sink {
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override {
        EXPECT_EQ(envelope.context, next[peer]++);
        for (size_t i = 0; i < size; ++i) EXPECT_EQ(payload[i], static_cast<std::byte>(envelope.context));
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { FAIL() << reason.take().sentence; }
    uint64_t next[128] = {};
};

// A process of the node with a mapping and peer numbers of its own.
struct Process {
    Process(const File &file, uint32_t index) : own(index) {
        EXPECT_EQ(sentence(segment.attach(file.copy())), "");
        std::vector<uint32_t> peers;
        for (uint32_t member = 0; member < segment.members(); ++member) peers.push_back(number(member));
        path = std::make_unique<ShmPath>(segment, index, std::move(peers), false);
    }
    uint32_t number(uint32_t member) const { return own + 50 - member; }
    void learn() {
        while (path->reaches(number(known)) || (known < segment.members() && path->add_member(number(known))))
            ++known;
    }
    void say(uint32_t member, size_t size) {
        Envelope envelope{};
        envelope.context = sent[member]++;
        envelope.length = size;
        std::vector<std::byte> payload(size, static_cast<std::byte>(envelope.context));
        while (path->send(number(member), envelope, {payload.data(), size, nullptr}) == Sent::full)
            FAIL() << "there is no room";
    }

    uint32_t own, known = 0;
    Segment segment;
    std::unique_ptr<ShmPath> path;
    Counting sink;
    uint64_t sent[64] = {};
};

TEST(Segment, TakesMoreMembersWhileOthersAreAtWork) {
    if (under_valgrind()) GTEST_SKIP() << "no places are mapped for new members there";
    File file;
    Segment made;
    ASSERT_EQ(sentence(made.create(file.descriptor(), 2)), "");
    std::deque<Process> all;
    all.emplace_back(file, 0);
    all.emplace_back(file, 1);
    const std::byte *cell = all[0].segment.cell(1, 0);
    for (uint32_t members = 2; members <= 20; ++members) {
        for (Process &process : all) {
            process.learn();
            for (uint32_t to = 0; to < all.size(); ++to)
                if (to != process.own) process.say(to, to % 3 == 0 ? 10'000 : 100);
            for (Process &other : all) other.path->poll(other.sink, 1000, 0);
        }
        uint32_t index = 0;
        ASSERT_EQ(sentence(all[members % all.size()].segment.append_member(index)), "");
        EXPECT_EQ(index, members);
        all.emplace_back(file, index);
    }
    EXPECT_EQ(all[0].segment.cell(1, 0), cell) << "nothing moves";
    EXPECT_EQ(all[0].segment.members(), 21u);
    for (Process &process : all)
        for (Process &from : all) {
            if (&from == &process) continue;
            EXPECT_EQ(process.sink.next[process.number(from.own)], from.sent[process.own]);
        }
}

}  // namespace
}  // namespace lanyard
