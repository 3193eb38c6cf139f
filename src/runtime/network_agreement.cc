// See network_agreement.h.
#include "runtime/network_agreement.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "engine/process_idle.h"
#include "net/packet_io.h"
#include "net/system_sockets.h"
#include "path/dgram/dgram_path.h"
#include "path/dgram/first_contact.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {

constexpr uint64_t patience_ns = 3'000'000'000;
const char *const yes = "yes";

std::string paths_key(int rank) { return "lanyard-paths-" + std::to_string(rank); }
std::string word_key(int node) { return "lanyard-datagrams-" + std::to_string(node); }

// The value that a rank publishes, as in "3/tcp:self,tcp": the version of the protocol between processes, the
// paths in use, and the setting LANYARD_PATHS. A process with version 1 of the protocol publishes no version.
std::string paths_word(const Settings &settings, const Bootstrap &bootstrap) {
    const std::vector<std::string> words = split_words(settings.paths);
    bool shm = names_path(settings, "shm");
    std::vector<int> node = bootstrap.identity().node_of_rank;
    std::sort(node.begin(), node.end());
    bool shared = std::adjacent_find(node.begin(), node.end()) != node.end();
    std::string network = network_word(settings);
    std::string uses = network_needed(bootstrap, !network.empty(), shm) ? network : "";
    if (shared && shm) uses += uses.empty() ? "shm" : "+shm";
    if (uses.empty()) uses = "nothing";
    uses = std::to_string(wire_version) + "/" + uses;
    for (size_t i = 0; i < words.size(); ++i) uses += (i == 0 ? ':' : ',') + words[i];
    return uses;
}

// The parts of a published value. agreed() must be equal for all ranks; it consists of version_of() and
// used(). chosen() is LANYARD_PATHS.
std::string_view agreed(std::string_view word) { return word.substr(0, word.find(':')); }
std::string_view version_of(std::string_view word) {
    size_t end = agreed(word).find('/');
    return end == word.npos ? "1" : word.substr(0, end);
}
std::string_view used(std::string_view word) { return agreed(word).substr(agreed(word).find('/') + 1); }
std::string_view chosen(std::string_view word) { return word.substr(word.find(':') + 1); }

// Returns the first rank of each node, in ascending order.
std::vector<uint32_t> first_ranks(const Bootstrap &bootstrap) {
    std::vector<uint32_t> first;
    const std::vector<int> &node = bootstrap.identity().node_of_rank;
    std::vector<bool> seen(node.size());
    for (uint32_t rank = 0; rank < node.size(); ++rank)
        if (auto at = static_cast<size_t>(node[rank]); !seen[at]) {
            seen[at] = true;
            first.push_back(rank);
        }
    return first;
}

// Sends probes to these peers. Returns a peer that neither answers nor fails, if there is one. [owner]
std::optional<uint32_t> ask_all(Runtime &made, std::vector<uint32_t> peers) {
    FirstContact contact(*made.network.datagrams, std::move(peers), clock_ns() + patience_ns);
    auto over = [](const void *subject) {
        return const_cast<FirstContact *>(static_cast<const FirstContact *>(subject))->over(clock_ns());
    };
    made.engine->wait_owned(Condition{over, &contact});
    return contact.silent();
}

void tell_why(Runtime &made, uint32_t silent) {
    std::string ends = made.network.datagrams->ends(silent);
    log(LogLevel::warn, "paths",
        "no answer to datagrams of process %d to process %u for %d s%s%s: UDP seems to be blocked there, by "
        "a firewall perhaps. TCP is used instead; open these ports (LANYARD_PORT_RANGE says which), or leave "
        "dgram out of LANYARD_PATHS",
        made.bootstrap->rank(), silent, static_cast<int>(patience_ns / 1'000'000'000),
        ends.empty() ? "" : ", between ", ends.c_str());
}

// Replaces the datagrams by TCP links.
Error change_to_links(Runtime &made) {
    Network links;
    if (Error error = reopen_network(made.settings, *made.bootstrap, made.processes, links)) return error;
    if (Error error = made.bootstrap->barrier()) return error;
    if (Error error = join_network(*made.bootstrap, links)) return error;
    for (int rank = 0; rank < made.bootstrap->size(); ++rank)
        if (made.messenger->path_to(static_cast<uint32_t>(rank)) == made.network.path.get())
            made.messenger->route(static_cast<uint32_t>(rank), *links.path);
    if (made.engine->oversubscribed()) links.path->share_processors();
    made.engine->replace_path(*made.network.path, *links.path);
    if (!made.idle->watch(links.path->info.descriptor))
        return Error(ErrorClass::other,
                     "a process that sleeps at its sockets could not be woken: " + system_text(errno));
    std::swap(made.network, links);
    return {};
}

}  // namespace

Error tell_paths(const Settings &settings, Bootstrap &bootstrap) {
    return bootstrap.put(paths_key(bootstrap.rank()), paths_word(settings, bootstrap));
}

Error compare_paths(const Settings &settings, Bootstrap &bootstrap) {
    std::string own = paths_word(settings, bootstrap), usual, lower;
    if (Error error = bootstrap.get(paths_key(0), usual)) return error;
    if (agreed(own) == agreed(usual)) return {};
    for (int rank = 1; rank < bootstrap.rank(); ++rank) {
        if (Error error = bootstrap.get(paths_key(rank), lower)) return error;
        if (agreed(lower) != agreed(usual)) return bootstrap.barrier();  // the lower rank ends the job
    }
    std::string rank = std::to_string(bootstrap.rank());
    if (version_of(own) != version_of(usual))
        return Error(ErrorClass::other, "rank " + rank + " speaks version " + std::string(version_of(own)) +
                                            " of what processes say to each other, and rank 0 version " +
                                            std::string(version_of(usual)) +
                                            ": all hosts of a job need the same Lanyard");
    auto told = [](std::string_view word) {
        return std::string(chosen(word)) + " and so uses " + std::string(used(word));
    };
    return Error(ErrorClass::other, "ranks reach each other by different paths: rank " + rank +
                                        " has LANYARD_PATHS=" + told(own) + ", rank 0 has " + told(usual) +
                                        "; set it alike for all ranks, on all hosts");
}

Error prove_datagrams(Runtime &made) {
    Bootstrap &bootstrap = *made.bootstrap;
    std::vector<uint32_t> first = first_ranks(bootstrap);
    if (!made.network.datagrams || first.size() == 1) return {};
    auto own = static_cast<uint32_t>(bootstrap.rank());
    std::optional<uint32_t> silent;
    {
        EngineGuard guard(*made.engine);
        if (bootstrap.local_rank() == 0) {
            std::vector<uint32_t> others = first;
            std::erase(others, own);
            silent = ask_all(made, std::move(others));
            int node = bootstrap.identity().node_of_rank[own];
            if (Error error = bootstrap.put(word_key(node), silent ? "no" : yes)) return error;
        }
        if (Error error = meet_others(made)) return error;
    }
    std::optional<uint32_t> lowest;
    for (uint32_t rank : first) {
        std::string word;
        if (Error error = bootstrap.get(word_key(bootstrap.identity().node_of_rank[rank]), word))
            return error;
        if (word != yes && !lowest) lowest = rank;
    }
    if (!lowest) return {};
    if (lowest == own) tell_why(made, *silent);
    return change_to_links(made);
}

}  // namespace lanyard
