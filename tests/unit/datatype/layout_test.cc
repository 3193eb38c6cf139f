// Compares random nested datatypes with the reference (reference.h): sizes, bounds, and every operation by
// which a Cursor moves bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/abi_constants.h"
#include "datatype/cursor.h"
#include "datatype/elements.h"
#include "reference.h"

namespace {

using namespace lanyard;
using reference::Made;
using reference::pick;
using reference::Random;

// One random datatype, with memory for it that is filled with random bytes.
struct Case {
    Random random;
    Made made;
    int64_t count;
    std::vector<int64_t> offsets;
    int64_t least = 0;
    std::vector<std::byte> memory;

    explicit Case(uint64_t seed)
        : random(seed), made(reference::random_type(random, 1 + static_cast<int>(seed % 4))) {
        count = pick(random, 0, 4);
        offsets = byte_offsets(made.expected, count);
        int64_t most = 0;
        for (int64_t offset : offsets) {
            least = std::min(least, offset);
            most = std::max(most, offset + 1);
        }
        memory.resize(static_cast<size_t>(most - least + 1));
        for (std::byte &b : memory) b = static_cast<std::byte>(random());
    }
    ~Case() {
        if (!made.real->predefined()) release(*made.real);
    }
    Buffer buffer() { return {memory.data() - least, count, made.real}; }
    std::byte &at(int64_t offset) { return memory[static_cast<size_t>(offset - least)]; }
    std::vector<std::byte> stream() {
        std::vector<std::byte> bytes;
        for (int64_t offset : offsets) bytes.push_back(at(offset));
        return bytes;
    }
    bool overlaps() const {
        return std::set<int64_t>(offsets.begin(), offsets.end()).size() != offsets.size();
    }
    std::string text(uint64_t seed) const {
        return "LANYARD_TEST_SEED=" + std::to_string(seed) + " repeats this: " + std::to_string(count) +
               " x " + made.text;
    }
};

constexpr int cases = 1500;

TEST(Layout, BoundsFollowTheStandard) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        ASSERT_EQ(c.made.real->size, c.made.expected.size());
        ASSERT_EQ(c.made.real->lower_bound, c.made.expected.lower_bound());
        ASSERT_EQ(c.made.real->extent, c.made.expected.extent());
        ASSERT_EQ(c.made.real->true_lower_bound, c.made.expected.true_lower_bound());
        ASSERT_EQ(c.made.real->true_extent, c.made.expected.true_extent());
    }
}

TEST(TypeMap, HasTheElementsThatAreCounted) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        const auto &map = c.made.expected.map;
        ASSERT_EQ(c.made.real->elements, static_cast<int64_t>(map.size()));
        int64_t bytes = 0, elements = 0;
        auto same = [&] {
            ASSERT_EQ(basic_elements(*c.made.real, bytes), elements);
            ASSERT_EQ(bytes_of_elements(*c.made.real, elements), bytes);
        };
        same();
        for (int64_t i = 0; i < c.count; ++i) {
            for (const reference::Entry &entry : map) {
                if (entry.bytes > 1) {
                    ASSERT_EQ(basic_elements(*c.made.real, bytes + 1), lanyard::abi::undefined);
                }
                bytes += entry.bytes;
                ++elements;
                same();
            }
            ASSERT_EQ(whole_count(*c.made.real, bytes), map.empty() ? 0 : i + 1);
        }
    }
}

TEST(Cursor, PacksAnyFragments) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        std::vector<std::byte> expected = c.stream(), packed(expected.size());
        Cursor cursor(c.buffer());
        int64_t total = static_cast<int64_t>(expected.size());
        for (int64_t done = 0; done < total;) {
            int64_t some = pick(c.random, 1, pick(c.random, 1, 200));
            size_t moved =
                cursor.pack(packed.data() + done, static_cast<size_t>(std::min(some, total - done)));
            ASSERT_GT(moved, 0u);
            done += static_cast<int64_t>(moved);
        }
        ASSERT_EQ(cursor.remaining(), 0);
        ASSERT_EQ(packed, expected);
    }
}

TEST(Cursor, PacksFromAnyPosition) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        std::vector<std::byte> expected = c.stream();
        if (expected.empty()) continue;
        for (int i = 0; i < 10; ++i) {
            int64_t from = pick(c.random, 0, static_cast<int64_t>(expected.size()) - 1);
            int64_t some = pick(c.random, 1, static_cast<int64_t>(expected.size()) - from);
            std::vector<std::byte> packed(static_cast<size_t>(some));
            Cursor cursor(c.buffer(), from);
            ASSERT_EQ(cursor.pack(packed.data(), packed.size()), packed.size());
            ASSERT_EQ(cursor.position(), from + some);
            ASSERT_EQ(std::memcmp(packed.data(), expected.data() + from, packed.size()), 0)
                << from << " " << some;
        }
    }
}

