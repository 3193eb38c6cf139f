// Tests the table of processes, and the arrays that grow with it.
#include "base/processes.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

TEST(Processes, OfTwoJobsWhoseNumbersAreTheSameAreTwo) {
    Processes processes(3);
    EXPECT_EQ(processes.append({3, 0}, 7), 3u);
    EXPECT_EQ(processes.append({3, 1}, 7), 4u);
    EXPECT_EQ(processes.append({9, 1}, 8), 5u);
    EXPECT_EQ(processes.count(), 6u);
    EXPECT_EQ(processes.find(ProcessName{0, 1}), 1u);
    EXPECT_EQ(processes.find(ProcessName{3, 1}), 4u);
    EXPECT_EQ(processes.find(ProcessName{9, 1}), 5u);
    EXPECT_EQ(processes.find(ProcessName{9, 0}), nobody);
    EXPECT_EQ(processes.find(ProcessName{4, 0}), nobody) << "the serial of another process is no name";
    EXPECT_EQ(processes.find(uint64_t{4}), 4u);
    EXPECT_EQ(processes.find(uint64_t{10}), 5u);
    EXPECT_EQ(processes.find(uint64_t{9}), nobody);
    EXPECT_EQ(processes.name(4), (ProcessName{3, 1}));
    EXPECT_EQ(processes.node(5), 8u);
    EXPECT_EQ(in_words({0, 4}) + ", " + in_words({3, 1}), "4, 1 of job 3");
}

// Processes are appended in any order, and earlier processes keep their numbers.
TEST(Processes, KeepTheirNumbersWhateverComes) {
    sim::for_seeds(20, 5, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        std::vector<ProcessName> left;
        for (uint32_t job : {0u, 10u, 40u, 41u})
            for (uint32_t number = 0; number < (job == 10 ? 30u : job == 40 ? 1u : 10u); ++number)
                left.push_back({job, number});
        Processes processes;
        std::map<ProcessName, uint32_t> known;
        while (!left.empty()) {
            size_t which = random.chance(50) ? 0 : random.below(left.size());
            uint32_t peer = processes.append(left[which], static_cast<uint32_t>(which));
            EXPECT_EQ(peer, known.size());
            known[left[which]] = peer;
            left.erase(left.begin() + static_cast<long>(which));
            for (auto [name, number] : known) {
                EXPECT_EQ(processes.name(number), name);
                EXPECT_EQ(processes.find(name), number);
                EXPECT_EQ(processes.find(name.serial()), number);
            }
            for (ProcessName name : left) EXPECT_EQ(processes.find(name), nobody);
            if (::testing::Test::HasFailure()) return false;
        }
        return true;
    });
}

// Sets the soft limit of a resource, as far as the hard limit allows, until the end of its scope.
class Limited {
public:
    Limited(__rlimit_resource resource, rlim_t limit) : resource_(resource) {
        getrlimit(resource, &before_);
        rlimit lower{std::min(limit, before_.rlim_max), before_.rlim_max};
        setrlimit(resource, &lower);
    }
    ~Limited() { setrlimit(resource_, &before_); }
    Limited(const Limited &) = delete;

private:
    __rlimit_resource resource_;
    rlimit before_{};
};

// The limit is larger than what any process uses, so it only shows that there is one.
TEST(Processes, OfALargeJobHaveRoomUnderALimitOfAddresses) {
    Limited limited(RLIMIT_AS, rlim_t{1} << 60);
    Processes processes(5000);
    EXPECT_EQ(processes.count(), 5000u);
}

// The nodes of these processes fill whole pages, so the next process needs more memory.
TEST(Processes, AreAsBeforeWhenMemoryIsRefused) {
    constexpr uint32_t first = 16384;
    Processes processes(first);
    uint32_t refused = 0;
    {
        Limited limited(RLIMIT_DATA, 4096);
        refused = processes.append({first, 0}, 7);
    }
    if (refused != nobody) GTEST_SKIP() << "this system does not limit memory";
    EXPECT_EQ(processes.count(), first);
    EXPECT_EQ(processes.find(ProcessName{first, 0}), nobody);
    EXPECT_EQ(processes.append({first, 0}, 7), first);
    EXPECT_EQ(processes.find(ProcessName{first, 0}), first);
    EXPECT_EQ(processes.node(first), 7u);
}

struct Heavy {
    explicit Heavy(size_t n) : number(n), text(std::make_unique<size_t>(n)) {}
    Heavy(const Heavy &) = delete;
    size_t number;
    std::unique_ptr<size_t> text;
    char more[200] = {};
};

TEST(Growing, NeverMovesWhatIsThere) {
    Growing<Heavy> growing(4);
    std::vector<Heavy *> all;
    for (size_t i = 0; i < 20'000; ++i) {
        all.push_back(growing.append(i));
        ASSERT_NE(all.back(), nullptr);
    }
    ASSERT_EQ(growing.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(&growing[i], all[i]);
        ASSERT_EQ(*growing[i].text, i);
    }
}

TEST(Growing, ShowsOthersWholeElements) {
    Growing<std::pair<size_t, size_t>> growing;
    std::atomic<bool> over{false};
    std::thread reader([&] {
        while (!over)
            for (size_t i = growing.size(); i-- > 0;) EXPECT_EQ(growing[i].first, growing[i].second + 1);
    });
    for (size_t i = 0; i < 2'000; ++i) growing.append(i + 1, i);
    over = true;
    reader.join();
}

}  // namespace
}  // namespace lanyard
