// Reports what each rank waits for. See waits.h. The form of the records is defined in base/wait_record.h.
#include "launch/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/wait_record.h"

namespace lanyard::launch {

namespace {

constexpr size_t most_spans = 8;

// The ranks for which `chosen` is true: "rank 1", "ranks 1, 3 and 5 to 9" or "ranks 0, 2, 4, ... (50 ranks)";
// "" if there are none.
std::string name_ranks(const std::vector<RankStage> &stages,
                       const std::function<bool(const RankStage &)> &chosen) {
    std::vector<std::string> spans;
    size_t count = 0;
    for (size_t first = 0; first < stages.size(); ++first) {
        if (!chosen(stages[first])) continue;
        size_t last = first;
        while (last + 1 < stages.size() && chosen(stages[last + 1])) ++last;
        count += last - first + 1;
        if (last > first + 1) spans.push_back(fmt::format("{} to {}", first, last));
        else for (size_t rank = first; rank <= last; ++rank) spans.push_back(std::to_string(rank));
        first = last;
    }
    if (spans.empty()) return "";
    std::string text = (count == 1 ? "rank " : "ranks ") + spans[0];
    if (spans.size() > most_spans) {
        for (size_t i = 1; i < most_spans; ++i) text += ", " + spans[i];
        return text + fmt::format(", ... ({} ranks)", count);
    }
    for (size_t i = 1; i < spans.size(); ++i) text += (i + 1 < spans.size() ? ", " : " and ") + spans[i];
    return text;
}

// Describes the ranks that have not entered the barrier of PMI. The ranks in the barrier wait for these.
std::string missing(const std::vector<RankStage> &stages) {
    std::vector<std::string> groups;
    auto add = [&](const std::string &ranks, const std::string &which) {
        if (!ranks.empty()) groups.push_back(ranks + ", which " + which);
    };
    std::string absent =
        name_ranks(stages, [](const RankStage &stage) { return !stage.joined && !stage.ended; });
    add(absent, absent.starts_with("ranks") ? "have not called it" : "has not called it");
    add(name_ranks(stages, [](const RankStage &stage) { return !stage.joined && stage.ended; }),
        "ended without calling it");
    std::string within =
        name_ranks(stages, [](const RankStage &stage) { return stage.joined && !stage.in_barrier; });
    add(within, within.starts_with("ranks") ? "have begun it" : "has begun it");
    std::string text;
    for (size_t i = 0; i < groups.size(); ++i) text += (i ? ", and for " : "") + groups[i];
    return text;
}

std::string describe(const RankStage &stage, const std::string &others) {
    if (!stage.joined) return stage.ended ? "has ended without calling MPI_Init" : "has not called MPI_Init";
    std::string call = stage.session ? "MPI_Session_init" : "MPI_Init";
    if (stage.in_barrier && !others.empty()) return "waits in " + call + " for " + others;
    return "is in " + call;
}

// Describes a rank whose MPI library writes no records into the segment that mpirun has created.
std::string describe_foreign(const RankStage &stage, const std::string &others) {
    if (stage.left) return "has finalised MPI";
    bool in_first_barrier = stage.in_barrier && stage.barriers_passed == 0;
    if (!stage.joined || in_first_barrier) return describe(stage, others);
    return "has called MPI_Init; what it waits for is not known, because its library does not report it";
}

}  // namespace

std::vector<RankWaits> local_waits(int segment_fd, const std::vector<int> &ranks,
                                   const std::vector<RankStage> &stages) {
    std::vector<std::string> recorded =
        segment_fd >= 0 ? describe_waits(segment_fd) : std::vector<std::string>{};
    std::vector<RankWaits> waits;
    for (size_t i = 0; i < ranks.size(); ++i)
        waits.push_back(
            {ranks[i], true, !recorded.empty(), i < recorded.size() ? recorded[i] : "", stages[i]});
    return waits;
}

std::string report_waits(const std::vector<RankWaits> &waits, const Placement &placement) {
    if (std::none_of(waits.begin(), waits.end(),
                     [](const RankWaits &rank) { return rank.stage.joined || !rank.known; }))
        return waits.size() == 1
                   ? "  nothing is known of rank 0: it has not called MPI_Init\n"
                   : fmt::format("  nothing is known of the {} ranks: none has called MPI_Init\n",
                                 waits.size());
    std::vector<RankStage> stages;
    for (const RankWaits &rank : waits) stages.push_back(rank.stage);
    std::string others = missing(stages);
    std::string text;
    for (const RankWaits &rank : waits) {
        const std::string &host =
            placement.hosts[static_cast<size_t>(placement.node_of_rank[static_cast<size_t>(rank.rank)])];
        if (!rank.known) text += fmt::format("  rank {}: its host {} has not answered\n", rank.rank, host);
        else if (!rank.line.empty()) text += "  " + rank.line + "\n";
        else
            text += fmt::format(
                "  rank {}: {}\n", rank.rank,
                rank.recorded ? describe(rank.stage, others) : describe_foreign(rank.stage, others));
    }
    return text;
}

}  // namespace lanyard::launch
