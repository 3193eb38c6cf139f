// Tests payload that arrives in parts (path/assembly.h). The sink has a place for the payload, has none, or
// has already read the beginning.
#include "path/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace lanyard {
namespace {

const std::string text = "the payload of one envelope, in parts";

const std::byte *bytes(const std::string &string) {
    return reinterpret_cast<const std::byte *>(string.data());
}
std::string as_text(const std::byte *payload, size_t size) {
    return {reinterpret_cast<const char *>(payload), size};
}

class PlacingSink final : public Sink {
public:
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override {
        from_peer = peer;
        tag = envelope.tag;
        at = payload;
        got = as_text(payload, size);
        if (then) then();
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }
    std::byte *place(uint32_t, const BulkHeader &header, size_t) override {
        return memory.empty() ? nullptr : memory.data() + header.offset;
    }
    std::byte *begin(uint32_t, const Envelope &, const std::byte *payload, size_t received, size_t size,
                     size_t &from) override {
        beginning = as_text(payload, received);
        from = reads;  // also without a place, where it has no meaning
        return memory.size() < size ? nullptr : memory.data();
    }

    std::vector<std::byte> memory;
    size_t reads = 0;
    std::string beginning, got;
    uint32_t from_peer = 0;
    int tag = 0;
    const std::byte *at = nullptr;
    std::function<void()> then;
};

Envelope with_tag(int tag) {
    Envelope envelope{};
    envelope.tag = tag;
    return envelope;
}

// Delivers the text in parts of `part` bytes, the first of them with begin().
void assemble(Assembly &assembly, PlacingSink &sink, size_t part, int tag) {
    size_t received = std::min(part, text.size());
    size_t done = assembly.begin(sink, 3, with_tag(tag), bytes(text), received, text.size());
    assembly.add(bytes(text) + done, received - done);
    for (; assembly.missing() > 0; received += std::min(part, text.size() - received)) {
        EXPECT_EQ(assembly.received(), received);
        assembly.add(bytes(text) + received, std::min(part, text.size() - received));
    }
    assembly.deliver(sink, 3, with_tag(tag));
}

TEST(Assembly, HasRoomOfItsOwnWhereTheSinkHasNone) {
    for (size_t part = 1; part <= text.size(); ++part) {
        PlacingSink sink;
        sink.reads = 1;
        Assembly assembly;
        assemble(assembly, sink, part, 7);
        EXPECT_EQ(sink.got, text) << part;
        EXPECT_EQ(sink.beginning, text.substr(0, part));
        EXPECT_EQ(sink.from_peer, 3u);
        EXPECT_EQ(sink.tag, 7);
        EXPECT_FALSE(assembly.is_open());
    }
}

TEST(Assembly, WritesWhereTheSinkWantsItButWhatTheSinkHasRead) {
    for (size_t part = 1; part <= text.size(); ++part)
        for (size_t reads = 0; reads <= part; ++reads) {
            PlacingSink sink;
            sink.memory.assign(text.size(), std::byte{'.'});
            sink.reads = reads;
            Assembly assembly;
            assemble(assembly, sink, part, 8);
            EXPECT_EQ(sink.got, std::string(reads, '.') + text.substr(reads))
                << part << ", of which " << reads << " are read";
            EXPECT_EQ(sink.at, sink.memory.data());
        }
}

TEST(Assembly, MayBeginWithoutABeginningAndBeReadStraight) {
    PlacingSink sink;
    Assembly assembly;
    EXPECT_EQ(assembly.begin(sink, 0, with_tag(1), nullptr, 0, text.size()), 0u);
    while (size_t missing = assembly.missing()) {
        size_t part = std::min<size_t>(missing, 5);
        std::memcpy(assembly.next(), text.data() + assembly.received(), part);
        assembly.arrived(part);
    }
    const std::byte *payload = assembly.payload();
    std::unique_ptr<std::byte[]> room = assembly.end();
    EXPECT_EQ(room.get(), payload);
    EXPECT_EQ(as_text(payload, text.size()), text);
}

TEST(Assembly, PutsBulkWhereTheSinkSays) {
    PlacingSink sink;
    sink.memory.assign(100, std::byte{'.'});
    Assembly assembly;
    assembly.begin(sink, 0, BulkHeader{1, 20}, text.size());
    assembly.add(bytes(text), text.size());
    EXPECT_EQ(assembly.payload(), sink.memory.data() + 20);
    EXPECT_EQ(assembly.end(), nullptr) << "it is not the assembly's own";
    EXPECT_EQ(as_text(sink.memory.data() + 20, text.size()), text);
}

TEST(Assembly, BeginsAnewAfterALossAndInsideADelivery) {
    PlacingSink sink;
    Assembly assembly;
    assembly.begin(sink, 0, with_tag(1), bytes(text), 4, text.size());
    assembly.add(bytes(text), 4);
    assembly.drop();
    EXPECT_FALSE(assembly.is_open());
    EXPECT_EQ(assembly.missing(), 0u);
    sink.then = [&] {
        sink.then = nullptr;
        std::string first = sink.got;
        const std::byte *payload = sink.at;
        assemble(assembly, sink, 9, 3);
        EXPECT_EQ(as_text(payload, text.size()), first) << "the payload in delivery was overwritten";
    };
    assemble(assembly, sink, 11, 2);
    EXPECT_EQ(sink.tag, 3);
    EXPECT_EQ(sink.got, text);
}

TEST(Assembly, RefusesMoreThanIsMissing) {
    PlacingSink sink;
    Assembly assembly;
    assembly.begin(sink, 0, with_tag(1), nullptr, 0, 10);
    EXPECT_DEATH(assembly.add(bytes(text), 11), "");
}

}  // namespace
}  // namespace lanyard
