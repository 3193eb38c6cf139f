// Creates everything that must exist before the ranks are started. See prepare.h.
#include "launch/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "launch/binding.h"
#include "launch/environment.h"
#include "launch/program_file.h"
#include "launch/wording.h"
#include "net/address.h"
#include "path/shm/segment.h"

namespace lanyard::launch {

namespace {

class Preparation {
public:
    Preparation(const Local &local, Prepared &prepared)
        : local_(local),
          plan_(local.plan),
          prepared_(prepared),
          files_(plan_.programs.size()),
          environments_(plan_.programs.size()) {}

    bool run();
    const Trouble &trouble() const { return trouble_; }

private:
    int program_of(int rank) const;
    bool find_program_of(int rank);
    bool check_folder(const Program &program, int rank);
    void open_segment(const Variables &variables);
    bool open_standard_files(int rank, RankStart &start);
    int output_descriptor(int rank, int target);
    bool add_rank(int rank);
    void bind();
    bool fail(int exit_code, std::string sentence) {
        trouble_ = Trouble{exit_code, std::move(sentence)};
        return false;
    }
    bool fail_opening(int rank, const std::string &what);

    const Local &local_;
    const Plan &plan_;
    Prepared &prepared_;
    Trouble trouble_{};  // set once run() has returned false
    std::vector<ProgramFile> files_;       // by program; only for programs with ranks on this host
    std::vector<Variables> environments_;  // by program; empty for programs without ranks on this host
    int nowhere_ = -1;
};

int Preparation::program_of(int rank) const {
    int program = 0;
    while (rank >= plan_.programs[static_cast<size_t>(program)].ranks)
        rank -= plan_.programs[static_cast<size_t>(program++)].ranks;
    return program;
}

bool Preparation::check_folder(const Program &program, int rank) {
    struct stat about;
    const std::string &folder = program.folder;
    if (folder.empty()) return true;
    std::string whose = short_rank_text(plan_, rank);
    if (stat(folder.c_str(), &about) != 0)
        return fail(exit_usage, fmt::format("{}: -wdir {}: {}", whose, folder, system_text(errno)));
    if (!S_ISDIR(about.st_mode))
        return fail(exit_usage, fmt::format("{}: -wdir {}: it is not a folder", whose, folder));
    if (access(folder.c_str(), X_OK) != 0)
        return fail(exit_usage, fmt::format("{}: -wdir {}: {}", whose, folder, system_text(errno)));
    return true;
}

bool Preparation::find_program_of(int rank) {
    auto number = static_cast<size_t>(program_of(rank));
    if (!environments_[number].empty()) return true;
    const Program &program = plan_.programs[number];
    if (!check_folder(program, rank)) return false;
    environments_[number] = program_environment(plan_, program, local_.environment);
    files_[number] =
        find_program(program.words[0], find_variable(environments_[number], "PATH"), program.folder);
    const ProgramFile &file = files_[number];
    std::string remedy = file.remedy.empty() ? "" : "; " + file.remedy;
    return !file.exit_code ||
           fail(file.exit_code, fmt::format("{}: {}{}", short_rank_text(plan_, rank), file.trouble, remedy));
}

// True if the file system of `file` has room for the smallest segment of the ranks of this host. A file
// system without a limit reports 0 blocks.
bool holds_segment(int file, size_t ranks) {
    struct statvfs about;
    if (fstatvfs(file, &about) != 0 || about.f_blocks == 0) return true;
    return static_cast<uint64_t>(about.f_bavail) * about.f_frsize >=
           Segment::least_bytes(static_cast<uint32_t>(ranks));
}

// Creates the file of the segment. It has no name, so no file has to be removed, whichever process dies. If
// the folder cannot be used, a memory file (memfd) outside all file systems is used instead. If the system
// refuses that, too, the ranks get the file in the folder, although it is too small or full. If there is no
// such file, the library creates a segment of its own.
void Preparation::open_segment(const Variables &variables) {
    const char *named = find_variable(variables, "LANYARD_SHM_DIR");
    const char *folder = named && named[0] ? named : "/dev/shm";
    int &file = prepared_.segment;
    std::string wrong;
    file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) wrong = system_text(errno);
    else if (!holds_segment(file, prepared_.ranks.size())) wrong = "it is too small, or full";
    if (wrong.empty()) return;
    int apart = memfd_create("lanyard", MFD_CLOEXEC);
    if (apart < 0) return;
    if (file >= 0) close(file);
    file = apart;
    Settings settings;
    if (const char *paths = find_variable(variables, "LANYARD_PATHS"); paths && paths[0])
        settings.paths = paths;
    if (prepared_.ranks.size() < 2 || !names_path(settings, "shm")) return;
    prepared_.notes.push_back(
        fmt::format("{} cannot be used for the memory that ranks share: {}; a memory file is used instead",
                    folder, wrong));
}

bool Preparation::fail_opening(int rank, const std::string &what) {
    return fail(exit_own_trouble, cannot_open_text(plan_, rank, what, errno));
}

int Preparation::output_descriptor(int rank, int target) {
    std::string name = output_file(plan_, rank, target);
    bool piped = name.empty() || local_.streams_go_on;
    int fd = piped ? local_.streams.connect_rank(rank, target) : open_output_file(name);
    if (fd < 0) fail_opening(rank, piped ? "a pipe for its output" : name);
    return fd;
}

bool Preparation::open_standard_files(int rank, RankStart &start) {
    start.in = rank == plan_.stdin_rank && local_.input >= 0 ? local_.input : nowhere_;
    start.out = output_descriptor(rank, 1);
    if (start.out < 0) return false;
    prepared_.for_ranks.push_back(start.out);
    start.err = plan_.output_folder.empty() ? output_descriptor(rank, 2) : start.out;
    if (start.err < 0) return false;
    if (start.err != start.out) prepared_.for_ranks.push_back(start.err);
    return true;
}

bool Preparation::add_rank(int rank) {
    int number = program_of(rank);
    const Program &program = plan_.programs[static_cast<size_t>(number)];
    const ProgramFile &file = files_[static_cast<size_t>(number)];
    RankStart start;
    start.path = file.path;
    start.script = file.script;
    start.words = program.words;
    start.folder = program.folder;
    start.environment = environments_[static_cast<size_t>(number)];
    if (!open_standard_files(rank, start)) return false;
    int pmi = local_.pmi.connect_rank(rank, number, program.ranks, prepared_.segment);
    if (pmi < 0) return fail_opening(rank, "its connection to mpirun");
    prepared_.for_ranks.push_back(pmi);
    start.inherited.push_back(pmi);
    std::string own = std::to_string(rank), ranks = std::to_string(plan_.ranks());
    std::string local_own = std::to_string(prepared_.starts.size()),
                local_ranks = std::to_string(prepared_.ranks.size());
    auto tell = [&](const char *name, const std::string &value) {
        start.environment.push_back(std::string(name) + "=" + value);
    };
    // The variables of PMI-1, of Hydra, of Lanyard, and those of Open MPI that scripts and programs read.
    for (const char *name : {"PMI_FD", "LANYARD_PMI_FD"}) tell(name, std::to_string(pmi));
    for (const char *name : {"PMI_RANK", "PMI_ID", "LANYARD_RANK", "OMPI_COMM_WORLD_RANK"}) tell(name, own);
    for (const char *name : {"PMI_SIZE", "LANYARD_SIZE", "OMPI_COMM_WORLD_SIZE"}) tell(name, ranks);
    for (const char *name :
         {"MPI_LOCALRANKID", "LANYARD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK"})
        tell(name, local_own);
    for (const char *name : {"MPI_LOCALNRANKS", "LANYARD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
        tell(name, local_ranks);
    tell("LANYARD_MAXPROCS", std::to_string(program.ranks));
    tell("LANYARD_JOB", local_.job);
    if (prepared_.segment >= 0) {
        start.inherited.push_back(prepared_.segment);
        tell("LANYARD_SEGMENT_FD", std::to_string(prepared_.segment));
    }
    prepared_.starts.push_back(std::move(start));
    return true;
}

void Preparation::bind() {
    std::string note;
    auto bound = bind_ranks(plan_.binding, static_cast<int>(prepared_.ranks.size()), note);
    const Placement &placement = plan_.placement;
    if (placement.hosts.size() > 1 && !note.empty())
        note = fmt::format("host {}: {}", placement.hosts[static_cast<size_t>(placement.own)], note);
    if (!note.empty()) prepared_.notes.push_back(note);
    for (size_t i = 0; i < bound.size(); ++i) prepared_.starts[i].processors = bound[i];
}

bool Preparation::run() {
    prepared_.ranks = plan_.placement.ranks_on(plan_.placement.own);
    for (int rank : prepared_.ranks)
        if (!find_program_of(rank)) return false;
    open_segment(environments_[static_cast<size_t>(program_of(prepared_.ranks[0]))]);
    nowhere_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nowhere_ < 0) return fail_opening(prepared_.ranks[0], "/dev/null");
    prepared_.for_ranks.push_back(nowhere_);
    if (local_.input > 2) prepared_.for_ranks.push_back(local_.input);
    for (int rank : prepared_.ranks)
        if (!add_rank(rank)) return false;
    bind();
    return true;
}

std::string check_patterns(const Plan &plan) {
    for (const std::string &pattern : {plan.out_pattern, plan.err_pattern}) {
        for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2))
            if (pattern.find_first_of("rh%", at + 1) != at + 1)
                return fmt::format("the file name {}: only %r (rank), %h (host) and %% are known", pattern);
        if (!pattern.empty() && plan.ranks() > 1 && pattern.find("%r") == std::string::npos)
            return fmt::format("the file name {} is the same for all ranks; put %r (the rank) into it",
                               pattern);
    }
    if (!plan.out_pattern.empty() && plan.out_pattern == plan.err_pattern)
        return "-outfile-pattern and -errfile-pattern name the same file; --output DIR writes both into one";
    return "";
}

