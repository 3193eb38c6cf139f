// Tests which log lines are shown and how they look. Lines are read back from standard error. Threads that
// log at the same time must not mix their lines.
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace lanyard {
namespace {

class LogTest : public ::testing::Test {
protected:
    ~LogTest() override {
        set_log("");
        set_log_name("");
    }
    // Returns what `body` writes to standard error.
    static std::string written_by(const auto &body) {
        ::testing::internal::CaptureStderr();
        body();
        return ::testing::internal::GetCapturedStderr();
    }
    // Returns whether a line of this level and part is shown.
    static bool shows(LogLevel level, const char *part) {
        return !written_by([&] { log(level, part, "x"); }).empty();
    }
};

TEST_F(LogTest, ShowsTheLevelAskedForAndThoseBelow) {
    const struct {
        const char *specification;
        int highest;
    } cases[] = {{nullptr, 0}, {"", 0}, {"info", 1}, {"debug", 2}, {"trace", 3}};
    for (auto [specification, highest] : cases) {
        ASSERT_TRUE(set_log(specification));
        for (LogLevel level : {LogLevel::warn, LogLevel::info, LogLevel::debug, LogLevel::trace}) {
            bool wanted = static_cast<int>(level) <= highest;
            EXPECT_EQ(log_enabled(level), wanted);
            EXPECT_EQ(shows(level, "shm"), wanted)
                << (specification ? specification : "nothing") << ", level " << static_cast<int>(level);
        }
    }
}

TEST_F(LogTest, ShowsThePartsAskedFor) {
    ASSERT_TRUE(set_log("debug,shm,p2p"));
    EXPECT_TRUE(shows(LogLevel::debug, "shm"));
    EXPECT_TRUE(shows(LogLevel::info, "p2p"));
    for (const char *other : {"sh", "shm2", "engine", ""})
        EXPECT_FALSE(shows(LogLevel::info, other)) << other;
    EXPECT_FALSE(shows(LogLevel::trace, "shm"));
    EXPECT_TRUE(shows(LogLevel::warn, "engine")) << "warnings are always shown";
    ASSERT_TRUE(set_log("info"));
    EXPECT_TRUE(shows(LogLevel::info, "engine")) << "the parts of an earlier call are forgotten";
}

TEST_F(LogTest, LeavesEverythingAsItWasWhenItDoesNotUnderstand) {
    ASSERT_TRUE(set_log("info,shm"));
    for (const char *wrong : {"Info", "debug ", "verbose", "2", "shm,info", "warn"})
        EXPECT_FALSE(set_log(wrong)) << wrong;
    EXPECT_TRUE(shows(LogLevel::info, "shm"));
    EXPECT_FALSE(shows(LogLevel::debug, "shm"));
    EXPECT_FALSE(shows(LogLevel::info, "p2p"));
}

TEST_F(LogTest, NamesTheRankAndThePart) {
    auto say = [] { log(LogLevel::warn, "paths", "%d of %s", 3, "four"); };
    EXPECT_EQ(written_by(say), "lanyard [paths] 3 of four\n");
    set_log_name("rank 3");
    EXPECT_EQ(written_by(say), "lanyard rank 3 [paths] 3 of four\n");
}

TEST_F(LogTest, CutsLongLinesAndStillEndsThem) {
    const std::string head = "lanyard [a] ";
    for (size_t length = 0; length < 5000; length += length < 2000 || length > 2100 ? 487 : 1) {
        std::string text(length, 'x');
        std::string line = written_by([&] { log(LogLevel::warn, "a", "%s", text.c_str()); });
        std::string whole = head + text + "\n";
        ASSERT_FALSE(line.empty());
        ASSERT_EQ(line.back(), '\n') << length;
        if (whole.size() < 2000) {
            ASSERT_EQ(line, whole);
        }
        line.pop_back();
        ASSERT_GE(line.size(), std::min<size_t>(whole.size() - 1, 2000)) << length;
        ASSERT_EQ(line, whole.substr(0, line.size())) << length;
    }
}

TEST_F(LogTest, WritesEachLineAtOnce) {
    constexpr int threads = 4, lines = 500;
    std::string text = written_by([] {
        std::vector<std::thread> running;
        for (int thread = 0; thread < threads; ++thread)
            running.emplace_back([thread] {
                std::string filling(static_cast<size_t>(thread) * 400, 'x');
                for (int i = 0; i < lines; ++i)
                    log(LogLevel::warn, "a", "%d %d %s.", thread, i, filling.c_str());
            });
        for (std::thread &thread : running) thread.join();
    });
    std::istringstream stream(text);
    int next[threads] = {};
    for (std::string line; std::getline(stream, line);) {
        int thread = -1, number = -1;
        ASSERT_EQ(std::sscanf(line.c_str(), "lanyard [a] %d %d", &thread, &number), 2) << line;
        ASSERT_TRUE(thread >= 0 && thread < threads) << line;
        ASSERT_EQ(number, next[thread]++) << line;
        std::string whole = "lanyard [a] " + std::to_string(thread) + " " + std::to_string(number) + " " +
                            std::string(static_cast<size_t>(thread) * 400, 'x') + ".";
        ASSERT_EQ(line, whole);
    }
    for (int count : next) EXPECT_EQ(count, lines);
}

}  // namespace
}  // namespace lanyard
