// Matching against the slow, obvious thing: one list in order of arrival, looked through from the front.
#include <gtest/gtest.h>

#include <list>
#include <memory>

#include "p2p/match.h"
#include "path/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

// What the standard says, written down (MPI-5.0 3.5).
class ObviousQueue {
public:
    void add(MatchEntry &entry) { entries_.push_back(&entry); }
    void remove(MatchEntry &entry) { entries_.remove(&entry); }
    MatchEntry *find_receive(const MatchKey &message) {
        return find([&](const MatchEntry &entry) { return accepts(entry, message); });
    }
    MatchEntry *find_message(const MatchKey &receive) {
        return find([&](const MatchEntry &entry) { return accepts(receive, entry); });
    }
    size_t size() const { return entries_.size(); }
    MatchEntry *at(size_t i) { return *std::next(entries_.begin(), static_cast<std::ptrdiff_t>(i)); }

private:
    static bool accepts(const MatchKey &receive, const MatchKey &message) {
        if (receive.context != message.context) return false;
        if (receive.rank != any_source && receive.rank != message.rank) return false;
        if (receive.tag == any_tag) return message.tag >= 0;  // the library's own tags are negative
        return receive.tag == message.tag;
    }
    template <class Test>
    MatchEntry *find(Test test) {
        for (MatchEntry *entry : entries_)
            if (test(*entry)) return entry;
        return nullptr;
    }
    std::list<MatchEntry *> entries_;
};

struct Limits {
    uint64_t contexts, ranks, tags;
    int wildcards;  // percent
};

MatchKey random_key(sim::Random &random, const Limits &limits, bool receive) {
    MatchKey key{2 * random.below(limits.contexts), static_cast<int32_t>(random.below(limits.ranks)),
                 static_cast<int32_t>(random.below(limits.tags))};
    if (random.chance(5)) key.tag = -3 - key.tag;
    if (receive && random.chance(limits.wildcards)) key.rank = any_source;
    if (receive && random.chance(limits.wildcards)) key.tag = any_tag;
    return key;
}

// Grows, shrinks and runs empty again, so that the queue is scanned, hashed, hashed anew and scanned again.
void compare_with_obvious(uint64_t seed, bool receives) {
    sim::Random random(seed);
    Limits limits{1 + random.below(4), 1 + random.below(40), 1 + random.below(200), static_cast<int>(random.below(60))};
    std::list<std::unique_ptr<MatchEntry>> memory;  // all ever added; addresses are not used again
    MatchQueue queue;
    ObviousQueue obvious;
    int growth = 60;
    for (int i = 0; i < 4000; ++i) {
        if (i % 500 == 0) growth = static_cast<int>(random.between(20, 80));
        if (random.chance(growth)) {
            MatchEntry &entry = *memory.emplace_back(std::make_unique<MatchEntry>());
            static_cast<MatchKey &>(entry) = random_key(random, limits, receives);
            queue.add(entry);
            obvious.add(entry);
        } else if (obvious.size() && random.chance(20)) {
            MatchEntry &entry = *obvious.at(random.below(obvious.size()));  // a receive is cancelled
            queue.remove(entry);
            obvious.remove(entry);
            ASSERT_FALSE(entry.queued());
        } else {
            MatchKey key = random_key(random, limits, !receives);
            MatchEntry *found = receives ? queue.find_receive(key) : queue.find_message(key);
            ASSERT_EQ(found, receives ? obvious.find_receive(key) : obvious.find_message(key));
            if (found && random.chance(80)) {  // else a probe
                queue.remove(*found);
                obvious.remove(*found);
            }
        }
        ASSERT_EQ(queue.count(), obvious.size());
    }
    size_t place = 0;
    for (MatchEntry *entry = queue.first(); entry; entry = queue.after(*entry)) ASSERT_EQ(entry, obvious.at(place++));
    ASSERT_EQ(place, obvious.size());
}

TEST(MatchQueue, AgreesWithTheObviousQueueOnReceives) {
    for (uint64_t seed : sim::seeds(60)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        compare_with_obvious(seed, true);
        if (HasFatalFailure()) return;
    }
}

TEST(MatchQueue, AgreesWithTheObviousQueueOnMessages) {
    for (uint64_t seed : sim::seeds(60)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        compare_with_obvious(seed, false);
        if (HasFatalFailure()) return;
    }
}

TEST(MatchQueue, GivesAMessageToTheEarliestReceiveWhateverItsKind) {
    MatchQueue queue;
    std::vector<MatchEntry> others(100), wild(2), exact(2);
    for (size_t i = 0; i < others.size(); ++i) {
        static_cast<MatchKey &>(others[i]) = {2, static_cast<int32_t>(i), 7};
        queue.add(others[i]);  // enough to be hashed
    }
    static_cast<MatchKey &>(wild[0]) = static_cast<MatchKey &>(wild[1]) = {4, any_source, any_tag};
    static_cast<MatchKey &>(exact[0]) = static_cast<MatchKey &>(exact[1]) = {4, 3, 9};
    for (MatchEntry *entry : {&exact[0], &wild[0], &exact[1], &wild[1]}) queue.add(*entry);
    for (MatchEntry *entry : {&exact[0], &wild[0], &exact[1], &wild[1]}) {
        EXPECT_EQ(queue.find_receive({4, 3, 9}), entry);
        queue.remove(*entry);
    }
    EXPECT_EQ(queue.find_receive({4, 3, 9}), nullptr);
}

}  // namespace
}  // namespace lanyard
