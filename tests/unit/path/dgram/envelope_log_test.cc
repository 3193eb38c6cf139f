// The log against a plain list, and which rings are kept.
#include "path/dgram/envelope_log.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "net/sim/random.h"

namespace lanyard::dgram {
namespace {

void append(EnvelopeLog &log, SpareRings &spare, const std::string &text) {
    Payload payload{reinterpret_cast<const std::byte *>(text.data()), text.size(), nullptr};
    log.append(Envelope{}, payload, spare);
}

TEST(EnvelopeLog, HoldsWhatAListHolds) {
    sim::Random random(1);
    SpareRings spare;
    EnvelopeLog logs[3];
    std::deque<std::string> lists[3];
    for (int step = 0; step < 20'000; ++step) {
        size_t which = random.below(3);
        EnvelopeLog &log = logs[which];
        std::deque<std::string> &list = lists[which];
        if (random.below(3) < 2) {
            list.emplace_back(random.below(200), static_cast<char>('a' + step % 26));
            append(log, spare, list.back());
        } else {
            size_t gone = random.below(8) == 0 ? list.size() : random.below(list.size() + 1);
            log.drop(log.begin() + gone, spare);
            list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        ASSERT_EQ(log.end() - log.begin(), list.size());
        size_t bytes = 0;
        for (size_t i = 0; i < list.size(); ++i) {
            const LogEntry &entry = log.at(log.begin() + i);
            ASSERT_EQ(std::string(reinterpret_cast<const char *>(entry.payload()), entry.size), list[i]);
            bytes += entry.size;
        }
        ASSERT_EQ(log.bytes(), bytes);
    }
}

TEST(EnvelopeLog, KeepsTheRingsOfEmptyLogsAsFarAsTheyAreFew) {
    SpareRings spare;
    EnvelopeLog log;
    for (int i = 0; i < 100; ++i) append(log, spare, "x");
    log.drop(100, spare);
    LogRing latest = spare.take();
    EXPECT_EQ(latest.entries, 128u) << "for who sends a lot";
    EXPECT_EQ(spare.take().entries, 64u) << "what it grew out of";
    spare = SpareRings();
    LogRing large{std::unique_ptr<LogEntry[]>(new LogEntry[512]), 512};
    spare.give(std::move(large));
    EXPECT_EQ(spare.take().entries, 0u) << "too large to be kept";
}

}  // namespace
}  // namespace lanyard::dgram
