// Names ranks, hosts and signals in sentences. See wording.h.
#include "launch/wording.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "base/error.h"

namespace lanyard::launch {

const std::string &host_of(const Plan &plan, int rank) {
    return plan.placement.hosts[static_cast<size_t>(plan.placement.node_of_rank[static_cast<size_t>(rank)])];
}

std::string rank_text(const Plan &plan, int rank, int pid) {
    size_t program = 0;
    for (int behind = plan.programs[0].ranks; behind <= rank; behind += plan.programs[program].ranks)
        ++program;
    std::string process = pid > 0 ? fmt::format("process {} ", pid) : "";
    return fmt::format("rank {} ({}, {}on {})", rank, plan.programs[program].words[0], process,
                       host_of(plan, rank));
}

std::string short_rank_text(const Plan &plan, int rank) {
    return plan.placement.hosts.size() == 1 ? fmt::format("rank {}", rank)
                                            : fmt::format("rank {} on {}", rank, host_of(plan, rank));
}

std::string ranks_text(const Placement &placement, int node) {
    std::vector<int> ranks = placement.ranks_on(node);
    if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
    if (ranks.size() == 2) return fmt::format("ranks {} and {}", ranks[0], ranks[1]);
    bool neighbours = static_cast<size_t>(ranks.back() - ranks.front()) + 1 == ranks.size();
    return neighbours ? fmt::format("ranks {} to {}", ranks.front(), ranks.back())
                      : fmt::format("ranks {}, {}, ... {} ({} ranks)", ranks[0], ranks[1], ranks.back(),
                                    ranks.size());
}

std::string cannot_open_text(const Plan &plan, int rank, const std::string &what, int error_number) {
    const char *remedy = error_number == EMFILE ? "; raise the limit of open files (ulimit -n)" : "";
    return fmt::format("{}: {} cannot be opened: {}{}", short_rank_text(plan, rank), what,
                       system_text(error_number), remedy);
}

std::string signal_text(int signal_number) {
    const char *name = sigabbrev_np(signal_number);
    const char *description = sigdescr_np(signal_number);
    if (!name || !description) return fmt::format("signal {}", signal_number);
    return fmt::format("signal {} (SIG{}: {})", signal_number, name, description);
}

}  // namespace lanyard::launch
