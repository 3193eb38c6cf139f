// Defines run_bare(), the common part of bench-tcp and bench-udp. These programs differ only in their
// patterns. See tcp.h.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/programs/pin.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {
namespace {

std::string capitals(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return text;
}

std::string names_of(std::span<const Pattern> patterns, const char* between, const char* before_last) {
    std::string text;
    for (const Pattern& pattern : patterns) {
        bool last = &pattern == &patterns.back();
        text += (text.empty() ? "" : last ? before_last : between) + pattern.program.name;
    }
    return text;
}

bool has_tree(const Pattern& pattern) { return pattern.measure_tree != nullptr; }

std::string help(const std::string& transport, std::span<const Pattern> patterns) {
    std::string name = name_of(transport), all_but;
    for (const Pattern& pattern : patterns)
        if (has_tree(pattern)) all_but = "all but " + pattern.program.name + " take ";
    return fmt::format(
        "Bare {} with the sizes, writes and patterns of the MPI programs of the same name.\n"
        "Usage: {} {} [OPTIONS]\n"
        "       {} PATTERN --help lists the options of one; {}"
        "--address and --shell to reach another host.\n\n"
        "Options:\n"
        "  -h,--help       Print this help message and exit\n"
        "  -V,--version    Display program version information and exit\n",
        capitals(transport), name, names_of(patterns, "|", "|"), name, all_but.empty() ? "with " : all_but);
}

int serve(int argc, char** argv) {
    if (argc > 3 && std::strcmp(argv[3], "--pin") == 0) pin_to_processor(1);
    serve_at(argv[2]);
    return 0;
}

int measure(const std::string& transport, const Pattern& pattern, int argc, char** argv) {
    Ends ends;
    Parsed parsed = parse_bare_command_line(transport, pattern.program, argc, argv, ends);
    if (!parsed.run || parsed.check_only) {
        std::fputs(parsed.text.c_str(), parsed.exit_code == 2 ? stderr : stdout);
        return parsed.exit_code;
    }
    const Settings& settings = parsed.settings;
    std::optional<OtherEnd> other;
    if (!has_tree(pattern)) other.emplace(ends, settings.pin);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    int ranks = has_tree(pattern) ? static_cast<int>(settings.ranks) : 2;
    Report report(transport + " " + pattern.program.name, "raw " + capitals(transport), host, ranks,
                  pattern.columns, settings.json, true);
    if (other) pattern.measure(other->connection(), settings, report);
    else pattern.measure_tree(settings, report);
    report.finish();
    return 0;
}

int run(const std::string& transport, std::span<const Pattern> patterns, int argc, char** argv) {
    std::string word = argc > 1 ? argv[1] : "", name = name_of(transport);
    if (word == "serve" && argc > 2) return serve(argc, argv);
    for (const Pattern& pattern : patterns)
        if (word == pattern.program.name) return measure(transport, pattern, argc - 1, argv + 1);
    if (word == "-h" || word == "--help") return std::fputs(help(transport, patterns).c_str(), stdout), 0;
    if (word == "-V" || word == "--version" || word == "-version")
        return fmt::print("bench-{} of Lanyard " LANYARD_VERSION "\n", transport), 0;
    if (word.empty()) fmt::print(stderr, "{}: which pattern?", name);
    else if (word.front() == '-') fmt::print(stderr, "{}: has no option '{}'", name, word);
    else fmt::print(stderr, "{}: there is no pattern '{}'", name, word);
    fmt::print(stderr, "; there {} {}.\n{} --help tells more.\n", patterns.size() > 1 ? "are" : "is",
               names_of(patterns, ", ", " and "), name);
    return 2;
}

}  // namespace

int run_bare(const std::string& transport, std::span<const Pattern> patterns, int argc, char** argv) {
    try {
        return run(transport, patterns, argc, argv);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench-{}: {}\n", transport, problem.what());
        return 1;
    }
}

}  // namespace lanyard::bench
