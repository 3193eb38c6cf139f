// Compares matching with a slow and obvious implementation: one list in order of arrival, searched from the
// front. Also tests the memory that a stored message takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "p2p/match.h"
#include "p2p/unexpected.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

// The standard's matching rules (MPI-5.0 3.5).
template <class Entry>
class ObviousQueue {
public:
    void add(Entry &entry) { entries_.push_back(&entry); }
    void remove(Entry &entry) { entries_.remove(&entry); }
    Entry *find_receive(const MatchKey &message) {
        return find([&](const Entry &entry) { return accepts(entry, message); });
    }
    Entry *find_message(const MatchKey &receive) {
        return find([&](const Entry &entry) { return accepts(receive, entry); });
    }
    size_t size() const { return entries_.size(); }
    Entry *at(size_t i) { return *std::next(entries_.begin(), static_cast<std::ptrdiff_t>(i)); }

private:
    static bool accepts(const MatchKey &receive, const MatchKey &message) {
        if (receive.context != message.context) return false;
        if (receive.rank != any_source && receive.rank != message.rank) return false;
        if (receive.tag == any_tag) return message.tag >= 0;  // the library's own tags are negative
        return receive.tag == message.tag;
    }
    template <class Test>
    Entry *find(Test test) {
        for (Entry *entry : entries_)
            if (test(*entry)) return entry;
        return nullptr;
    }
    std::list<Entry *> entries_;
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

Limits random_limits(sim::Random &random) {
    return {1 + random.below(4), 1 + random.below(40), 1 + random.below(200),
            static_cast<int>(random.below(60))};
}

// Both queues grow, shrink and become empty again, so the queue under test is scanned, hashed, rehashed and
// scanned again.
void compare_receives(uint64_t seed) {
    sim::Random random(seed);
    Limits limits = random_limits(random);
    // Every entry ever added, so that no address is used twice.
    std::list<std::unique_ptr<MatchEntry>> memory;
    MatchQueue queue;
    ObviousQueue<MatchEntry> obvious;
    int growth = 60;
    for (int i = 0; i < 4000; ++i) {
        if (i % 500 == 0) growth = static_cast<int>(random.between(20, 80));
        if (random.chance(growth)) {
            MatchEntry &entry = *memory.emplace_back(std::make_unique<MatchEntry>());
            static_cast<MatchKey &>(entry) = random_key(random, limits, true);
            queue.add(entry);
            obvious.add(entry);
        } else if (obvious.size() && random.chance(20)) {
            MatchEntry &entry = *obvious.at(random.below(obvious.size()));  // a receive that is cancelled
            queue.remove(entry);
            obvious.remove(entry);
            ASSERT_FALSE(entry.queued());
        } else {
            MatchKey key = random_key(random, limits, false);
            MatchEntry *found = queue.find_receive(key);
            ASSERT_EQ(found, obvious.find_receive(key));
            if (found && random.chance(80)) {
                queue.remove(*found);
                obvious.remove(*found);
            }
        }
        ASSERT_EQ(queue.count(), obvious.size());
    }
    size_t place = 0;
    for (MatchEntry *entry = queue.first(); entry; entry = queue.after(*entry))
        ASSERT_EQ(entry, obvious.at(place++));
    ASSERT_EQ(place, obvious.size());
}

struct Arrival {
    Envelope envelope;
    uint32_t peer;
    std::vector<std::byte> payload;
};

Arrival random_arrival(sim::Random &random, const MatchKey &key) {
    bool offers = random.chance(30);
    auto most = static_cast<uint64_t>(random.chance(80) ? 40 : 3000);
    Arrival arrival{{}, static_cast<uint32_t>(random.below(Unexpected::most_peers)), {}};
    arrival.payload.resize(offers ? Unexpected::offer_bytes + (random.chance(50) ? 0 : random.below(most))
                                  : random.below(most));
    for (std::byte &byte : arrival.payload) byte = static_cast<std::byte>(random.below(256));
    arrival.envelope = {.context = key.context,
                        .source = key.rank,
                        .tag = key.tag,
                        .length = offers ? uint64_t{1} << random.below(64) : arrival.payload.size(),
                        .kind = offers ? EnvelopeKind::rendezvous : EnvelopeKind::eager,
                        .flags = 0,
                        .credit = 0,
                        .check = 0};
    return arrival;
}

void expect_unchanged(const Unexpected &message, const Arrival &arrival) {
    Envelope envelope = message.envelope();
    ASSERT_EQ(std::memcmp(&envelope, &arrival.envelope, sizeof envelope), 0);
    ASSERT_EQ(message.peer, arrival.peer);
    ASSERT_EQ(std::vector<std::byte>(message.payload(), message.payload() + message.size()), arrival.payload);
}

// The queue under test, the obvious queue, the messages put into them, and the messages taken but not yet
// dropped.
struct Messages {
    sim::Random random;
    Limits limits = random_limits(random);
    UnexpectedQueue queue;
    ObviousQueue<Unexpected> obvious;
    std::map<Unexpected *, Arrival> arrivals;
    std::vector<Unexpected *> taken;

