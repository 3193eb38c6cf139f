// Everything that has to be there before the ranks are started; see prepare.h.
#include "launch/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "launch/binding.h"
#include "launch/environment.h"
#include "launch/program_file.h"

namespace lanyard::launch {

namespace {

constexpr int exit_own_trouble = 1;

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

class Preparation {
public:
    Preparation(const Plan &plan, char **environment, const std::string &job, PmiServer &pmi, Output &output, Prepared &prepared)
        : plan_(plan), environment_(environment), job_(job), pmi_(pmi), output_(output), prepared_(prepared) {}

    bool run();
    const Trouble &trouble() const { return *trouble_; }

private:
    bool find_programs();
    bool check_folder(const Program &program, int first_rank);
    void open_segment();
    bool check_patterns();
    bool make_output_folder();
    bool open_standard_files(int rank, RankStart &start);
    int output_descriptor(int rank, int target, const std::string &pattern);
    int input_descriptor(int rank) const;
    bool add_rank(int rank, int program);
    bool fail(int exit_code, std::string sentence) {
        trouble_ = Trouble{exit_code, std::move(sentence)};
        return false;
    }
    bool fail_opening(int rank, const std::string &what);

    const Plan &plan_;
    char **environment_;
    const std::string &job_;
    PmiServer &pmi_;
    Output &output_;
    Prepared &prepared_;
    std::optional<Trouble> trouble_;
    std::vector<ProgramFile> files_;
    std::vector<Variables> environments_;
    int nowhere_ = -1;
};

bool Preparation::check_folder(const Program &program, int first_rank) {
    struct stat about;
    const std::string &folder = program.folder;
    if (folder.empty()) return true;
    if (stat(folder.c_str(), &about) != 0) return fail(exit_usage, fmt::format("rank {}: -wdir {}: {}", first_rank, folder, system_text(errno)));
    if (!S_ISDIR(about.st_mode)) return fail(exit_usage, fmt::format("rank {}: -wdir {}: it is not a folder", first_rank, folder));
    if (access(folder.c_str(), X_OK) != 0) return fail(exit_usage, fmt::format("rank {}: -wdir {}: {}", first_rank, folder, system_text(errno)));
    return true;
}

bool Preparation::find_programs() {
    int first_rank = 0;
    for (const Program &program : plan_.programs) {
        if (!check_folder(program, first_rank)) return false;
        environments_.push_back(program_environment(plan_, program, environment_));
        files_.push_back(find_program(program.words[0], find_variable(environments_.back(), "PATH"), program.folder));
        if (files_.back().exit_code) return fail(files_.back().exit_code, fmt::format("rank {}: {}", first_rank, files_.back().trouble));
        if (Error error = check_settings(environments_.back(), prepared_.notes)) return fail(exit_usage, error.take().sentence);
        first_rank += program.ranks;
    }
    return true;
}

// Nothing to clean up whoever dies: the file has no name. Where it cannot be made, the library tries and reports.
void Preparation::open_segment() {
    const char *folder = find_variable(environments_[0], "LANYARD_SHM_DIR");
    prepared_.segment = open(folder && folder[0] ? folder : "/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

bool Preparation::check_patterns() {
    for (const std::string &pattern : {plan_.out_pattern, plan_.err_pattern}) {
        for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2))
            if (pattern.find_first_of("rh%", at + 1) != at + 1)
                return fail(exit_usage, fmt::format("the file name {}: only %r (rank), %h (host) and %% are known", pattern));
        if (!pattern.empty() && plan_.ranks() > 1 && pattern.find("%r") == std::string::npos)
            return fail(exit_usage, fmt::format("the file name {} is the same for all ranks; put %r (the rank) into it", pattern));
    }
    if (!plan_.out_pattern.empty() && plan_.out_pattern == plan_.err_pattern)
        return fail(exit_usage, "-outfile-pattern and -errfile-pattern name the same file; --output DIR writes both into one");
    return true;
}

bool Preparation::make_output_folder() {
    if (plan_.output_folder.empty()) return true;
    std::error_code refused;
    std::filesystem::create_directories(plan_.output_folder, refused);
    return !refused || fail(exit_own_trouble, fmt::format("--output {}: the folder cannot be made: {}", plan_.output_folder, refused.message()));
}

bool Preparation::fail_opening(int rank, const std::string &what) {
    int error_number = errno;
    std::string remedy = error_number == EMFILE ? "; raise the limit of open files (ulimit -n)" : "";
    return fail(exit_own_trouble, fmt::format("rank {}: {} cannot be opened: {}{}", rank, what, system_text(error_number), remedy));
}

std::string expand(const std::string &pattern, int rank) {
    std::string name;
    for (size_t at = 0; at < pattern.size(); ++at) {
        char next = pattern[at] == '%' && at + 1 < pattern.size() ? pattern[++at] : '\0';
        if (next == 'r') name += std::to_string(rank);
        else if (next == 'h') name += host_name();
        else name += pattern[at];
    }
    return name;
}

int Preparation::output_descriptor(int rank, int target, const std::string &pattern) {
    if (pattern.empty()) {
        int fd = output_.connect_rank(rank, target);
        if (fd < 0) fail_opening(rank, "a pipe for its output");
        return fd;
    }
    std::string name = expand(pattern, rank);
    int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) fail_opening(rank, name);
    return fd;
}

// Rank 0 (or the one chosen) has mpirun's own standard input, byte for byte and unread where it does not read it. A
// terminal is handed over only in the foreground: in the background its input is the shell's.
int Preparation::input_descriptor(int rank) const {
    if (rank != plan_.stdin_rank) return nowhere_;
    bool others_terminal = isatty(0) && tcgetpgrp(0) != getpgrp();
    return others_terminal ? nowhere_ : 0;
}

bool Preparation::open_standard_files(int rank, RankStart &start) {
    start.in = input_descriptor(rank);
    std::string one_file = plan_.output_folder.empty() ? "" : plan_.output_folder + "/rank-%r.out";
    start.out = output_descriptor(rank, 1, one_file.empty() ? plan_.out_pattern : one_file);
    if (start.out < 0) return false;
    prepared_.for_ranks.push_back(start.out);
    start.err = one_file.empty() ? output_descriptor(rank, 2, plan_.err_pattern) : start.out;
    if (start.err < 0) return false;
    if (start.err != start.out) prepared_.for_ranks.push_back(start.err);
    return true;
}

bool Preparation::add_rank(int rank, int number) {
    const Program &program = plan_.programs[static_cast<size_t>(number)];
    const ProgramFile &file = files_[static_cast<size_t>(number)];
    RankStart start;
    start.path = file.path;
    start.script = file.script;
    start.words = program.words;
    start.folder = program.folder;
    start.environment = environments_[static_cast<size_t>(number)];
    if (!open_standard_files(rank, start)) return false;
    int pmi = pmi_.connect_rank(rank, number, program.ranks);
    if (pmi < 0) return fail_opening(rank, "its connection to mpirun");
    prepared_.for_ranks.push_back(pmi);
    start.inherited.push_back(pmi);
    std::string ranks = std::to_string(plan_.ranks());
    std::string own = std::to_string(rank);
    auto tell = [&](const char *name, const std::string &value) { start.environment.push_back(std::string(name) + "=" + value); };
    tell("PMI_FD", std::to_string(pmi));
    for (const char *name : {"PMI_RANK", "PMI_ID", "MPI_LOCALRANKID", "LANYARD_RANK", "LANYARD_LOCAL_RANK"}) tell(name, own);
    for (const char *name : {"PMI_SIZE", "MPI_LOCALNRANKS", "LANYARD_SIZE", "LANYARD_LOCAL_SIZE"}) tell(name, ranks);
    tell("LANYARD_JOB", job_);
    if (prepared_.segment >= 0) {
        start.inherited.push_back(prepared_.segment);
        tell("LANYARD_SEGMENT_FD", std::to_string(prepared_.segment));
    }
    prepared_.starts.push_back(std::move(start));
    return true;
}

bool Preparation::run() {
    if (!find_programs() || !check_patterns() || !make_output_folder()) return false;
    open_segment();
    nowhere_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nowhere_ < 0) return fail_opening(0, "/dev/null");
    prepared_.for_ranks.push_back(nowhere_);
    int rank = 0;
    for (size_t program = 0; program < plan_.programs.size(); ++program)
        for (int i = 0; i < plan_.programs[program].ranks; ++i)
            if (!add_rank(rank++, static_cast<int>(program))) return false;
    std::string note;
    auto bound = bind_ranks(plan_.binding, rank, note);
    if (!note.empty()) prepared_.notes.push_back(note);
    for (size_t i = 0; i < bound.size(); ++i) prepared_.starts[i].processors = bound[i];
    return true;
}

}  // namespace

std::optional<Trouble> prepare(const Plan &plan, char **environment, const std::string &job, PmiServer &pmi, Output &output, Prepared &prepared) {
    Preparation preparation(plan, environment, job, pmi, output, prepared);
    if (preparation.run()) return std::nullopt;
    return preparation.trouble();
}

}  // namespace lanyard::launch
