// Tests the command line of the benchmark programs: sizes, defaults, and what is refused.
#include "bench/programs/settings.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace lanyard::bench {
namespace {

const Program latency{.name = "latency", .purpose = "Half round trip.", .sizes = "1-4M"};

Parsed parse(const Program& program, std::vector<std::string> words) {
    std::vector<char*> arguments{const_cast<char*>("bench")};
    for (std::string& word : words) arguments.push_back(word.data());
    return parse_command_line(program, static_cast<int>(arguments.size()), arguments.data());
}

TEST(Sizes, AreNumbersUnitsListsAndDoublingRanges) {
    EXPECT_EQ(parse_sizes("8"), (std::vector<std::size_t>{8}));
    EXPECT_EQ(parse_sizes("64k,1M,2G"), (std::vector<std::size_t>{65536, 1 << 20, std::size_t{2} << 30}));
    EXPECT_EQ(parse_sizes("1-8,100"), (std::vector<std::size_t>{1, 2, 4, 8, 100}));
    EXPECT_EQ(parse_sizes("0-4"), (std::vector<std::size_t>{0, 1, 2, 4}));
    EXPECT_EQ(parse_sizes("3-20"), (std::vector<std::size_t>{3, 6, 12}));
}

TEST(Sizes, RefuseWhatIsNotASizeWithASentenceThatNamesIt) {
    for (const char* text :
         {"", "8x", "k", "8,,9", "-8", "1.5k", "99999999999999999999", "17179869184G", "-4", "4-", "-"}) {
        try {
            parse_sizes(text);
            ADD_FAILURE() << "'" << text << "' was taken for a size";
        } catch (const std::invalid_argument& problem) {
            EXPECT_EQ(
                std::string(problem.what())
                    .rfind("'" + std::string(text == std::string("8,,9") ? "" : text) + "' is not a size", 0),
                0u)
                << problem.what();
        }
    }
    EXPECT_THROW(parse_sizes("8-4"), std::invalid_argument);
}

TEST(CommandLine, HasDefaults) {
    Parsed parsed = parse(latency, {});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(parsed.settings.sizes_bytes.size(), 23u);
    EXPECT_EQ(parsed.settings.blocks, 20);
    EXPECT_FALSE(parsed.settings.pin);
    EXPECT_FALSE(parsed.settings.json);
}

TEST(CommandLine, TakesItsOptions) {
    Program stream = latency;
    stream.windows = true;
    Parsed parsed = parse(stream, {"--sizes", "8", "--blocks", "3", "--block-seconds", "0.5", "--window",
                                   "16", "--reuse", "--pin", "--json"});
    ASSERT_TRUE(parsed.run) << parsed.text;
    EXPECT_EQ(parsed.settings.blocks, 3);
    EXPECT_EQ(parsed.settings.block_seconds, 0.5);
    EXPECT_EQ(parsed.settings.window, 16);
    EXPECT_TRUE(parsed.settings.reuse_buffer && parsed.settings.pin && parsed.settings.json);
}

TEST(CommandLine, RefusesWithExitCodeTwoAndTheProgramsName) {
    for (std::vector<std::string> words : {std::vector<std::string>{"--foo"},
                                           {"--blocks", "0"},
                                           {"--blocks", "many"},
                                           {"--sizes", "8x"},
                                           {"--window", "8"}}) {
        Parsed parsed = parse(latency, words);
        EXPECT_FALSE(parsed.run) << words[0];
        EXPECT_EQ(parsed.exit_code, 2) << words[0];
        EXPECT_EQ(parsed.text.rfind("bench-latency: ", 0), 0u) << parsed.text;
    }
}

TEST(CommandLine, HelpSucceeds) {
    Parsed parsed = parse(latency, {"--help"});
    EXPECT_FALSE(parsed.run);
    EXPECT_EQ(parsed.exit_code, 0);
    EXPECT_NE(parsed.text.find("--sizes"), std::string::npos);
}

TEST(CommandLine, AProgramThatPinsItselfNeedsNoWord) {
    Program line{.name = "line", .purpose = "A line.", .sizes = "", .pinned = true, .blocks = 100};
    Parsed parsed = parse(line, {});
    EXPECT_TRUE(parsed.settings.pin);
    EXPECT_EQ(parsed.settings.blocks, 100);
    EXPECT_TRUE(parsed.settings.sizes_bytes.empty());
    EXPECT_EQ(parse(line, {"--sizes", "8"}).exit_code, 2);
}

TEST(CommandLine, OffersWhatOnlySomeProgramsHave) {
    Program overlap{.name = "overlap",
                    .purpose = "Overlap.",
                    .sizes = "8",
                    .blocks = 15,
                    .timed_blocks = false,
                    .parts = {"receive", "send"},
                    .works = true};
    Parsed parsed = parse(overlap, {});
    EXPECT_EQ(parsed.settings.parts, (std::vector<std::string>{"receive", "send"}));
    EXPECT_EQ(parsed.settings.iterations, 0);
    parsed = parse(overlap, {"--parts", "send", "--iterations", "1000"});
    EXPECT_EQ(parsed.settings.parts, (std::vector<std::string>{"send"}));
    EXPECT_EQ(parsed.settings.iterations, 1000);
    EXPECT_EQ(parse(overlap, {"--parts", "send,take"}).exit_code, 2);
    EXPECT_EQ(parse(overlap, {"--block-seconds", "1"}).exit_code, 2);
    for (const char* word : {"--parts", "--messages", "--iterations", "--beside"})
        EXPECT_EQ(parse(latency, {word, "1"}).exit_code, 2) << word;
}

TEST(CommandLine, TakesAClassInEitherCase) {
    Program kernels{.name = "kernels", .purpose = "Kernels.", .sizes = "", .problems = {"S", "W"}};
    EXPECT_EQ(parse(kernels, {"--class", "w"}).settings.problem, "W");
    EXPECT_EQ(parse(kernels, {"--class", "W"}).settings.problem, "W");
    EXPECT_EQ(parse(kernels, {}).settings.problem, "S");
    EXPECT_EQ(parse(kernels, {"--class", "q"}).exit_code, 2);
}

TEST(CommandLine, CountsMessagesAndNamesATransferBeside) {
    Program unexpected{
        .name = "unexpected", .purpose = "Many.", .sizes = "", .messages = 1000, .beside = true};
    EXPECT_EQ(parse(unexpected, {}).settings.messages, 1000);
    Parsed parsed = parse(unexpected, {"--messages", "7", "--beside", "16M"});
    EXPECT_EQ(parsed.settings.messages, 7);
    EXPECT_EQ(parsed.settings.beside_bytes, std::size_t{16} << 20);
    EXPECT_EQ(parse(unexpected, {"--messages", "0"}).exit_code, 2);
    EXPECT_EQ(parse(unexpected, {"--beside", "much"}).exit_code, 2);
}

TEST(CommandLine, TakesNumbersOfThreadsWhereThereIsNoPinning) {
    Program rate{.name = "rate", .purpose = "Rate.", .sizes = "8", .windows = true, .threaded = true};
    EXPECT_TRUE(parse(rate, {}).settings.threads.empty());
    EXPECT_EQ(parse(rate, {"--threads", "1,2,4,8"}).settings.threads, (std::vector<int>{1, 2, 4, 8}));
    for (const char* number : {"0", "-1", "257", "two"})
        EXPECT_EQ(parse(rate, {"--threads", number}).exit_code, 2) << number;
    EXPECT_EQ(parse(rate, {"--threads", "2", "--pin"}).exit_code, 2);
    EXPECT_EQ(parse(latency, {"--threads", "2"}).exit_code, 2);
}

TEST(CommandLine, TakesAPercentileOfAQuietLink) {
    Program ping{.name = "latency", .purpose = "Latency.", .sizes = "8", .beside = true, .percentile = true};
    EXPECT_EQ(parse(ping, {}).settings.percentile, 0);
    EXPECT_EQ(parse(ping, {"--percentile", "99.9"}).settings.percentile, 99.9);
    for (const char* percent : {"0", "-1", "100.1", "most"})
        EXPECT_EQ(parse(ping, {"--percentile", percent}).exit_code, 2) << percent;
    EXPECT_EQ(parse(ping, {"--percentile", "99", "--beside", "1M"}).exit_code, 2);
    EXPECT_EQ(parse(latency, {"--percentile", "99"}).exit_code, 2);
}

TEST(CommandLine, OfBareTcpKnowsItsOtherEnd) {
    std::vector<char*> arguments{const_cast<char*>("latency"), const_cast<char*>("--shell"),
                                 const_cast<char*>("ssh h2")};
    Ends ends;
    Parsed parsed =
        parse_bare_command_line("tcp", latency, static_cast<int>(arguments.size()), arguments.data(), ends);
    EXPECT_TRUE(parsed.run) << parsed.text;
    EXPECT_EQ(ends.shell, "ssh h2");
    EXPECT_EQ(ends.address, "127.0.0.1");
}

TEST(CommandLine, OfATreeCountsItsProcessesAndHasNoOtherEnd) {
    Program tree{.name = "allreduce", .purpose = "A tree.", .sizes = "8", .ranks = 8};
    auto parse_tree = [&](std::vector<std::string> words) {
        std::vector<char*> arguments{const_cast<char*>("allreduce")};
        for (std::string& word : words) arguments.push_back(word.data());
        Ends ends;
        return parse_bare_command_line("tcp", tree, static_cast<int>(arguments.size()), arguments.data(),
                                       ends);
    };
    EXPECT_EQ(parse_tree({}).settings.ranks, 8);
    EXPECT_EQ(parse_tree({"--ranks", "3"}).settings.ranks, 3);
    EXPECT_EQ(parse_tree({"--ranks", "1"}).exit_code, 2);
    EXPECT_EQ(parse_tree({"--shell", "ssh h2"}).exit_code, 2);
    EXPECT_EQ(parse(latency, {"--ranks", "8"}).exit_code, 2);
}

}  // namespace
}  // namespace lanyard::bench