    explicit Messages(uint64_t seed) : random(seed) {}
    void add() {
        Arrival arrival = random_arrival(random, random_key(random, limits, false));
        Unexpected &message =
            queue.add(arrival.peer, arrival.envelope, arrival.payload.data(), arrival.payload.size());
        obvious.add(message);
        ASSERT_TRUE(arrivals.emplace(&message, std::move(arrival)).second) << "the memory of another message";
    }
    void take(Unexpected &message) {
        queue.take(message);
        obvious.remove(message);
        taken.push_back(&message);
    }
    void drop() {
        if (taken.empty()) return;
        std::swap(taken[random.below(taken.size())], taken.back());
        expect_unchanged(*taken.back(), arrivals[taken.back()]);
        arrivals.erase(taken.back());
        queue.drop(*taken.back());
        taken.pop_back();
    }
    void find() {
        MatchKey key = random_key(random, limits, true);
        Unexpected *found = queue.find(key);
        ASSERT_EQ(found, obvious.find_message(key));
        if (!found) return;
        expect_unchanged(*found, arrivals[found]);
        if (random.chance(80)) take(*found);  // otherwise it was a probe
    }
};

void compare_messages(uint64_t seed) {
    Messages messages(seed);
    int growth = 60;
    for (int i = 0; i < 4000; ++i) {
        if (i % 500 == 0) growth = static_cast<int>(messages.random.between(20, 80));
        size_t queued = messages.obvious.size();
        if (messages.random.chance(growth)) messages.add();
        // The sender of a message cancels it.
        else if (queued && messages.random.chance(20))
            messages.take(*messages.obvious.at(messages.random.below(queued)));
        else messages.find();
        while (messages.taken.size() > 5 || (messages.taken.size() && messages.random.chance(50)))
            messages.drop();
        ASSERT_EQ(messages.queue.count(), messages.obvious.size());
        if (::testing::Test::HasFatalFailure()) return;
    }
    size_t place = 0;
    for (Unexpected *message = messages.queue.first(); message; message = messages.queue.after(*message))
        ASSERT_EQ(message, messages.obvious.at(place++));
    ASSERT_EQ(place, messages.obvious.size());
    while (messages.taken.size()) messages.drop();
    size_t own_memory = 0;
    for (const auto &[message, arrival] : messages.arrivals)
        if (message->form >= Unexpected::kept) own_memory += arrival.payload.size();
    EXPECT_EQ(messages.queue.payload_bytes(), own_memory);
}

// The program has promised something about some contexts (promises.h), and keeps its promises. In most
// contexts, a message must find the same receive as in the obvious queue. In a context where messages may
// overtake each other, a message must find a receive if and only if one fits.
void compare_with_promises(uint64_t seed) {
    sim::Random random(seed);
    Limits limits = random_limits(random);
    limits.contexts = 6;
    std::list<std::unique_ptr<MatchEntry>> memory;
    MatchQueue queue;
    ObviousQueue<MatchEntry> obvious;
    const std::map<uint64_t, uint8_t> promised = {{2, promise::no_wildcards},
                                                  {4, promise::allow_overtaking | promise::exact_length},
                                                  {6, promise::no_any_source},
                                                  {8, promise::no_any_tag}};
    for (const auto &[context, promises] : promised) queue.promises().set(context, promises);
    auto broken = [&](const MatchKey &key) {
        auto found = promised.find(key.context);
        uint8_t promises = found == promised.end() ? 0 : found->second;
        return (key.rank == any_source && (promises & promise::no_any_source)) ||
               (key.tag == any_tag && (promises & promise::no_any_tag));
    };
    for (int i = 0; i < 4000; ++i) {
        if (random.chance(i % 1000 < 500 ? 65 : 35)) {
            MatchEntry &entry = *memory.emplace_back(std::make_unique<MatchEntry>());
            do static_cast<MatchKey &>(entry) = random_key(random, limits, true);
            while (broken(entry));
            queue.add(entry);
            obvious.add(entry);
            continue;
        }
        MatchKey key = random_key(random, limits, false);
        MatchEntry *found = queue.find_receive(key), *wanted = obvious.find_receive(key);
        ASSERT_EQ(found != nullptr, wanted != nullptr);
        if (!found) continue;
        if (key.context == 4) {
            ASSERT_TRUE(fits(*found, key));
        } else {
            ASSERT_EQ(found, wanted);
        }
        queue.remove(*found);
        obvious.remove(*found);
    }
}

TEST(MatchQueue, AgreesWithTheObviousQueueWherePromisesAreKept) {
    for (uint64_t seed : sim::seeds(60)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        compare_with_promises(seed);
        if (HasFatalFailure()) return;
    }
}

// The nanoseconds needed to match a message, or to find that no receive fits, while many receives of all
// forms are posted on another communicator.
double time_to_match(uint8_t promised, bool is_expected) {
    std::vector<MatchEntry> others(2000), exact(200);
    MatchQueue queue;
    for (size_t i = 0; i < others.size(); ++i) {
        constexpr MatchKey forms[] = {
            {2, any_source, 5}, {2, 1, any_tag}, {2, any_source, any_tag}, {2, 1, 5}};
        static_cast<MatchKey &>(others[i]) = forms[i % std::size(forms)];
        queue.add(others[i]);
    }
    for (size_t i = 0; i < exact.size(); ++i) {
        static_cast<MatchKey &>(exact[i]) = {4, static_cast<int32_t>(i), 5};
        queue.add(exact[i]);
    }
    queue.promises().set(4, promised);
    constexpr int times = 500;
    double least_ns = 1e18;
    for (int turn = 0; turn < 5; ++turn) {
        uint64_t begin = clock_ns();
        for (int i = 0; i < times; ++i) {
            MatchKey key{4, static_cast<int32_t>(i % 200) + (is_expected ? 0 : 1000), 5};
            EXPECT_EQ(queue.find_receive(key), is_expected ? &exact[static_cast<size_t>(i % 200)] : nullptr);
        }
        least_ns = std::min(least_ns, static_cast<double>(clock_ns() - begin) / times);
    }
    return least_ns;
}

// A scan of the 2,000 other receives would take a hundred times as long.
TEST(MatchQueue, FindsWildcardsByHashToo) {
    constexpr struct {
        const char *name;
        uint8_t promised;
    } rows[] = {{"nothing promised", 0},
                {"no_any_source", promise::no_any_source},
                {"no_any_tag", promise::no_any_tag},
                {"neither", promise::no_wildcards},
                {"allow_overtaking", promise::allow_overtaking}};
    double least = time_to_match(promise::no_wildcards, true);
    for (const auto &[name, promised] : rows) {
        double expected = time_to_match(promised, true), unexpected = time_to_match(promised, false);
        std::printf(
            "2000 receives on another communicator, %s: %.0f ns a match, %.0f ns where there is none\n", name,
            expected, unexpected);
        EXPECT_LT(expected, 30 * least);
        EXPECT_LT(unexpected, 30 * least);
    }
}

TEST(Promises, AreKeptByContext) {
    Promises promises;
    EXPECT_FALSE(promises.any());
    for (uint64_t context : {8, 2, 6, 4}) promises.set(context, static_cast<uint8_t>(context));
    promises.set(6, 1);
    promises.set(4, 0);
    promises.set(10, 0);
    EXPECT_EQ(promises.of(2), 2);
    EXPECT_EQ(promises.of(4), 0);
    EXPECT_EQ(promises.of(6), 1);
    EXPECT_EQ(promises.of(8), 8);
    EXPECT_EQ(promises.of(7), 0);
    EXPECT_TRUE(promises.any());
    for (uint64_t context : {2, 6, 8}) promises.set(context, 0);
    EXPECT_FALSE(promises.any());
}

TEST(MatchQueue, AgreesWithTheObviousQueue) {
    for (uint64_t seed : sim::seeds(60)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        compare_receives(seed);
        if (HasFatalFailure()) return;
    }
}

TEST(UnexpectedQueue, AgreesWithTheObviousQueue) {
    for (uint64_t seed : sim::seeds(60)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        compare_messages(seed);
        if (HasFatalFailure()) return;
    }
}

void add_word(UnexpectedQueue &queue, int32_t tag, uint64_t word) {
    Envelope envelope{.context = 2,
                      .source = 0,
                      .tag = tag,
                      .length = sizeof word,
                      .kind = EnvelopeKind::eager,
                      .flags = 0,
                      .credit = 0,
                      .check = 0};
    queue.add(1, envelope, reinterpret_cast<const std::byte *>(&word), sizeof word);
}

uint64_t receive_word(UnexpectedQueue &queue, const MatchKey &key) {
    uint64_t word = UINT64_MAX;
    if (Unexpected *message = queue.find(key)) {
        std::memcpy(&word, message->payload(), sizeof word);
        queue.take(*message);
        queue.drop(*message);
    }
    return word;
}

constexpr int32_t many = 100'000;

TEST(UnexpectedQueue, TakesAtMost64BytesForAMessageAndGivesThemBack) {
    UnexpectedQueue queue;
    for (int round = 0; round < 2; ++round) {
        for (int32_t i = 0; i < many; ++i) {
            add_word(queue, i, static_cast<uint64_t>(i));
            ASSERT_LE(queue.bytes(), 64 * std::max<size_t>(queue.count(), 100)) << "after message " << i;
        }
        EXPECT_EQ(queue.payload_bytes(), 0u);
        for (int32_t i = many - 1; i >= 0; --i)
            ASSERT_EQ(receive_word(queue, {2, 0, i}), static_cast<uint64_t>(i));
        EXPECT_LE(queue.bytes(), 16'384u);
        EXPECT_LE(queue.reserved_bytes(), size_t{1} << 20);
    }
}

// This test would take minutes if each message were searched for among the others.
TEST(UnexpectedQueue, KeepsTheOrderOfManyMessagesWithOneKey) {
    UnexpectedQueue queue;
    for (bool wild : {false, true}) {
        for (int32_t i = 0; i < many; ++i) add_word(queue, 7, static_cast<uint64_t>(i));
        for (int32_t i = 0; i < many; ++i)
            ASSERT_EQ(receive_word(queue, {2, wild ? any_source : 0, wild ? any_tag : 7}),
                      static_cast<uint64_t>(i));
        EXPECT_EQ(queue.count(), 0u);
    }
}

TEST(MatchQueue, GivesAMessageToTheEarliestReceiveWhateverItsKind) {
    MatchQueue queue;
    std::vector<MatchEntry> others(100), wild(2), exact(2);
    for (size_t i = 0; i < others.size(); ++i) {
        static_cast<MatchKey &>(others[i]) = {2, static_cast<int32_t>(i), 7};
        queue.add(others[i]);  // enough entries that the queue is hashed
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
