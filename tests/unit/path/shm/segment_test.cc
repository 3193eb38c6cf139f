// Tests the node's segment: processes that join while others work in it, and a segment of another version.
#include "path/shm/segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <memory>

#include "path/shm/shm_path.h"

namespace lanyard {
namespace {

class File {
public:
    File() : descriptor_(memfd_create("lanyard-test", MFD_CLOEXEC)) {}
    ~File() { close(descriptor_); }
    int descriptor() const { return descriptor_; }
    // A descriptor of the file, as another process gets it.
    int copy() const { return dup(descriptor_); }

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
              "the shared memory of this node has version 1 of its layout, and this process needs version 2: "
              "all processes of a node need the same Lanyard");
    magic = 0x1234;
    ASSERT_EQ(pwrite(file.descriptor(), &magic, sizeof magic, 0), 8);
    EXPECT_EQ(sentence(other.attach(file.copy())), "the file for shared memory holds something else");
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
