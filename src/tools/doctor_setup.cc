// Examines the installation, and settings in the environment by which programs would use another MPI or
// another launcher. Used by doctor.cc.
// Tested by: tests/command/test_lanyard.py, tests/launch/test_origin.py.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "coll/select.h"
#include "net/address.h"
#include "tools/finding.h"

namespace lanyard::tools {

namespace {

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

// The program that a shell would execute for a command such as "gcc -m64"; "" if there is none.
std::string program_of(const std::string &command) {
    std::istringstream words(command);
    std::string first;
    words >> first;
    return first.find('/') == std::string::npos ? find_on_path(first, variable("PATH"))
                                                : (access(first.c_str(), X_OK) == 0 ? first : "");
}

// Finds commands for which PATH does not lead to this installation. Returns one finding. It names all
// commands for which PATH leads elsewhere, or if there are none, all that PATH does not find.
Finding examine_path(const Installation &installation) {
    std::string absent, others;
    for (const char *name : {"mpirun", "mpiexec", "mpicc"}) {
        std::string found = find_on_path(name, variable("PATH"));
        if (found.empty()) absent += (absent.empty() ? "" : ", ") + std::string(name);
        else if (!same_file(found, installation.program(name)))
            others += (others.empty() ? "" : ", ") + found;
    }
    std::string sentence;
    if (!others.empty()) sentence = "it finds another MPI first: " + others;
    else if (!absent.empty()) sentence = "it does not find " + absent;
    else return {Verdict::good, "PATH", "mpirun, mpiexec and mpicc are those of this Lanyard", "", ""};
    return {Verdict::note, "PATH", sentence, "",
            fmt::format("export PATH={0}/bin:$PATH, or call {0}/bin/mpirun", installation.prefix)};
}

void examine_library_path(const Installation &installation, Findings &findings) {
    for (const char *name : {"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"}) {
        std::istringstream folders(variable("LD_LIBRARY_PATH"));
        for (std::string folder; std::getline(folders, folder, ':');) {
            if (folder.empty()) continue;
            std::string library = folder + "/" + name;
            std::error_code ignored;
            if (!std::filesystem::exists(library, ignored)) continue;
            if (!same_file(library, installation.library(name)))
                findings.push_back({Verdict::problem, "LD_LIBRARY_PATH",
                                    fmt::format("programs will use {}, not this Lanyard", library),
                                    "that library is used; mpirun does not change the order",
                                    "unset LD_LIBRARY_PATH, or put " + installation.prefix + "/lib first"});
            break;
        }
    }
}

struct Launcher {
    const char *variable, *name;
    // A variable that this library's mpirun sets for its ranks, or nullptr. LANYARD_JOB: if it is set,
    // `variable` is harmless, because mpirun leaves `variable` as it is. Any other: mpirun sets both
    // variables to the same value, and `variable` is harmless if the values are equal.
    const char *own;
};

// Variables that other launchers set in every process of a job.
constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", "LANYARD_SIZE"},
                                  {"PMIX_RANK", "a PMIx launcher", nullptr},
                                  {"SLURM_PROCID", "Slurm's srun", "LANYARD_JOB"},
                                  {"PMI_FD", "mpiexec (PMI)", "LANYARD_PMI_FD"}};

bool is_ours(const Launcher &launcher) {
    std::string own = launcher.own ? variable(launcher.own) : "";
    bool left_alone = launcher.own == std::string_view("LANYARD_JOB");
    return !own.empty() && (left_alone || own == variable(launcher.variable));
}

}  // namespace

Finding examine_library(const Installation &installation) {
    for (const char *name : {"liblanyard.so.0", "libmpi_abi.so.1", "libmpi.so.12"}) {
        void *handle = dlopen(installation.library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return {Verdict::problem, "library", dlerror(), "",
                    "build and install Lanyard again: make install PREFIX=..."};
        dlclose(handle);
    }
    return {Verdict::good, "library",
            installation.library("libmpi_abi.so.1") +
                " and, for programs built with MPICH or Intel MPI, libmpi.so.12 can be loaded",
            "", ""};
}

Finding examine_compiler(const Installation &installation) {
    if (access(installation.program("mpicc").c_str(), X_OK) != 0)
        return {Verdict::problem, "compiler", installation.program("mpicc") + " is missing", "",
                "build and install Lanyard again: make install PREFIX=..."};
    std::string wanted = variable("LANYARD_CC");
    std::string command = wanted.empty() ? "cc" : wanted;
    std::string found = program_of(command);
    if (found.empty() && wanted.empty()) found = program_of("gcc");
    if (found.empty())
        return {Verdict::note, "compiler",
                fmt::format("mpicc finds no C compiler ('{}'); programs already compiled run without one",
                            command),
                "",
                wanted.empty() ? "apt-get install gcc libc6-dev, or set LANYARD_CC" : "correct LANYARD_CC"};
    return {Verdict::good, "compiler", "mpicc uses " + found, "", ""};
}

Findings examine_others(const Installation &installation) {
    Findings findings = {examine_path(installation)};
    examine_library_path(installation, findings);
    std::string preload = variable("LD_PRELOAD");
    if (preload.find("mpi") != std::string::npos)
        findings.push_back({Verdict::note, "LD_PRELOAD",
                            "it names " + preload + ", which may replace Lanyard's functions", "",
                            "unset LD_PRELOAD"});
    return findings;
}

Findings examine_environment() {
    Findings findings;
    Settings settings;
    std::vector<std::string> warnings;
    std::vector<std::string> all_refused = read_all_settings(environ, settings, warnings);
    Selection selection;
    if (Error error = parse_selection(settings.coll, selection)) all_refused.push_back(error.take().sentence);
    for (const std::string &refused : all_refused)
        findings.push_back({Verdict::problem, "settings", refused, "", "correct or unset it"});
    std::vector<Interface> chosen;
    if (Error error = choose_interfaces(settings.interfaces, interfaces(), chosen)) {
        findings.push_back({Verdict::problem, "settings", error.sentence(), "", "correct or unset it"});
        error.discard();
    }
    for (const std::string &warning : warnings)
        findings.push_back({Verdict::note, "settings", warning, "it is ignored", "correct or unset it"});
    for (const Launcher &launcher : launchers) {
        if (variable(launcher.variable).empty() || is_ours(launcher)) continue;
        std::string sentence =
            fmt::format("{} is set: this shell runs inside a job of {}", launcher.variable, launcher.name);
        findings.push_back({Verdict::note, "another job", sentence,
                            "a program started here without mpirun refuses to run as one of many copies",
                            "start programs with mpirun, or unset it"});
    }
    return findings;
}

}  // namespace lanyard::tools
