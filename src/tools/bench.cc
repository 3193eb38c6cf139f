// lanyard bench NAME: starts the benchmark program libexec/lanyard/bench-NAME. It is started under mpirun,
// unless `lanyard` itself runs inside a job or the program does not use MPI.
// Tested by: tests/command/test_lanyard.py, tests/bench/test_programs.py.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "config/settings.h"
#include "tools/commands.h"

namespace lanyard::tools {

namespace {

constexpr int options_are_good = 100;  // must equal the number in bench/programs/settings.h
const std::string prefix_of_programs = "bench-";

std::vector<std::string> benchmarks(const Installation &installation) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(installation.helper(""), ignored)) {
        std::string file = entry.path().filename().string();
        if (file.rfind(prefix_of_programs, 0) == 0) names.push_back(file.substr(prefix_of_programs.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool inside_a_job() { return std::getenv("PMI_RANK") || std::getenv("LANYARD_RANK"); }

// False for programs that do not use MPI. They are started without mpirun.
bool needs_ranks(const std::string &name) {
    return name != "limits" && name != "memory" && name != "tcp" && name != "udp";
}

// Replaces this process by the program words[0], which then finds `shown` as its own name. Returns only on
// failure.
int become(std::vector<std::string> words, std::string shown) {
    std::vector<char *> arguments;
    for (std::string &word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    arguments[0] = shown.data();
    execv(words[0].c_str(), arguments.data());
    fmt::print(stderr, "lanyard: {} cannot be started: {}\n", words[0], system_text(errno));
    return 1;
}

// Lets the program check its options before a job is started, so that an error is printed only once and
// --help needs no job. Returns options_are_good if the program would run with these options, otherwise the
// exit code.
int check_options(std::vector<std::string> words, const std::string &shown) {
    words.insert(words.begin() + 1, "--check-options");
    pid_t child = fork();
    if (child == 0) _exit(become(std::move(words), shown));
    int status = 0;
    // If the check cannot be started, the job is started, and will report what is wrong.
    if (child < 0 || waitpid(child, &status, 0) < 0) return options_are_good;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// A sweep runs one job for each of several values of a setting. It is requested by `--sweep SETTING` or
// `--sweep SETTING=VALUE,VALUE` among the words of a benchmark.
struct Sweep {
    std::string setting;
    std::vector<std::string> values;
};

// The settings for which a sweep makes sense, with their values. `lanyard bench --sweep` prints this list,
// which bench/routes.py uses.
const std::vector<Sweep> known_sweeps = {
    {"eager-limit", {"0", "1024", "4096", "16384", "65536"}},
    {"progress", {"caller", "auto", "helper"}},
    {"dgram-progress", {"engine", "thread", "hybrid"}},
    {"connect", {"lazy", "all"}},
    {"checksum", {"off", "on"}},
    {"write-protocol", {"off", "auto", "on"}},
    {"copies", {"auto", "once", "twice"}},
};

// Moves the sweep, if there is one, from `words` to `sweep`. If its values are neither given nor known,
// prints a message and returns false.
bool take_sweep(std::vector<std::string> &words, Sweep &sweep) {
    auto option = std::find(words.begin(), words.end(), "--sweep");
    if (option == words.end()) return true;
    std::string text = option + 1 == words.end() ? "" : option[1];
    words.erase(option, std::min(option + 2, words.end()));
    std::size_t equals = text.find('=');
    sweep.setting = text.substr(0, equals);
    for (const Sweep &known : known_sweeps)
        if (equals == std::string::npos && known.setting == text) sweep = known;
    for (std::size_t start = equals; start != std::string::npos && start < text.size();) {
        std::size_t comma = text.find(',', start + 1);
        sweep.values.push_back(
            text.substr(start + 1, comma == std::string::npos ? comma : comma - start - 1));
        start = comma;
    }
    if (!sweep.values.empty() &&
        std::find(sweep.values.begin(), sweep.values.end(), "") == sweep.values.end())
        return true;
    std::vector<std::string> settings;
    for (const Sweep &known : known_sweeps) settings.push_back(known.setting);
    std::string nearest = equals == std::string::npos ? nearest_name(text, settings) : "";
    if (!nearest.empty())
        fmt::print(stderr, "lanyard: --sweep: there are no values for '{}'; did you mean '{}'?\n", text,
                   nearest);
    else
        fmt::print(stderr,
                   "lanyard: --sweep needs a setting and its values, such as eager-limit=0,4096; "
                   "without values there are eager-limit, progress, dgram-progress, connect, checksum, "
                   "write-protocol and copies\n");
    return false;
}

std::string variable_of(const std::string &setting) {
    std::string name = "LANYARD_" + setting;
    for (char &letter : name)
        letter = letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return name;
}

// True if the setting accepts each value. Otherwise prints a message.
bool values_are_good(const Sweep &sweep) {
    for (const std::string &value : sweep.values) {
        std::string assignment = variable_of(sweep.setting) + "=" + value;
        char *environment[] = {assignment.data(), nullptr};
        Settings settings;
        std::vector<std::string> wrong, warnings;
        wrong = read_all_settings(environment, settings, warnings);
        wrong.insert(wrong.end(), warnings.begin(), warnings.end());
        if (wrong.empty()) continue;
        fmt::print(stderr, "lanyard: --sweep {}: {}\n", sweep.setting, fmt::join(wrong, "; "));
        return false;
    }
    return true;
}

// Runs the job once for each value. Returns the highest exit code.
int run_sweep(const Sweep &sweep, const std::vector<std::string> &words, const std::string &shown) {
    std::string variable = variable_of(sweep.setting);
    int worst = 0;
    for (const std::string &value : sweep.values) {
        fmt::print("# {}={}\n", variable, value);
        std::fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            setenv(variable.c_str(), value.c_str(), 1);
            _exit(become(words, shown));
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
        worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    return worst;
}

// The purpose of a benchmark, which is the first line of its help.
std::string purpose_of(const Installation &installation, const std::string &name) {
    std::string program = installation.helper(prefix_of_programs + name),
                check = needs_ranks(name) ? "--check-options " : "";
    FILE *output = popen(fmt::format("exec '{}' {}--help 2>/dev/null", program, check).c_str(), "r");
    char line[512] = "";
    if (output && !std::fgets(line, sizeof line, output)) line[0] = 0;
    while (output && std::fgetc(output) != EOF) {
    }
    if (output) pclose(output);
    return std::string(line, std::strcspn(line, "\n"));
}

// True if --sweep comes before the benchmark's name, or -n after it. Then prints a message.
bool misplaced(const std::vector<std::string> &words, const std::vector<std::string> &names) {
    auto is_name = [&](const std::string &word) {
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    auto name = std::find_if(words.begin(), words.end(), is_name);
    std::string shown = name == words.end() ? "NAME" : *name;
    auto option = std::find_if(words.begin() + 1, words.end(),
                               [](const std::string &word) { return word.rfind("-n", 0) == 0; });
    if (words.front().rfind("--sweep", 0) == 0)
        fmt::print(stderr, "lanyard: --sweep must come after the benchmark's name: lanyard bench {} {}\n",
                   shown, fmt::join(words.begin(), name, " "));
    else if (option != words.end())
        fmt::print(stderr, "lanyard: -n must come before the benchmark's name: lanyard bench -n {} {}\n",
                   *option != "-n" && *option != "-np" ? option->substr(2)
                   : option + 1 == words.end()         ? "N"
                                                       : option[1],
                   words.front());
    else return false;
    return true;
}

}  // namespace

std::string list_benchmarks(const Installation &installation) {
    std::string text;
    for (const std::string &name : benchmarks(installation))
        text += fmt::format("{:<14} {}\n", name, purpose_of(installation, name));
    return text;
}

int run_bench(const Installation &installation, int ranks, std::vector<std::string> words) {
    std::vector<std::string> names = benchmarks(installation);
    if (names.empty()) {
        fmt::print(
            stderr,
            "lanyard: there are no benchmark programs in {}; they are built unless LANYARD_BENCH is OFF\n",
            installation.helper(""));
        return 1;
    }
    if (words.empty()) {
        fmt::print("{}", list_benchmarks(installation));
        return 0;
    }
    if (words == std::vector<std::string>{"--sweep"}) {
        for (const Sweep &known : known_sweeps)
            fmt::print("{}={}\n", known.setting, fmt::join(known.values, ","));
        return 0;
    }
    if (misplaced(words, names)) return usage_error;
    std::string name = words.front(), shown = "lanyard bench " + name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        std::string nearest = nearest_name(name, names);
        std::string advice = nearest.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                             : "did you mean '" + nearest + "'?";
        fmt::print(stderr, "lanyard: there is no benchmark '{}'; {}\n", name, advice);
        return usage_error;
    }
    Sweep sweep;
    if (!take_sweep(words, sweep) || !values_are_good(sweep)) return usage_error;
    words.front() = installation.helper(prefix_of_programs + name);
    if (needs_ranks(name) && !inside_a_job()) {
        if (int code = check_options(words, shown); code != options_are_good) return code;
        words.insert(words.begin(), {installation.program("mpirun"), "-n", std::to_string(ranks)});
        shown = words.front();
    }
    return sweep.values.empty() ? become(std::move(words), shown) : run_sweep(sweep, words, shown);
}

}  // namespace lanyard::tools
