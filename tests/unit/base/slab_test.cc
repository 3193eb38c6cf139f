// Takes objects from slabs and gives them back, at random: no object may move, overlap another or lose its
// contents.
#include "base/slab.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

struct Thing {
    uint32_t number, other[13];
};
using Things = Slab<Thing>;

struct Taken {
    uint32_t index;
    Thing *place;
    uint32_t number;
};

void take_one(Things &slab, std::vector<Taken> &taken, uint32_t number) {
    uint32_t index = slab.take();
    Thing &thing = slab.at(index);
    thing.number = number;
    thing.other[12] = ~number;
    taken.push_back({index, &thing, number});
}

void expect_whole(const Things &slab, const Taken &one) {
    ASSERT_EQ(&slab.at(one.index), one.place) << "it has moved";
    ASSERT_EQ(one.place->number, one.number);
    ASSERT_EQ(one.place->other[12], ~one.number);
}

TEST(Slab, KeepsEveryObjectWhereAndAsItIs) {
    for (uint64_t seed : sim::seeds(20)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        Things slab;
        std::vector<Taken> taken;
        uint32_t most = 0;
        for (uint32_t i = 0; i < 100'000; ++i) {
            bool grows = i / 25'000 % 2 == 0;
            if (taken.empty() || random.chance(grows ? 90 : 5)) {
                take_one(slab, taken, i);
            } else {
                std::swap(taken[random.below(taken.size())], taken.back());
                expect_whole(slab, taken.back());
                slab.give(taken.back().index);
                taken.pop_back();
            }
            most = taken.empty() ? 0 : std::max(most, static_cast<uint32_t>(taken.size()));
            ASSERT_EQ(slab.bytes(), most * sizeof(Thing)) << "what was given back is taken before new memory";
        }
        for (const Taken &one : taken) expect_whole(slab, one);
        if (HasFatalFailure()) return;
    }
}

TEST(Slab, GivesAllButOneChunkBack) {
    Things slab;
    EXPECT_EQ(slab.reserved_bytes(), 0u);
    for (int round = 0; round < 2; ++round) {
        std::vector<Taken> taken;
        for (uint32_t i = 0; i < 3 * Things::chunk_objects; ++i) take_one(slab, taken, i);
        EXPECT_EQ(slab.reserved_bytes(), 3 * Things::chunk_bytes);
        for (const Taken &one : taken) {
            expect_whole(slab, one);
            slab.give(one.index);
        }
        EXPECT_EQ(slab.bytes(), 0u);
        EXPECT_EQ(slab.reserved_bytes(), Things::chunk_bytes);
    }
}

// True if the page that contains this object is resident in memory.
bool resident(const Thing *thing) {
    auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char there = 0;
    return mincore(reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(thing) & ~(page_bytes - 1)),
                   page_bytes, &there) == 0 &&
           (there & 1);
}

TEST(Slab, GivesAllMemoryBackWhenNothingIsInUse) {
    Things slab;
    slab.give_back();
    for (uint32_t count : {1u, 1000u, 2 * Things::chunk_objects, 3000u}) {
        std::vector<Taken> taken;
        for (uint32_t i = 0; i < count; ++i) take_one(slab, taken, i);
        const Thing *first = taken.front().place,
                    *last = taken[std::min(count, Things::chunk_objects) - 1].place;
        slab.give_back();
        for (const Taken &one : taken) {
            expect_whole(slab, one);
            slab.give(one.index);
        }
        EXPECT_TRUE(resident(first) && resident(last)) << "nobody has asked for it";
        slab.give_back();
        EXPECT_FALSE(resident(first) || resident(last)) << count;
    }
}

}  // namespace
}  // namespace lanyard
