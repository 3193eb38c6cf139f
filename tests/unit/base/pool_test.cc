// Compares object pools with a plain table. Objects are created and destroyed at random, and every address,
// index and count is checked afterwards. Also tests pools that are full, and threads that create and destroy
// at the same time.
#include "base/pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/valgrind.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// Counts its instances and detects that it is overwritten.
template <size_t Bytes>
struct Thing : Object {
    explicit Thing(uint64_t value) : number(value), check(~value) { ++alive; }
    ~Thing() {
        EXPECT_TRUE(whole()) << "ended twice, or overwritten";
        check = number;
        --alive;
    }
    bool whole() const { return check == ~number; }

    uint64_t number, check;
    char filling[Bytes] = {};
    static inline std::atomic<int> alive{0};
};
using Small = Thing<1>;
using Large = Thing<300>;

static_assert(ObjectPool<Small>::stride == 64 && ObjectPool<Large>::stride == 512,
              "slots are powers of two, at least a cache line");

// For a while after its object has ended, a handle is detected as invalid, even if new objects are created.
TEST(Pool, FreedSlotsRestBeforeTheyAreUsedAgain) {
    ObjectPool<Small> pool;
    Small *freed = pool.create(1u);
    ASSERT_TRUE(freed->let_go());
    pool.destroy(freed);
    std::vector<Small *> later;
    for (uint64_t i = 0; i < ObjectPool<Small>::usual_rest; ++i) {
        later.push_back(pool.create(i));
        ASSERT_NE(later.back(), freed);
    }
    EXPECT_FALSE(pool.holds(freed));
    for (Small *object : later) {
        ASSERT_TRUE(object->let_go());
        pool.destroy(object);
    }
    Small *first = pool.create(2u);
    EXPECT_EQ(first, freed) << "the slot that rested longest is used first";
    ASSERT_TRUE(first->let_go());
    pool.destroy(first);
}

TEST(Pool, WithoutRestTheLastFreedIsTakenNext) {
    ObjectPool<Small> pool(16, 0);
    Small *one = pool.create(1u), *other = pool.create(2u);
    for (Small *object : {one, other}) {
        ASSERT_TRUE(object->let_go());
        pool.destroy(object);
    }
    EXPECT_EQ(pool.create(3u), other);
    EXPECT_EQ(pool.create(4u), one);
}

// Creates and destroys objects at random; `plain_` holds what must exist.
template <class T>
class Player {
public:
    Player(uint64_t seed, size_t capacity) : random_(seed), capacity_(capacity), pool_(capacity) {}
    void play(int turns) {
        for (int turn = 0; turn < turns && !::testing::Test::HasFatalFailure(); ++turn) {
            if (random_.chance(turn / 200 % 2 ? 35 : 65)) make();
            else end_one();
            if (turn % 16 == 0) check_all();
        }
        check_all();
    }

private:
    void make() {
        uint64_t number = ++made_;
        T *object = pool_.create(number);
        ASSERT_EQ(object == nullptr, plain_.size() == capacity_)
            << "of " << capacity_ << " there are " << plain_.size();
        if (!object) return;
        ASSERT_EQ(reinterpret_cast<size_t>(object) % ObjectPool<T>::stride, 0u);
        ASSERT_TRUE(plain_.emplace(object, number).second) << "this slot is in use";
        ever_.insert(object);
    }
    void end_one() {
        if (plain_.empty()) return;
        auto place = std::next(plain_.begin(), static_cast<long>(random_.below(plain_.size())));
        T *object = place->first;
        ASSERT_TRUE(object->let_go());
        pool_.destroy(object);
        plain_.erase(place);
    }
    void check_all() {
        ASSERT_EQ(T::alive.load(), static_cast<int>(plain_.size()));
        std::map<T *, uint64_t> visited;
        pool_.each([&](T &object) { visited.emplace(&object, object.number); });
        ASSERT_EQ(visited, plain_);
        PoolView view = pool_.view();
        for (T *object : ever_) {
            bool alive = plain_.count(object) > 0;
            auto *bytes = reinterpret_cast<const char *>(object);
            ASSERT_EQ(pool_.holds(object), alive);
            ASSERT_EQ(view.holds(object), alive);
            ASSERT_LT(pool_.index(object), capacity_);
            ASSERT_EQ(pool_.at(pool_.index(object)), alive ? object : nullptr);
            for (size_t offset :
                 {size_t{1}, size_t{4}, size_t{8}, ObjectPool<T>::stride / 2, ObjectPool<T>::stride - 1})
                ASSERT_FALSE(pool_.holds(bytes + offset)) << "within an object";
            ASSERT_TRUE(!alive || object->whole());
        }
        for (size_t index : {ever_.size(), ever_.size() + 1, capacity_, capacity_ + 1})
            ASSERT_EQ(pool_.at(index), nullptr) << index;
    }

