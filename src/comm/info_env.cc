// Fills in MPI_INFO_ENV and the result of MPI_Info_create_env. Both state how this process was started, as
// far as the kernel and the launcher report it.
// Tested by: tests/unit/comm/info_test.cc, tests/mpi/comm/info.cc.
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "comm/info.h"

namespace lanyard {
namespace {

// The words of the command line, as the kernel has stored them.
std::vector<std::string> command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

const char *thread_level_name(int level) {
    switch (level) {
        case abi::thread_single: return "MPI_THREAD_SINGLE";
        case abi::thread_funneled: return "MPI_THREAD_FUNNELED";
        case abi::thread_serialized: return "MPI_THREAD_SERIALIZED";
        case abi::thread_multiple: return "MPI_THREAD_MULTIPLE";
        default: return "";
    }
}

}  // namespace

void fill_environment(Info &info, const Startup &startup) {
    // Omits a value that is unknown or too long. It is not truncated, because half a command line would
    // mislead.
    auto add = [&](const char *key, const std::string &value) {
        if (!value.empty() && value.size() <= max_info_value_length) info.set(key, value).discard();
    };
    auto words = command_line();
    if (!words.empty()) add("command", words[0]);
    std::string arguments;
    for (size_t i = 1; i < words.size(); ++i) arguments += (i > 1 ? " " : "") + words[i];
    add("argv", arguments);
    if (startup.maxprocs > 0) add("maxprocs", std::to_string(startup.maxprocs));
    add("soft", startup.soft);
    utsname system{};
    if (uname(&system) == 0) {
        add("host", system.nodename);
        add("arch", system.machine);
    }
    char folder[4096];
    if (getcwd(folder, sizeof folder)) add("wdir", folder);
    add("thread_level", thread_level_name(startup.thread_level));
    add("mpi_memory_alloc_kinds", startup.alloc_kinds);
}

}  // namespace lanyard
