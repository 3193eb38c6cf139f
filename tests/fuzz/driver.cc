// Drives a fuzz target without libFuzzer: runs every file of its corpus, then mutations of them.
//
//     fuzz-TARGET CORPUS...            files, or folders of files; mutations for a share of
//                                      LANYARD_TEST_SECONDS
//     fuzz-TARGET --write DIR CORPUS   writes the inputs in the form that libFuzzer reads, and ends
//
// Mutation number n is made from the seed LANYARD_TEST_SEED + n alone, so the seed that is printed with a
// failure repeats it at once. An input that takes more than ten seconds counts as a hang.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/description.h"
#include "fuzz/fuzz.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

extern "C" {
// From the sanitizers, if the driver is built with them.
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
}

namespace lanyard::fuzz {
namespace {

constexpr unsigned patience_s = 10;
constexpr int share_percent = 10;  // of LANYARD_TEST_SECONDS, for each of eight targets
constexpr size_t longest_input = 8192;
constexpr size_t most_shown = 2000;

struct Case {
    std::string name, bytes;
};

// The input that is being run, for the report of a failure.
Case current;

// Prints the input in C's notation, so that it can be pasted into a program or a printf.
void report() {
    std::fprintf(stderr, "the input was %s, %zu bytes: \"", current.name.c_str(), current.bytes.size());
    for (unsigned char c : current.bytes.substr(0, most_shown))
        if (c == '\n') std::fprintf(stderr, "\\n");
        else if (c < ' ' || c > 126 || c == '"' || c == '\\') std::fprintf(stderr, "\\%03o", c);
        else std::fprintf(stderr, "%c", c);
    std::fprintf(stderr, "\"%s\n", current.bytes.size() > most_shown ? "..." : "");
}

void on_signal(int number) {
    if (number == SIGALRM) std::fprintf(stderr, "no end after %u s\n", patience_s);
    report();
    signal(number, SIG_DFL);
    raise(number);
}

void run(const Case &one) {
    current = one;
    alarm(patience_s);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(one.bytes.data()), one.bytes.size());
    alarm(0);
}

Case read_case(const std::filesystem::path &file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    return {file.filename().string(),
            file.extension() == ".bytes" ? bytes_of_description(text, file.string()) : text};
}

// The cases, in the order of their names.
std::vector<Case> read_corpus(const std::vector<std::string> &places) {
    std::vector<std::filesystem::path> files;
    for (const std::string &place : places) {
        if (!std::filesystem::is_directory(place)) files.emplace_back(place);
        else
            for (const auto &entry : std::filesystem::directory_iterator(place))
                files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Case> cases;
    for (const auto &file : files) cases.push_back(read_case(file));
    return cases;
}

// A number at the edge of some range: mostly as text if there are digits nearby, otherwise as bytes.
std::string interesting(sim::Random &random, const std::string &near) {
    static constexpr auto texts =
        std::to_array<const char *>({"0", "-1", "1", "255", "65535", "65536", "2147483647", "-2147483648",
                                     "4294967295", "99999999999999999999", " ", "\n"});
    static constexpr auto edges =
        std::to_array<uint64_t>({0, 1, 127, 128, 255, 256, 65535, 65536, 262144, 262145, INT32_MAX,
                                 UINT32_MAX, INT64_MAX, UINT64_MAX});
    if (!near.empty() && std::any_of(near.begin(), near.end(), isdigit) && random.chance(70))
        return random.pick(texts);
    uint64_t value = random.pick(edges);
    std::string bytes;
    for (size_t width = size_t{1} << random.below(4); bytes.size() < width; value >>= 8)
        bytes += static_cast<char>(value & 255);
    return bytes;
}

void mutate_once(std::string &bytes, const std::vector<Case> &corpus, sim::Random &random) {
    size_t at = random.below(bytes.size() + 1),
           length = std::min<size_t>(random.below(random.chance(80) ? 9 : 200), bytes.size() - at);
    switch (random.below(7)) {
        case 0: bytes.erase(at, length); break;
        case 1: bytes.insert(at, interesting(random, bytes.substr(at, length))); break;
        case 2: bytes.replace(at, length, interesting(random, bytes.substr(at, length))); break;
        case 3:
            if (at < bytes.size())
                bytes[at] =
                    static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << random.below(8)));
            break;
        case 4: bytes.insert(random.below(bytes.size() + 1), bytes.substr(at, length)); break;
        case 5: {  // the end of another input
            const std::string &other = random.pick(corpus).bytes;
            bytes = bytes.substr(0, at) + other.substr(random.below(other.size() + 1));
            break;
        }
        default:
            for (size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(random.next());
    }
}

Case mutation(const std::vector<Case> &corpus, uint64_t seed) {
    sim::Random random(seed);
    std::string bytes = random.pick(corpus).bytes;
    for (uint64_t times = 1 + random.below(6); times > 0; --times) mutate_once(bytes, corpus, random);
    bytes.resize(std::min(bytes.size(), longest_input));
    return {"the mutation repeated with LANYARD_TEST_SEED=" + std::to_string(seed), bytes};
}

int write_corpus(const std::string &folder, const std::vector<Case> &corpus) {
    std::filesystem::create_directories(folder);
    for (const Case &one : corpus)
        std::ofstream(std::filesystem::path(folder) / one.name, std::ios::binary) << one.bytes;
    return 0;
}

int drive(std::vector<std::string> words) {
    bool write = words.size() > 2 && words[0] == "--write";
    std::string folder = write ? words[1] : "";
    if (write) words.erase(words.begin(), words.begin() + 2);
    std::vector<Case> corpus = read_corpus(words);
    if (corpus.empty()) {
        std::fprintf(stderr, "usage: fuzz-TARGET [--write DIR] CORPUS...\n");
        return 2;
    }
    if (write) return write_corpus(folder, corpus);
    for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
        if (number == SIGALRM || !__sanitizer_set_death_callback) signal(number, on_signal);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(report);
        signal(SIGABRT, on_signal);
    }
    for (const Case &one : corpus) run(one);
    uint64_t mutations = 0;
    sim::for_seeds(200, share_percent, [&](uint64_t seed) {
        run(mutation(corpus, seed));
        return ++mutations > 0;
    });
    std::printf("%zu stored inputs and %llu mutations\n", corpus.size(),
                static_cast<unsigned long long>(mutations));
    return 0;
}

}  // namespace
}  // namespace lanyard::fuzz

int main(int count, char **words) {
    return lanyard::fuzz::drive(std::vector<std::string>(words + 1, words + count));
}
