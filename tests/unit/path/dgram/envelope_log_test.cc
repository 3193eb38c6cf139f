// Compares the log with a plain list, and tests the memory that the log takes from the pool.
#include "path/dgram/envelope_log.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "net/sim/random.h"

namespace lanyard::dgram {
namespace {

void append(EnvelopeLog &log, BytePool &pool, const std::string &text) {
    Payload payload{reinterpret_cast<const std::byte *>(text.data()), text.size(), nullptr};
    log.append(Envelope{}, payload, pool);
}

TEST(EnvelopeLog, HoldsWhatAListHolds) {
    sim::Random random(1);
    BytePool pool;
    EnvelopeLog logs[3];
    std::deque<std::string> lists[3];
    for (int step = 0; step < 20'000; ++step) {
        size_t which = random.below(3);
        EnvelopeLog &log = logs[which];
        std::deque<std::string> &list = lists[which];
        if (random.below(3) < 2) {
            list.emplace_back(random.below(200), static_cast<char>('a' + step % 26));
            append(log, pool, list.back());
        } else {
            size_t gone = random.below(8) == 0 ? list.size() : random.below(list.size() + 1);
            log.drop(log.begin() + gone, pool);
            list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        ASSERT_EQ(log.end() - log.begin(), list.size());
        size_t bytes = 0;
        for (size_t i = 0; i < list.size(); ++i) {
            const LogEntry &entry = log.at(log.begin() + i);
            ASSERT_EQ(std::string(reinterpret_cast<const char *>(entry.payload()), entry.size), list[i]);
            bytes += LogEntry::bytes_with(entry.size);
        }
        ASSERT_EQ(log.bytes(), bytes);
    }
    for (EnvelopeLog &log : logs) log.drop(log.end(), pool);
    EXPECT_EQ(pool.used_bytes(), 0u);
}

TEST(EnvelopeLog, HasNothingWhenItIsEmpty) {
    BytePool pool;
    EnvelopeLog log;
    for (int i = 0; i < 100; ++i) append(log, pool, std::string(static_cast<size_t>(i * 20), 'x'));
    EXPECT_GT(pool.used_bytes(), 50u * 1024);
    log.drop(100, pool);
    EXPECT_EQ(pool.used_bytes(), 0u);
    pool.shrink();
    EXPECT_EQ(pool.held_bytes(), 0u);
}

}  // namespace
}  // namespace lanyard::dgram