// Unpacks fragments in random order, like bulk that arrives out of order.
TEST(Cursor, UnpacksInAnyOrder) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        if (c.overlaps()) continue;  // such a datatype may not be used to receive
        std::vector<std::byte> stream(c.offsets.size()), expected = c.memory;
        for (size_t i = 0; i < stream.size(); ++i) {
            stream[i] = static_cast<std::byte>(c.random());
            expected[static_cast<size_t>(c.offsets[i] - c.least)] = stream[i];
        }
        std::vector<std::pair<int64_t, int64_t>> fragments;
        int64_t total = static_cast<int64_t>(stream.size());
        for (int64_t done = 0; done < total;) {
            int64_t some = std::min(total - done, pick(c.random, 1, 100));
            fragments.push_back({done, some});
            done += some;
        }
        std::shuffle(fragments.begin(), fragments.end(), c.random);
        Cursor cursor(c.buffer());
        for (auto [from, some] : fragments) {
            cursor.seek(from);
            ASSERT_EQ(cursor.unpack(stream.data() + from, static_cast<size_t>(some)),
                      static_cast<size_t>(some));
        }
        ASSERT_EQ(c.memory, expected);
    }
}

TEST(Cursor, ListsRuns) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case c(seed);
        SCOPED_TRACE(c.text(seed));
        std::vector<std::byte> expected = c.stream(), gathered;
        Cursor cursor(c.buffer());
        while (cursor.remaining() > 0) {
            iovec runs[5];
            int limit = static_cast<int>(pick(c.random, 1, 5));
            size_t most = static_cast<size_t>(pick(c.random, 1, 300)), sum = 0;
            int64_t before = cursor.position();
            int listed = cursor.runs(runs, limit, most);
            ASSERT_GT(listed, 0);
            ASSERT_LE(listed, limit);
            for (int i = 0; i < listed; ++i) {
                auto *bytes = static_cast<std::byte *>(runs[i].iov_base);
                gathered.insert(gathered.end(), bytes, bytes + runs[i].iov_len);
                sum += runs[i].iov_len;
            }
            ASSERT_LE(sum, most);
            ASSERT_EQ(cursor.position(), before + static_cast<int64_t>(sum));
        }
        ASSERT_EQ(gathered, expected);
    }
}

// Moves more records than are copied at a time.
TEST(Cursor, ManyRecords) {
    Datatype *record = nullptr, *many = nullptr;
    Datatype &integer = *predefined_datatype(lanyard::abi::type_int),
             &number = *predefined_datatype(lanyard::abi::type_double);
    ASSERT_FALSE(make_struct({1, 1}, {0, 8}, {&integer, &number}, &record));
    ASSERT_FALSE(make_contiguous(3000, *record, &many));
    struct Record {
        int integer;
        double number;
    };
    std::vector<Record> from(3000), to(3000);
    for (int i = 0; i < 3000; ++i) from[static_cast<size_t>(i)] = {i, i + 0.5};
    std::vector<std::byte> packed(36000);
    Buffer source{reinterpret_cast<std::byte *>(from.data()), 1, many},
        target{reinterpret_cast<std::byte *>(to.data()), 3000, record};
    ASSERT_EQ(Cursor(source).pack(packed.data(), 36000), 36000u);
    ASSERT_EQ(Cursor(target).unpack(packed.data(), 36000), 36000u);
    for (size_t i = 0; i < 3000; ++i) {
        ASSERT_EQ(to[i].integer, from[i].integer);
        ASSERT_EQ(to[i].number, from[i].number);
    }
    release(*many);
    release(*record);
}

TEST(Cursor, CopiesBetweenLayouts) {
    for (uint64_t seed : reference::seeds(cases)) {
        Case from(seed), to(seed + 7777);
        SCOPED_TRACE(from.text(seed) + " to " + to.made.text);
        if (to.overlaps()) continue;
        std::vector<std::byte> stream = from.stream();
        stream.resize(std::min(stream.size(), to.offsets.size()));
        ASSERT_EQ(copy(from.buffer(), to.buffer()), static_cast<int64_t>(stream.size()));
        std::vector<std::byte> arrived = to.stream();
        arrived.resize(stream.size());
        ASSERT_EQ(arrived, stream);
    }
}

}  // namespace
