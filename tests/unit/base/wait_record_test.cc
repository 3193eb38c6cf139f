// Tests the launcher's report of what ranks wait for. The launcher reads it from segments, which the tests
// write here. Covers the line for each state, and segments that do not exist yet, are truncated, have another
// version or are being changed.
#include "base/wait_record.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/abi_constants.h"
#include "base/clock.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

constexpr uint64_t stride = 2 * sizeof(WaitRecord);

// A segment in an unnamed file: a label, then one record for each member, with a gap between records.
class Segment {
public:
    explicit Segment(uint32_t members)
        : bytes_(first + members * stride), file_(memfd_create("wait_record_test", MFD_CLOEXEC)) {
        EXPECT_EQ(ftruncate(file_, static_cast<off_t>(bytes_)), 0);
        base_ = static_cast<char *>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
        EXPECT_NE(static_cast<void *>(base_), MAP_FAILED);
        label() = {segment_magic, members, sizeof(WaitRecord), first, stride};
    }
    ~Segment() {
        munmap(base_, bytes_);
        close(file_);
    }
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    SegmentLabel &label() { return *reinterpret_cast<SegmentLabel *>(base_); }
    WaitRecord &record(uint32_t member) {
        return *reinterpret_cast<WaitRecord *>(base_ + first + member * stride);
    }
    void cut(uint64_t bytes) { EXPECT_EQ(ftruncate(file_, static_cast<off_t>(bytes)), 0); }
    std::vector<std::string> report() const { return describe_waits(file_); }
    static constexpr uint64_t first = 128;

private:
    uint64_t bytes_;
    int file_;
    char *base_;
};

// Returns the line for one member that waits as `change` specifies.
std::string line_of(const auto &change) {
    Segment segment(1);
    WaitRecord &record = segment.record(0);
    record.world_rank = 3;
    record.state = 1;
    record.waiting = 1;
    std::strcpy(record.call, "MPI_Recv");
    record.peer = record.tag = abi::undefined;
    record.sent = 5;
    record.matched = 6;
    change(record);
    std::vector<std::string> lines = segment.report();
    return lines.size() == 1 ? lines[0] : "not one line";
}

TEST(WaitRecord, SaysInWhichStateARankIs) {
    EXPECT_EQ(line_of([](WaitRecord &record) { record.state = 2; }), "rank 3: has finalised MPI");
    EXPECT_EQ(line_of([](WaitRecord &record) { record.waiting = 0; }),
              "rank 3: is not waiting in MPI (computing, or testing); 5 messages sent, 6 received");
    Segment segment(3);  // like a new segment, to which no process has written a rank
    segment.record(1).state = 2;
    segment.record(1).world_rank = 1;
    EXPECT_EQ(segment.report(), (std::vector<std::string>{"", "rank 1: has finalised MPI", ""}));
}

TEST(WaitRecord, SaysWhatARankWaitsFor) {
    const std::string rest = ", for 0.0 s; 5 messages sent, 6 received";
    EXPECT_EQ(line_of([](WaitRecord &) {}), "rank 3: waits in MPI_Recv" + rest);
    EXPECT_EQ(line_of([](WaitRecord &record) {
                  record.peer = 0;
                  record.tag = 0;
                  std::strcpy(record.communicator, "the lake");
              }),
              "rank 3: waits in MPI_Recv with rank 0, tag 0 on the lake" + rest);
    EXPECT_EQ(line_of([](WaitRecord &record) {
                  record.peer = abi::any_source;
                  record.tag = abi::any_tag;
              }),
              "rank 3: waits in MPI_Recv with any rank, any tag" + rest);
    EXPECT_EQ(line_of([](WaitRecord &record) {
                  std::strcpy(record.call, "MPI_Allreduce");
                  record.tag = abi::any_tag;  // a collective names no peer, so its tag has no meaning
                  record.sequence = 12;
              }),
              "rank 3: waits in MPI_Allreduce, number 12 of this communicator" + rest);
    EXPECT_EQ(line_of([](WaitRecord &record) {
                  std::strcpy(record.call, "MPI_Bcast");
                  record.peer = 2;
                  record.sequence = 4;
              }),
              "rank 3: waits in MPI_Bcast with root 2, number 4 of this communicator" + rest);
}