// Returns what is wrong with the folder that LANYARD_SHM_DIR names. Returns "" if it is a folder, or if the
// variable is empty or not set.
std::string check_memory_folder(const Variables &variables) {
    const char *folder = find_variable(variables, "LANYARD_SHM_DIR");
    struct stat about;
    if (!folder || !folder[0]) return "";
    std::string wrong = stat(folder, &about) != 0 ? system_text(errno)
                        : S_ISDIR(about.st_mode)  ? ""
                                                  : "it is no folder";
    return wrong.empty()
               ? ""
               : fmt::format("LANYARD_SHM_DIR={} cannot be used: {}; name a folder in memory, or unset it",
                             folder, wrong);
}

// Adds a remark if LANYARD_INTERFACES names an interface that does not exist, but the ranks do not need the
// network. If they need it, the library itself reports the missing interface as an error.
void check_interfaces(const Settings &settings, int ranks, std::vector<std::string> &notes) {
    if (ranks > 1 && !names_path(settings, "shm")) return;
    std::vector<Interface> chosen;
    if (Error error = choose_interfaces(settings.interfaces, interfaces(), chosen))
        notes.push_back(error.take().sentence + "; it is not needed on a single host");
}

}  // namespace

std::optional<Trouble> check_job(const Plan &plan, char **environment, Settings &settings,
                                 std::vector<std::string> &notes) {
    bool own = plan.placement.own >= 0;
    for (const Program &program : plan.programs) {
        Variables variables = program_environment(plan, program, environment);
        if (Error error = check_settings(variables, settings, notes))
            return Trouble{exit_usage, error.take().sentence};
        if (std::string wrong = own ? check_memory_folder(variables) : ""; !wrong.empty())
            return Trouble{exit_usage, wrong};
    }
    if (own && plan.placement.hosts.size() == 1)
        check_interfaces(settings, static_cast<int>(plan.placement.node_of_rank.size()), notes);
    if (std::string wrong = check_patterns(plan); !wrong.empty()) return Trouble{exit_usage, wrong};
    if (plan.output_folder.empty()) return std::nullopt;
    std::error_code refused;
    std::filesystem::create_directories(plan.output_folder, refused);
    if (!refused) return std::nullopt;
    return Trouble{exit_own_trouble, fmt::format("--output {}: the folder cannot be made: {}",
                                                 plan.output_folder, refused.message())};
}

std::string output_file(const Plan &plan, int rank, int target) {
    std::string pattern = target == 1 ? plan.out_pattern : plan.err_pattern;
    if (!plan.output_folder.empty()) return fmt::format("{}/rank-{}.out", plan.output_folder, rank);
    std::string name;
    for (size_t at = 0; at < pattern.size(); ++at) {
        char next = pattern[at] == '%' && at + 1 < pattern.size() ? pattern[++at] : '\0';
        if (next == 'r') name += std::to_string(rank);
        else if (next == 'h') name += host_of(plan, rank);
        else name += pattern[at];
    }
    return name;
}

int open_output_file(const std::string &name) {
    return open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

std::optional<Trouble> prepare(const Local &local, Prepared &prepared) {
    Preparation preparation(local, prepared);
    if (preparation.run()) return std::nullopt;
    return preparation.trouble();
}

}  // namespace lanyard::launch