    sim::Random random_;
    size_t capacity_;
    ObjectPool<T> pool_;
    std::map<T *, uint64_t> plain_;
    std::set<T *> ever_;
    uint64_t made_ = 0;
};

template <class T>
void play(uint64_t seed) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    sim::Random random(seed);
    // A page has 64 small objects. So these capacities end within the first page, at its end and just behind
    // it, and far beyond it.
    size_t capacities[] = {1, 3, 63, 64, 65, 100, 150, static_cast<size_t>(random.between(1, 300)), 100'000};
    for (size_t capacity : capacities) {
        SCOPED_TRACE("capacity " + std::to_string(capacity));
        { Player<T>(seed, capacity).play(600); }
        ASSERT_EQ(T::alive.load(), 0) << "a pool ends what is left in it";
    }
}

TEST(ObjectPool, KnowsWhatIsAliveInRandomSequences) {
    for (uint64_t seed : sim::seeds(3)) {
        play<Small>(seed);
        play<Large>(seed);
        if (HasFailure()) return;
    }
}

// A handle that the program invented must be refused without being dereferenced.
TEST(ObjectPool, MayBeAskedAboutAnything) {
    ObjectPool<Small> pool(1000);
    auto holds = [&](size_t bits) { return pool.holds(reinterpret_cast<const void *>(bits)); };
    EXPECT_FALSE(pool.at(0));
    Small *object = pool.create(1u);
    auto address = reinterpret_cast<size_t>(object), stride = ObjectPool<Small>::stride;
    EXPECT_TRUE(holds(address));
    for (size_t bits : {size_t{0}, size_t{1}, stride, address - stride, address + stride,
                        address + 999 * stride, address + 1000 * stride, ~address, SIZE_MAX,
                        SIZE_MAX - stride + 1, SIZE_MAX / 2 + 1, address ^ size_t{1} << 63})
        EXPECT_FALSE(holds(bits)) << bits;
    for (size_t index : {size_t{1}, size_t{999}, size_t{1000}, SIZE_MAX, SIZE_MAX / stride + 1})
        EXPECT_EQ(pool.at(index), nullptr) << index;
    sim::Random random(sim::first_seed());
    for (int i = 0; i < 10'000; ++i) {
        size_t bits = random.next() >> random.below(64);
        ASSERT_EQ(holds(bits), bits == address) << bits;
    }
    EXPECT_FALSE(PoolView{}.holds(object));
    EXPECT_FALSE(PoolView{}.holds(nullptr));
}

