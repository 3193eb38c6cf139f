// Parses the command line of the benchmark programs; see settings.h.
#include "bench/programs/settings.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tools/command_line.h"

namespace lanyard::bench {

namespace {

std::invalid_argument not_a_size(const std::string& text) {
    return std::invalid_argument("'" + text +
                                 "' is not a size: write bytes such as 8, 64k, 1M, or a range 1-4M");
}

std::size_t parse_one_size(const std::string& text) {
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    auto [rest, problem] = std::from_chars(text.data(), end, number);
    std::string unit(rest, end);
    int shift = 0;
    if (unit == "k" || unit == "K") shift = 10;
    else if (unit == "m" || unit == "M") shift = 20;
    else if (unit == "g" || unit == "G") shift = 30;
    else if (!unit.empty()) shift = -1;
    if (problem != std::errc{} || shift < 0 || number > (SIZE_MAX >> (shift + 1)))
        throw not_a_size(text);
    return number << shift;
}

void add_range(std::vector<std::size_t>& sizes, const std::string& text, std::size_t dash) {
    if (dash + 1 == text.size()) throw not_a_size(text);
    std::size_t low = parse_one_size(text.substr(0, dash));
    std::size_t high = parse_one_size(text.substr(dash + 1));
    if (high < low)
        throw std::invalid_argument("the range '" + text + "' runs downwards: write the smaller size first");
    for (std::size_t size = low; size <= high; size = size ? 2 * size : 1) sizes.push_back(size);
}

// Returns a message about words on the command line that the program does not have, with the nearest option.
// Returns "" if there are no such words.
std::string unknown_words(const CLI::App& app) {
    if (app.remaining_size() == 0) return "";
    std::string word = app.remaining().back();  // this version of CLI11 stores them in reverse
    for (const std::string& other : app.remaining())
        if (other.front() == '-') word = other;
    if (word.front() != '-') return "does not know what to do with '" + word + "'";
    std::string nearest = tools::nearest_option(app, word);
    return "has no option '" + word + "'" + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
}

// Parses the command line, then calls `check`, which may throw std::invalid_argument. If the program must not
// run, `parsed` then has the text to print and the exit code.
template <class Check>
void parse(CLI::App& app, int argc, char** argv, Parsed& parsed, Check check) {
    const std::string name = name_of(app.get_name());
    app.set_version_flag("-V,--version", "bench-" + app.get_name() + " of Lanyard " LANYARD_VERSION);
    app.name(name);
    tools::spell_out_version(argc, argv);
    try {
        app.allow_extras();
        app.parse(argc, argv);
        if (std::string unknown = unknown_words(app); !unknown.empty()) throw std::invalid_argument(unknown);
        check();
        return;
    } catch (const CLI::CallForHelp&) {
        parsed.exit_code = 0;
        parsed.text = app.help();
    } catch (const CLI::CallForVersion& version) {
        parsed.exit_code = 0;
        parsed.text = version.what() + std::string("\n");
    } catch (const std::exception& problem) {  // CLI::ParseError and our own std::invalid_argument
        parsed.exit_code = 2;
        parsed.text = name + ": " + problem.what() + "\n" + name + " --help lists the options.\n";
    }
    parsed.run = false;
}

void offer_blocks(CLI::App& app, const Program& program, Settings& settings) {
    app.add_option("--blocks", settings.blocks, "Samples per size; the median is reported")
        ->capture_default_str()->check(CLI::Range(1, 1000000));
    if (!program.timed_blocks) return;
    app.add_option("--block-seconds", settings.block_seconds, "Length of one sample in seconds")
        ->capture_default_str()->check(CLI::Range(1e-6, 60.0));
}

void offer_window(CLI::App& app, Settings& settings) {
    app.add_option("--window", settings.window, "Messages under way at once")
        ->capture_default_str()->check(CLI::Range(1, 1 << 16));
}

void offer_windows(CLI::App& app, Settings& settings) {
    offer_window(app, settings);
    app.add_flag("--reuse", settings.reuse_buffer,
                 "Receive a whole window into one buffer. Other benchmarks do it and it stays in the cache, "
                 "but the standard does not allow it");
}

// Offers --threads. --pin excludes this option, because the threads of a pinned rank would share the rank's
// one processor.
void offer_threads(CLI::App& app, Settings& settings) {
    app.add_option("--threads", settings.threads,
                   "Numbers of threads of each rank that send or receive at once, each in its own "
                   "windows, such as 1,2,4,8: one row for each number. With this option, MPI is started "
                   "with MPI_THREAD_MULTIPLE, also for 1. Without it, one thread does everything and MPI "
                   "is started without threads")
        ->delimiter(',')
        ->check(CLI::Range(1, 256));
}

// Offers the options that only some programs have. Sizes are texts until they are parsed.
void offer_own(CLI::App& app, const Program& program, Settings& settings, std::string& beside) {
    if (!program.parts.empty())
        app.add_option("--parts", settings.parts, "What to measure, comma-separated")
            ->delimiter(',')->capture_default_str()->check(CLI::IsMember(program.parts));
    if (!program.patterns.empty())
        app.add_option(
               "--pattern", settings.pattern,
               "windows: half of the ranks send to the others, and wait for each window. tested: each "
               "rank sends to random others, and only tests for what is open")
            ->capture_default_str()
            ->check(CLI::IsMember(program.patterns));
    if (program.allocates)
        app.add_flag("--alloc-mem", settings.alloc_mem, "Messages from and to memory of MPI_Alloc_mem");
    if (!program.problems.empty())
        app.add_option("--class", settings.problem, "Size of the problem")
            ->capture_default_str()->transform(CLI::IsMember(program.problems, CLI::ignore_case));
    if (program.messages > 0)
        app.add_option("--messages", settings.messages, "Number of messages")
            ->capture_default_str()->check(CLI::Range(1L, 100000000L));
    if (program.works)
        app.add_option("--iterations", settings.iterations,
                       "Iterations of work; 0 takes 1.2 times as long as the transfer")
            ->capture_default_str()
            ->check(CLI::Range(0L, 1000000000000L));
    if (program.ranks > 0)
        app.add_option("--ranks", settings.ranks, "Number of processes")
            ->capture_default_str()
            ->check(CLI::Range(2L, 1024L));
    if (program.percentile)
        app.add_option("--percentile", settings.percentile,
                       "The time that this percentage of a sample's exchanges take at most, each timed "
                       "separately, instead of their mean. A sample of 10 ms has few exchanges: use "
                       "--block-seconds 0.5")
            ->check(CLI::Range(0.001, 100.0));
    if (program.peers > 0) {
        app.add_option("--peers", settings.peers,
                       "Other ranks with which each rank exchanges messages, nearest first")
            ->capture_default_str()
            ->check(CLI::Range(1L, 65536L));
        offer_window(app, settings);
    }
    if (!program.skews_us.empty())
        app.add_option("--skew", settings.skews_us,
                       "Microseconds by which one of two ranks comes late; the two take turns")
            ->delimiter(',')
            ->capture_default_str()
            ->check(CLI::Range(0.0, 1e6));
    if (program.beside)
        app.add_option("--beside", beside, "Keep a transfer of this size running on the same link");
}

Parsed parse_program(CLI::App& app, const Program& program, int argc, char** argv) {
    Parsed parsed;
    if (argc > 1 && std::strcmp(argv[1], "--check-options") == 0) {
        parsed.check_only = true;
        parsed.exit_code = options_are_good;
        --argc;
        ++argv;
    }
    Settings& settings = parsed.settings;
    settings.pin = program.pinned;
    settings.blocks = program.blocks;
    settings.parts = program.parts;
    if (!program.problems.empty()) settings.problem = program.problems.front();
    if (!program.patterns.empty()) settings.pattern = program.patterns.front();
    settings.messages = program.messages;
    settings.skews_us = program.skews_us;
    settings.ranks = program.ranks;
    settings.window = program.window;
    settings.peers = program.peers;
    std::string sizes = program.sizes, beside;

    if (!program.sizes.empty())
        app.add_option("-s,--sizes", sizes, "Sizes in bytes: 8, 64k, 1M, lists 8,1k and doubling ranges 1-4M")
            ->capture_default_str();
    offer_blocks(app, program, settings);
    if (program.windows) offer_windows(app, settings);
    if (program.threaded) offer_threads(app, settings);
    offer_own(app, program, settings, beside);
    if (!program.pinned) app.add_flag("--pin", settings.pin, "Pin rank n to the n-th processor it may use");
    app.add_flag("--json", settings.json, "Print one JSON object instead of a table");

    parse(app, argc, argv, parsed, [&] {
        if (!sizes.empty()) settings.sizes_bytes = parse_sizes(sizes);
        if (!beside.empty()) settings.beside_bytes = parse_sizes(beside).front();
        if (settings.percentile > 0 && settings.beside_bytes > 0)
            throw std::invalid_argument(
                "--percentile and --beside name their rows differently: leave one of them out");
        if (!settings.threads.empty() && settings.pin)
            throw std::invalid_argument(
                "--pin gives a rank one processor, and --threads wants more: leave one of them out");
        if (!settings.threads.empty() && settings.pattern == "tested")
            throw std::invalid_argument(
                "with --pattern tested, each rank has one thread: leave --threads out");
        if (settings.reuse_buffer && settings.pattern == "tested")
            throw std::invalid_argument("--reuse is for windows: leave it out with --pattern tested");
    });
    return parsed;
}

}  // namespace

std::string name_of(const std::string& benchmark) {
    constexpr std::string_view command = "lanyard bench ";
    bool by_command = std::string_view(program_invocation_name).starts_with(command);
    return (by_command ? std::string(command) : "bench-") + benchmark;
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
    std::vector<std::size_t> sizes;
    for (std::size_t start = 0; start <= text.size();) {
        std::size_t comma = std::min(text.find(',', start), text.size());
        std::string part = text.substr(start, comma - start);
        if (std::size_t dash = part.find('-'); dash != std::string::npos && dash > 0)
            add_range(sizes, part, dash);
        else sizes.push_back(parse_one_size(part));
        start = comma + 1;
    }
    return sizes;
}

Parsed parse_command_line(const Program& program, int argc, char** argv) {
    CLI::App app(program.purpose, program.name);
    return parse_program(app, program, argc, argv);
}

Parsed parse_bare_command_line(const std::string& transport, const Program& program, int argc, char** argv,
                               Ends& ends) {
    CLI::App app(program.purpose, transport + " " + program.name);
    if (program.ranks == 0) {
        app.add_option("--address", ends.address, "IPv4 address at which the other end listens")
            ->capture_default_str();
        app.add_option("--shell", ends.shell,
                       "Words that start the other end on another host, such as 'ssh h2'");
    }
    return parse_program(app, program, argc, argv);
}

Parsed parse_limits_command_line(int argc, char** argv, LimitsOptions& options) {
    Parsed parsed;
    CLI::App app(
        "What this machine allows without MPI: a bounced cache line, copies, messages through "
        "shared memory, TCP and UDP.",
        "limits");
    app.add_flag("--json", options.json, "Print one JSON object instead of a table");
    app.add_flag("--copies", options.all_copies,
                 "Print the times of every copy loop and slot size, not only the shortest");
    app.add_option("address", options.address, "IPv4 address of this machine for the TCP and UDP parts")
        ->capture_default_str();
    parse(app, argc, argv, parsed, [] {});
    return parsed;
}

}  // namespace lanyard::bench
