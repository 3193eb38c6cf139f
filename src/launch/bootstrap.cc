// Chooses how this process joins its job: PMI-1 where a launcher offers it, else alone, unless the environment shows
// the job of a launcher that cannot be joined; see bootstrap.h.
#include "launch/bootstrap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "launch/pmi_client.h"

namespace lanyard {

namespace {

class Singleton final : public Bootstrap {
public:
    Singleton() {
        uint64_t random[2] = {};
        if (getrandom(random, sizeof random, 0) != sizeof random) random[0] = static_cast<uint64_t>(getpid());
        char job[40];
        snprintf(job, sizeof job, "%016llx%016llx", static_cast<unsigned long long>(random[0]), static_cast<unsigned long long>(random[1]));
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
        return Error(ErrorClass::name, "nothing was published under \"" + key + "\" in this process, which runs without a launcher");
    }
    Error barrier() override { return {}; }
    void abort(int, std::string_view message, bool) override {
        std::string text(message);
        if (!text.empty()) text += '\n';
        [[maybe_unused]] ssize_t written = write(2, text.data(), text.size());
    }
    Error finalize() override { return {}; }

private:
    std::vector<std::pair<std::string, std::string>> published_;
};

// The variables by which launchers tell a process that it is one of several. A size of 1 is no job to be missed.
struct ForeignSign {
    const char *variable;
    bool is_size;  // the value counts the processes; otherwise its presence is the sign
    const char *launcher;
    const char *remedy;
};
constexpr const char *use_mpirun = "start it with this library's mpirun (mpirun -n N PROGRAM)";
constexpr const char *use_descriptor = "start it with this library's mpirun (mpirun -n N PROGRAM), or with mpiexec.hydra without -pmi-port";
constexpr ForeignSign foreign_signs[] = {
    {"SLURM_STEP_NUM_TASKS", true, "Slurm (srun)", "start it with srun --mpi=pmi2, or with this library's mpirun inside the allocation"},
    {"SLURM_NTASKS", true, "Slurm", "start it with srun --mpi=pmi2, or with this library's mpirun inside the allocation"},
    {"OMPI_COMM_WORLD_SIZE", true, "Open MPI's mpirun", use_mpirun},
    {"MV2_COMM_WORLD_SIZE", true, "MVAPICH's launcher", use_mpirun},
    {"FLUX_JOB_SIZE", true, "Flux", use_mpirun},
    {"JSM_NAMESPACE_SIZE", true, "jsrun", use_mpirun},
    {"PMI_SIZE", true, "a launcher of the PMI family", use_mpirun},
    {"MPI_LOCALNRANKS", true, "Hydra", use_mpirun},
    {"PMI_PORT", false, "a launcher of the PMI family", use_descriptor},
    {"PMI_FD", false, "a launcher of the PMI family", use_mpirun},
    {"PMI_RANK", false, "a launcher of the PMI family", use_mpirun},
    {"PMI_ID", false, "a launcher of the PMI family", use_mpirun},
    {"PMIX_RANK", false, "a PMIx launcher", use_mpirun},
    {"PMIX_NAMESPACE", false, "a PMIx launcher", use_mpirun},
};

int number_in(const char *text, int otherwise) {
    if (!text) return otherwise;
    std::string_view view(text);
    int number = otherwise;
    auto [end, trouble] = std::from_chars(view.data(), view.data() + view.size(), number);
    return trouble == std::errc{} && end == view.data() + view.size() ? number : otherwise;
}

// An error when the environment shows a job of several processes that this one has no way to join.
Error check_foreign_job(const std::string &why_not_pmi) {
    // A launcher that says "one process" and also sets PMIx or PMI ranks has started just this one.
    if (number_in(getenv("OMPI_COMM_WORLD_SIZE"), 0) == 1 || number_in(getenv("PMI_SIZE"), 0) == 1) return {};
    const ForeignSign *first = nullptr;
    std::string to_forget;
    for (const ForeignSign &sign : foreign_signs) {
        const char *value = getenv(sign.variable);
        if (!value || (sign.is_size && number_in(value, 0) <= 1)) continue;
        if (!first) first = &sign;
        to_forget += std::string(" -u ") + sign.variable;
    }
    if (!first) return {};
    // A size is known to be of several; of the other signs nobody knows how many others there are.
    const char *how = first->is_size ? "as one of several" : "as part of a job";
    std::string seen = std::string("this process was started by ") + first->launcher + " " + how + " (" + first->variable + "=" +
                       getenv(first->variable) + "), but it cannot join " + (first->is_size ? "them" : "it") +
                       (why_not_pmi.empty() ? "" : ": " + why_not_pmi) + "; running as rank 0 of 1 would be wrong";
    return Error(ErrorClass::other, seen + "\nwhat to do: " + first->remedy + "; to run it alone on purpose, start it with env" + to_forget);
}

bool is_open_socket(int fd) {
    struct stat about;
    return fd >= 0 && fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

// Why PMI_FD, PMI_RANK and PMI_SIZE cannot be used, or "" when they can or are not there at all. Of PMI_PORT and PMI_ID
// nothing is used: they are the form of PMI-1 in which a process calls its launcher over TCP.
std::string trouble_with_pmi(int fd, int rank, int size) {
    if (!getenv("PMI_FD")) {
        if (getenv("PMI_PORT")) return "PMI_FD, the connection to the launcher, is not set, and the address PMI_PORT is not used by this library";
        return getenv("PMI_RANK") || getenv("PMI_ID") ? "PMI_FD, the connection to the launcher, is not set" : "";
    }
    if (!is_open_socket(fd))
        return std::string("the descriptor PMI_FD=") + getenv("PMI_FD") +
               " is no open socket (so it is in programs that a rank itself starts, or behind a wrapper that closes descriptors)";
    if (size < 1 || rank < 0 || rank >= size)
        return "PMI_RANK and PMI_SIZE are not a rank and a size";
    return "";
}

// What the environment says of this process's place in a job of the PMI family.
struct PmiPlace {
    int fd = number_in(getenv("PMI_FD"), -1);
    int rank = number_in(getenv("PMI_RANK"), -1);
    int size = number_in(getenv("PMI_SIZE"), -1);
    std::string trouble = trouble_with_pmi(fd, rank, size);

    bool can_be_joined() const { return getenv("PMI_FD") && trouble.empty(); }
};

}  // namespace

std::unique_ptr<Bootstrap> connect_bootstrap(Error &error) {
    error = Error{};
    PmiPlace place;
    if (place.can_be_joined()) {
        // Programs this rank starts are not ranks: they must not find a connection that is not theirs.
        fcntl(place.fd, F_SETFD, FD_CLOEXEC);
        return connect_pmi1(place.fd, place.rank, place.size, error);
    }
    error = check_foreign_job(place.trouble);
    if (error) return nullptr;
    return std::make_unique<Singleton>();
}

int expected_maxprocs() {
    PmiPlace place;
    if (place.can_be_joined()) {
        // Another launcher that was started by a rank of a job of mpirun's hands this on, with numbers of
        // that job.
        bool of_this_job = number_in(getenv("LANYARD_RANK"), -1) == place.rank &&
                           number_in(getenv("LANYARD_SIZE"), -1) == place.size;
        return of_this_job ? number_in(getenv("LANYARD_MAXPROCS"), -1) : -1;
    }
    Error error = check_foreign_job(place.trouble);
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
        if (sscanf(triple.c_str(), "(%d,%d,%d)%n", &block.first_node, &block.nodes, &block.ranks_on_each, &length) != 3 || length == 0) return false;
        if (block.first_node < 0 || block.nodes < 1 || block.ranks_on_each < 1 || block.first_node > INT_MAX - block.nodes) return false;
        blocks.push_back(block);
        at += static_cast<size_t>(length);
    }
    if (blocks.empty()) return false;
    // A mapping shorter than the job is repeated, as launchers mean it.
    while (static_cast<int>(node_of_rank.size()) < size)
        for (const Block &block : blocks)
            for (int node = 0; node < block.nodes && static_cast<int>(node_of_rank.size()) < size; ++node)
                for (int i = 0; i < block.ranks_on_each && static_cast<int>(node_of_rank.size()) < size; ++i)
                    node_of_rank.push_back(block.first_node + node);
    return true;
}

}  // namespace lanyard