// The pool grows into its third range. Objects in this range are found like those in the first range, and
// destroyed objects are not found.
TEST(ObjectPool, FindsWhatLiesInFurtherRanges) {
    using Page = Thing<3000>;
    constexpr size_t stride = ObjectPool<Page>::stride, first = PoolRanges::first_bytes / stride,
                     all = first * 8;
    ObjectPool<Page> pool(all, 0);
    PoolView view = pool.view();
    std::vector<Page *> made;
    for (size_t i = 0; i < all; ++i) {
        Page *object = pool.create(i);
        ASSERT_NE(object, nullptr) << i;
        made.push_back(object);
        ASSERT_EQ(pool.index(object), i);
        ASSERT_EQ(view.index(object), i);
    }
    EXPECT_EQ(pool.create(0u), nullptr) << "that is all it may hold";
    sim::Random random(sim::first_seed());
    std::set<size_t> ended;
    for (size_t turn = 0; turn < all / 2; ++turn) {
        size_t i = random.below(all);
        if (!ended.insert(i).second) continue;
        ASSERT_TRUE(made[i]->let_go());
        pool.destroy(made[i]);
    }
    for (size_t i = 0; i < all; ++i) {
        bool alive = !ended.contains(i);
        ASSERT_EQ(view.holds(made[i]), alive) << i;
        ASSERT_EQ(view.at(i), alive ? made[i] : nullptr) << i;
        ASSERT_EQ(pool.at(i), alive ? made[i] : nullptr) << i;
        ASSERT_FALSE(view.holds(reinterpret_cast<const char *>(made[i]) + 64)) << i;
    }
    EXPECT_EQ(view.at(all), nullptr);
    size_t visited = 0;
    pool.each([&](Page &) { ++visited; });
    EXPECT_EQ(visited, all - ended.size());
}

// With few addresses left, a pool takes shorter ranges, and it reports when none are left.
TEST(ObjectPool, GrowsAsFarAsAddressesLast) {
    if (under_valgrind()) GTEST_SKIP() << "valgrind needs addresses of its own";
    if (sanitized) GTEST_SKIP() << "sanitizers reserve more addresses than may be limited";
    using Page = Thing<3000>;
    auto run = [] {
        std::ifstream about("/proc/self/statm");
        size_t pages = 0;
        about >> pages;
        constexpr size_t more = size_t{24} << 20;
        rlimit few{pages * 4096 + more, pages * 4096 + more};
        setrlimit(RLIMIT_AS, &few);
        static ObjectPool<Page> pool(size_t{1} << 20);
        size_t made = 0;
        while (pool.create(made)) ++made;
        bool all_found = true;
        for (size_t i = 0; i < made; ++i) all_found = all_found && pool.at(i) && pool.at(i)->number == i;
        // At least half of the addresses are used: a range of 2 MiB, one of 8 MiB, and shorter ones.
        _exit(all_found && made * ObjectPool<Page>::stride > more / 2 ? 0 : 1);
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

// Each thread creates, inspects and destroys its own objects. Two threads with the same slot would see each
// other's numbers.
TEST(ObjectPool, GivesEachThreadItsOwn) {
    constexpr int threads = 4, rounds = 4000;
    uint64_t seed = sim::first_seed();
    SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
    ObjectPool<Small> pool(threads * 20);
    std::atomic<int> wrong{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            sim::Random random(seed * 100 + static_cast<uint64_t>(thread));
            std::vector<std::pair<Small *, uint64_t>> own;
            for (int round = 0; round < rounds; ++round) {
                uint64_t number = static_cast<uint64_t>(thread) << 32 | static_cast<uint64_t>(round);
                if (own.size() < 20 && random.chance(55)) {
                    Small *object = pool.create(number);
                    if (object) own.emplace_back(object, number);
                    else ++wrong;  // the pool has room for the objects of all threads
                } else if (!own.empty()) {
                    std::swap(random.pick(own), own.back());
                    auto [object, value] = own.back();
                    wrong += !pool.holds(object) || pool.at(pool.index(object)) != object ||
                             object->number != value || !object->whole();
                    object->let_go();
                    pool.destroy(object);
                    own.pop_back();
                }
            }
            for (auto [object, value] : own) wrong += object->number != value;
        });
    for (std::thread &thread : running) thread.join();
    EXPECT_EQ(wrong.load(), 0);
    int left = 0;
    pool.each([&](Small &) { ++left; });
    EXPECT_EQ(left, Small::alive.load());
}

}  // namespace
}  // namespace lanyard
