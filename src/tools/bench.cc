// lanyard bench NAME: starts the benchmark program libexec/lanyard/bench-NAME, under mpirun unless a job runs already.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "config/settings.h"
#include "tools/commands.h"

namespace lanyard::tools {

namespace {

constexpr int usage_error = 2;
constexpr int options_are_good = 100;  // as in bench/settings.h
const std::string prefix_of_programs = "bench-";

std::vector<std::string> benchmarks(const Place &place) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(place.helper(""), ignored)) {
        std::string file = entry.path().filename().string();
        if (file.rfind(prefix_of_programs, 0) == 0) names.push_back(file.substr(prefix_of_programs.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool inside_a_job() { return std::getenv("PMI_RANK") || std::getenv("LANYARD_RANK"); }

// Becomes the program; returns only where that fails.
int become(std::vector<std::string> words) {
    std::vector<char *> arguments;
    for (std::string &word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    fmt::print(stderr, "lanyard: {} cannot be started: {}\n", words[0], system_text(errno));
    return 1;
}

// The program reads its options by itself, without MPI: what is wrong with them is said once, and --help needs no job.
// 100 where it would run with them, else the exit code.
int check_options(std::vector<std::string> words) {
    words.insert(words.begin() + 1, "--check-options");
    pid_t child = fork();
    if (child == 0) _exit(become(std::move(words)));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return options_are_good;  // then the job says what it has to say
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int run_bench(const Place &place, int ranks, std::vector<std::string> words) {
    std::vector<std::string> names = benchmarks(place);
    if (names.empty()) {
        fmt::print(stderr, "lanyard: there are no benchmark programs in {}; they are built unless LANYARD_BENCH is OFF\n", place.helper(""));
        return 1;
    }
    if (words.empty()) {
        fmt::print("{}\n", fmt::join(names, "\n"));
        return 0;
    }
    std::string name = words.front();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        std::string nearest = nearest_name(name, names);
        std::string advice = nearest.empty() ? fmt::format("there are: {}", fmt::join(names, ", ")) : "did you mean '" + nearest + "'?";
        fmt::print(stderr, "lanyard: there is no benchmark '{}'; {}\n", name, advice);
        return usage_error;
    }
    words.front() = place.helper(prefix_of_programs + name);
    bool needs_ranks = name != "limits" && name != "tcp";  // they measure the machine itself, without MPI
    if (needs_ranks && !inside_a_job())
        if (int code = check_options(words); code != options_are_good) return code;
    if (needs_ranks && !inside_a_job()) words.insert(words.begin(), {place.program("mpirun"), "-n", std::to_string(ranks)});
    return become(std::move(words));
}

}  // namespace lanyard::tools