TEST(WaitRecord, SaysWhichRequestsARankWaitsFor) {
    const std::string rest = ", for 0.0 s; 5 messages sent, 6 received";
    auto waits = [](const WaitParts &parts) {
        return line_of([&](WaitRecord &record) {
            std::strcpy(record.call, "MPI_Waitall");
            record.parts = parts;
        });
    };
    WaitParts parts;
    parts.add(WaitPart::send, 1, 7);
    EXPECT_EQ(waits(parts), "rank 3: waits in MPI_Waitall for a send to rank 1, tag 7" + rest);
    parts.add(WaitPart::receive, abi::any_source, abi::any_tag);
    parts.add(WaitPart::other, abi::undefined, 5, "allreduce");
    const std::string three = "a send to rank 1, tag 7; a receive from any rank, any tag; allreduce number 5";
    EXPECT_EQ(waits(parts), "rank 3: waits in MPI_Waitall for 3 requests: " + three + rest);
    parts.add(WaitPart::send, 1, 8);
    EXPECT_EQ(waits(parts), "rank 3: waits in MPI_Waitall for 4 requests: " + three + "; and 1 more" + rest);
}

TEST(WaitRecord, SaysForHowLong) {
    auto since = [](uint64_t since_ns) {
        return line_of([=](WaitRecord &record) { record.since_ns = since_ns; });
    };
    std::string line = since(clock_ns() - 12'345'000'000u);
    size_t words = line.find(", for ");
    ASSERT_NE(words, std::string::npos) << line;
    size_t digits = 0;
    double seconds = std::stod(line.substr(words + 6), &digits);
    EXPECT_EQ(line.substr(words + 6 + digits, 3), " s;") << line;
    EXPECT_GE(seconds, 12.3);
    EXPECT_LT(seconds, 600);
    // The rank may begin to wait after the reader has read the clock.
    line = since(clock_ns() + 60'000'000'000u);
    EXPECT_NE(line.find(", for 0.0 s;"), std::string::npos) << line;
}

TEST(WaitRecord, IsEmptyWithoutASegment) {
    EXPECT_TRUE(describe_waits(-1).empty());
    Segment cut(2);
    cut.cut(sizeof(SegmentLabel) - 1);
    EXPECT_TRUE(cut.report().empty());
    cut.cut(0);
    EXPECT_TRUE(cut.report().empty());
    Segment blank(2);
    blank.label() = {};
    EXPECT_TRUE(blank.report().empty());
    Segment other(2);
    other.label().record_bytes += 8;
    EXPECT_TRUE(other.report().empty()) << "records of another version cannot be read";
}

TEST(WaitRecord, LeavesOutRecordsThatTheSegmentDoesNotHold) {
    Segment segment(4);
    segment.cut(Segment::first + 2 * stride + sizeof(WaitRecord) - 1);
    EXPECT_EQ(segment.report().size(), 2u);
    segment.label().members = UINT32_MAX;
    EXPECT_EQ(segment.report().size(), 2u);
    // Values that a stray store of a rank may have left.
    segment.label().first_record = UINT64_MAX - 63;
    EXPECT_TRUE(segment.report().empty());
    segment.label().first_record = uint64_t{1} << 40;
    EXPECT_TRUE(segment.report().empty());
}

// A record that is read in the middle of a change may hold any bytes. The report must be one complete line
// all the same, which ends with the word "received".
TEST(WaitRecord, DescribesAnyBytes) {
    for (uint64_t seed : sim::seeds(2000)) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        Segment segment(1);
        auto *bytes = reinterpret_cast<unsigned char *>(&segment.record(0));
        for (size_t i = 0; i < sizeof(WaitRecord); ++i)
            bytes[i] = static_cast<unsigned char>(random.chance(90) ? 1 + random.below(255) : 0);
        segment.record(0).state = 1;
        std::vector<std::string> lines = segment.report();
        ASSERT_EQ(lines.size(), 1u);
        ASSERT_LT(lines[0].size(), 399u) << "cut";
        ASSERT_EQ(lines[0].rfind(" received"), lines[0].size() - 9) << lines[0];
    }
}

}  // namespace
}  // namespace lanyard
