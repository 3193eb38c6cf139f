// Chooses how this process joins its job (bootstrap.h): by PMI-1 if a launcher offers that, otherwise alone.
// Signs of a job that the process cannot join are an error. The rule is that one process joins for each rank.
// A process without a rank's connection to a launcher may run alone only if no rank of a job is missing
// because of this. This is so without a launcher, in a job of one rank, and in programs that a rank has
// started after the rank itself joined. Environment variables alone prove nothing, because children inherit
// them and wrappers lose them (origin.h).
#include "bootstrap/bootstrap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>

#include "bootstrap/origin.h"
#include "bootstrap/pmi_client.h"

namespace lanyard {

namespace {

class Singleton final : public Bootstrap {
public:
    Singleton() {
        uint64_t random[2] = {};
        if (getrandom(random, sizeof random, 0) != sizeof random) random[0] = static_cast<uint64_t>(getpid());
        char job[40];
        snprintf(job, sizeof job, "%016llx%016llx", static_cast<unsigned long long>(random[0]),
                 static_cast<unsigned long long>(random[1]));
        identity_.job = job;
        identity_.launcher = "none";
        identity_.maxprocs = 1;
        identity_.node_of_rank = {0};
    }
    Error put(const std::string &key, const std::string &value) override {
        for (auto &entry : published_)
            if (entry.first == key) {
                entry.second = value;
                return {};
            }
        published_.emplace_back(key, value);
        return {};
    }
    Error get(const std::string &key, std::string &value) override {
        for (auto &entry : published_)
            if (entry.first == key) {
                value = entry.second;
                return {};
            }
        return Error(ErrorClass::name, "nothing was published under \"" + key +
                                           "\" in this process, which runs without a launcher");
    }
    void abort(int, std::string_view message, bool) override {
        std::string text(message);
        if (!text.empty()) text += '\n';
        [[maybe_unused]] ssize_t written = write(2, text.data(), text.size());
    }
    Error finalize() override { return {}; }

private:
    std::vector<std::pair<std::string, std::string>> published_;
};

// A variable by which a launcher marks a process as one of several. A variable that states a size of 1 is no
// sign, because no rank could be missing from such a job.
struct ForeignSign {
    const char *variable;
    bool is_size;  // true: the value is the number of processes; false: the presence is the sign
    const char *launcher;
    const char *remedy;
    // The variable of this library that mpirun sets to the same value. If the values differ, another launcher
    // inside the rank has set `variable`.
    const char *own = nullptr;
    // True if mpirun leaves the variable as it is. In a rank, and in the programs that a rank starts, the
    // variable then proves nothing.
    bool outer = false;
};
constexpr const char *use_mpirun = "start it with this library's mpirun (mpirun -n N PROGRAM)";
constexpr const char *use_descriptor =
    "start it with this library's mpirun (mpirun -n N PROGRAM), or with mpiexec.hydra without -pmi-port";
constexpr const char *use_pmi2 =
    "start it with srun --mpi=pmi2, or with this library's mpirun inside the allocation";
constexpr ForeignSign foreign_signs[] = {
    {"SLURM_STEP_NUM_TASKS", true, "Slurm (srun)", use_pmi2, nullptr, true},
    {"SLURM_NTASKS", true, "Slurm", use_pmi2, nullptr, true},
    {"OMPI_COMM_WORLD_SIZE", true, "Open MPI's mpirun", use_mpirun, "LANYARD_SIZE"},
    {"MV2_COMM_WORLD_SIZE", true, "MVAPICH's launcher", use_mpirun},
    {"FLUX_JOB_SIZE", true, "Flux", use_mpirun, nullptr, true},
    {"JSM_NAMESPACE_SIZE", true, "jsrun", use_mpirun, nullptr, true},
    {"PMI_SIZE", true, "a launcher of the PMI family", use_mpirun, "LANYARD_SIZE"},
    {"MPI_LOCALNRANKS", true, "Hydra", use_mpirun, "LANYARD_LOCAL_SIZE"},
    {"PMI_PORT", false, "a launcher of the PMI family", use_descriptor},
    {"PMI_FD", false, "a launcher of the PMI family", use_mpirun, "LANYARD_PMI_FD"},
    {"PMI_RANK", false, "a launcher of the PMI family", use_mpirun, "LANYARD_RANK"},
    {"PMI_ID", false, "a launcher of the PMI family", use_mpirun, "LANYARD_RANK"},
    {"PMIX_RANK", false, "a PMIx launcher", use_mpirun},
    {"PMIX_NAMESPACE", false, "a PMIx launcher", use_mpirun},
};

// The names of the processes by which other launchers start ranks.
constexpr const char *foreign_starters[] = {"hydra_pmi_proxy", "prted",      "prterun", "orted",
                                            "orterun",         "slurmstepd", "mpirun",  "mpiexec"};

int number_in(const char *text, int otherwise) {
    if (!text) return otherwise;
    std::string_view view(text);
    int number = otherwise;
    auto [end, trouble] = std::from_chars(view.data(), view.data() + view.size(), number);
    return trouble == std::errc{} && end == view.data() + view.size() ? number : otherwise;
}

bool set_by_mpirun(const char *variable, const char *own) {
    const char *value = started_with(variable), *counterpart = own ? started_with(own) : nullptr;
    return value && counterpart && std::string_view(value) == counterpart;
}

bool alone_by(const char *size) {
    return number_in(started_with(size), 0) == 1 && !set_by_mpirun(size, "LANYARD_SIZE");
}

constexpr const char *would_be_wrong = "; running as rank 0 of 1 would be wrong";
constexpr const char *to_run_alone = "to run it alone on purpose, start it with mpirun -n 1 PROGRAM";

// Returns an error if the variables show a job that this process cannot join, unless they state that the job
// has one process. `why_not_pmi` is the reason why PMI cannot be used, or "". If `below_rank` is true, this
// process may be a rank of mpirun or may have been started by a rank, so that mpirun may have set the
// variables.
Error check_foreign_job(const std::string &why_not_pmi, bool below_rank) {
    // A launcher that states a size of one has started only this process, even if it also sets the variables
    // of PMIx or PMI.
    if (alone_by("OMPI_COMM_WORLD_SIZE") || alone_by("PMI_SIZE")) return {};
    const ForeignSign *first = nullptr;
    std::string to_forget;
    for (const ForeignSign &sign : foreign_signs) {
        const char *value = started_with(sign.variable);
        if (!value || (sign.is_size && number_in(value, 0) <= 1)) continue;
        if (below_rank && (sign.outer || set_by_mpirun(sign.variable, sign.own))) continue;
        if (!first) first = &sign;
        to_forget += std::string(" -u ") + sign.variable;
    }
    if (!first) return {};
    // A size shows that there are several processes. The other signs do not show how many.
    const char *how = first->is_size ? "as one of several" : "as part of a job";
    std::string seen = std::string("this process was started by ") + first->launcher + " " + how + " (" +
                       first->variable + "=" + started_with(first->variable) + "), but it cannot join " +
                       (first->is_size ? "them" : "it") + (why_not_pmi.empty() ? "" : ": " + why_not_pmi) +
                       would_be_wrong;
    return Error(ErrorClass::other, seen + "\nwhat to do: " + first->remedy +
                                        "; to run it alone on purpose, start it with env" + to_forget);
}

bool is_open_socket(int fd) {
    struct stat about;
    return fd >= 0 && fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

// Returns why the variables PMI_FD, PMI_RANK and PMI_SIZE cannot be used; "" if they can be used or do not
// exist. The library does not use PMI_PORT and PMI_ID, which belong to the form of PMI-1 in which a process
// connects to its launcher over TCP.
std::string trouble_with_pmi(int fd, int rank, int size) {
    const char *told = started_with("PMI_FD");
    if (!told) {
        if (started_with("PMI_PORT"))
            return "PMI_FD, the connection to the launcher, is not set, and the address PMI_PORT is not used "
                   "by this library";
        return started_with("PMI_RANK") || started_with("PMI_ID")
                   ? "PMI_FD, the connection to the launcher, is not set"
                   : "";
    }
    if (!is_open_socket(fd))
        return std::string("the descriptor PMI_FD=") + told +
               " is no open socket (so it is in programs that a rank itself starts, or behind a wrapper that "
               "closes descriptors)";
    if (size < 1 || rank < 0 || rank >= size)
        return "PMI_RANK and PMI_SIZE are not a rank and a size";
    return "";
}

// Joins as the rank to which the connection belongs, unless another process has joined as that rank.
std::unique_ptr<Bootstrap> take_seat(int fd, const Seat &seat, Error &error) {
    // Programs that this rank starts are not ranks, so they must not inherit the rank's connection.
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    pid_t other = claim(seat);
    if (other == 0) return connect_pmi1(fd, seat.rank, seat.size, error, &seat);
    std::string who = other > 0 ? "process " + std::to_string(other) : "another process";
    error = Error(ErrorClass::other, "this process was started as rank " + std::to_string(seat.rank) +
                                         " of " + std::to_string(seat.size) + ", but " + who +
                                         " has joined as that rank and is still running" + would_be_wrong +
                                         "\nwhat to do: start programs of one rank one after the other; " +
                                         to_run_alone);
    return nullptr;
}

// Lets a process without a connection run alone, or returns an error. The process is a rank of mpirun, or was
// started by a rank. In a job of one rank it runs alone. If another process has joined as that rank, that
// process has started this one (by Python's multiprocessing, for example), and this process runs alone. If no
// process has joined as that rank, this process was meant to be the rank itself, which is an error.
std::unique_ptr<Bootstrap> sit_alone(const Seat &seat, const char *lost, Error &error) {
    if (seat.size == 1 || holder_of(seat) != 0) return std::make_unique<Singleton>();
    error =
        Error(ErrorClass::other, "this process was started by mpirun's rank " + std::to_string(seat.rank) +
                                     " of " + std::to_string(seat.size) + ", or as it, but " + lost +
                                     ", and no process has joined as that rank" + would_be_wrong +
                                     "\nwhat to do: start it by a wrapper that leaves variables and "
                                     "descriptors as they are (in Python: subprocess.run(..., "
                                     "close_fds=False)), or when the rank has called MPI_Init; " +
                                     to_run_alone);
    return nullptr;
}

constexpr const char *connection_closed =
    "its connection to mpirun, the descriptor PMI_FD, is not open in it";
constexpr const char *all_lost = "its variables and its connection to mpirun, a descriptor, are lost";

// Called for a process that has no variable of any launcher. Decides by the processes above it how it joins.
std::unique_ptr<Bootstrap> sit_by_ancestry(Error &error) {
    Ancestry ancestry = read_ancestry();
    if (ancestry.seat) return sit_alone(*ancestry.seat, all_lost, error);
    bool foreign = std::any_of(std::begin(foreign_starters), std::end(foreign_starters),
                               [&](const char *name) { return ancestry.parent == name; });
    if (!ancestry.under_mpirun && !foreign) return std::make_unique<Singleton>();
    error = Error(ErrorClass::other,
                  "this process was started by " + (ancestry.under_mpirun ? "mpirun" : ancestry.parent) +
                      ", but without the variables and the connection by which it could join the job" +
                      would_be_wrong +
                      "\nwhat to do: start it without env -i, sudo or another program that takes these; " +
                      to_run_alone);
    return nullptr;
}

}  // namespace

std::unique_ptr<Bootstrap> connect_bootstrap(Error &error) {
    error = Error{};
    int fd = number_in(started_with("PMI_FD"), -1);
    int rank = number_in(started_with("PMI_RANK"), -1);
    int size = number_in(started_with("PMI_SIZE"), -1);
    std::optional<Seat> told = seat_told();
    bool theirs = started_with("PMI_FD") && !set_by_mpirun("PMI_FD", "LANYARD_PMI_FD");
    if (std::optional<Seat> seat = seat_of_connection(fd); seat && !started_with("PMI_PORT"))
        return take_seat(fd, *seat, error);
    if (theirs && below_such_process(foreign_starters)) return std::make_unique<Singleton>();
    std::string trouble = trouble_with_pmi(fd, rank, size);
    if (theirs && trouble.empty()) {
        claim_process();
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return connect_pmi1(fd, rank, size, error);
    }
    error = check_foreign_job(trouble, told.has_value());
    if (error) return nullptr;
    if (theirs) return std::make_unique<Singleton>();
    // The connection must belong to the job that the variables name, because a surrounding job may have left
    // its own connection open.
    if (std::optional<Seat> seat = find_connection(fd); seat && (!told || seat->job == told->job))
        return take_seat(fd, *seat, error);
    return told ? sit_alone(*told, connection_closed, error) : sit_by_ancestry(error);
}

int expected_maxprocs() {
    int fd = number_in(started_with("PMI_FD"), -1);
    bool theirs = started_with("PMI_FD") && !set_by_mpirun("PMI_FD", "LANYARD_PMI_FD");
    if (seat_of_connection(fd) && !started_with("PMI_PORT"))
        return number_in(started_with("LANYARD_MAXPROCS"), -1);
    if (theirs || seat_told() || find_connection(fd)) return -1;
    int size = number_in(started_with("PMI_SIZE"), -1);
    Error error =
        check_foreign_job(trouble_with_pmi(fd, number_in(started_with("PMI_RANK"), -1), size), false);
    if (!error) return Singleton().maxprocs();
    error.discard();
    return -1;
}

bool parse_process_mapping(std::string_view text, int size, std::vector<int> &node_of_rank) {
    node_of_rank.clear();
    constexpr std::string_view opening = "(vector";
    if (size < 1 || !text.starts_with(opening)) return false;
    struct Block {
        int first_node, nodes, ranks_on_each;
    };
    std::vector<Block> blocks;
    size_t at = opening.size();
    while ((at = text.find('(', at)) != std::string_view::npos) {
        Block block{};
        int length = 0;
        std::string triple(text.substr(at, 64));
        if (sscanf(triple.c_str(), "(%d,%d,%d)%n", &block.first_node, &block.nodes, &block.ranks_on_each,
                   &length) != 3 ||
            length == 0)
            return false;
        if (block.first_node < 0 || block.nodes < 1 || block.ranks_on_each < 1 ||
            block.first_node > INT_MAX - block.nodes)
            return false;
        blocks.push_back(block);
        at += static_cast<size_t>(length);
    }
    if (blocks.empty()) return false;
    // A mapping for fewer ranks than `size` is repeated, as launchers intend.
    while (static_cast<int>(node_of_rank.size()) < size)
        for (const Block &block : blocks)
            for (int node = 0; node < block.nodes && static_cast<int>(node_of_rank.size()) < size; ++node)
                for (int i = 0; i < block.ranks_on_each && static_cast<int>(node_of_rank.size()) < size; ++i)
                    node_of_rank.push_back(block.first_node + node);
    return true;
}

}  // namespace lanyard
