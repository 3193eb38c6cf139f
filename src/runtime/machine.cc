// See machine.h.
#include "runtime/machine.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "base/processors.h"

namespace lanyard {

namespace {

std::string kernel_key(int node) { return "lanyard-kernel-" + std::to_string(node); }
std::string machine_key(int node) { return "lanyard-machine-" + std::to_string(node); }

const std::vector<int> &node_of_rank(const Bootstrap &bootstrap) { return bootstrap.identity().node_of_rank; }
int own_node(const Bootstrap &bootstrap) {
    return node_of_rank(bootstrap)[static_cast<size_t>(bootstrap.rank())];
}

// The number of ranks on each node.
std::vector<int> ranks_of_nodes(const Bootstrap &bootstrap) {
    const std::vector<int> &node = node_of_rank(bootstrap);
    std::vector<int> ranks(static_cast<size_t>(1 + *std::max_element(node.begin(), node.end())));
    for (int each : node) ++ranks[static_cast<size_t>(each)];
    return ranks;
}

// An id that is equal in all containers of a kernel and different after each boot; empty if it is not
// available.
std::string boot_id() {
    char text[64] = "";
    if (FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
        if (std::fscanf(file, "%63s", text) != 1) text[0] = 0;
        std::fclose(file);
    }
    return text;
}

int noted_processors(const SegmentHeader &header) {
    int together = 0;
    for (const std::atomic<uint64_t> &word : header.processors)
        together += std::popcount(word.load(std::memory_order_relaxed));
    return header.processor_quota ? std::min(together, static_cast<int>(header.processor_quota)) : together;
}

}  // namespace

void note_processors(SegmentHeader &header, bool first) {
    std::vector<int> allowed = allowed_processors();
    for (int number : allowed) {
        // Processors whose numbers are too large for the header share bits with others.
        size_t bit = static_cast<size_t>(number) % (std::size(header.processors) * 64);
        header.processors[bit / 64].fetch_or(uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
    int granted = granted_processors();
    if (first && granted < static_cast<int>(allowed.size()))
        header.processor_quota = static_cast<uint32_t>(granted);
}

Shared shared_on_node(const Bootstrap &bootstrap, const SegmentHeader *header) {
    bool alike = header || bootstrap.local_size() == 1;
    return {bootstrap.local_size(), header ? noted_processors(*header) : granted_processors(), alike};
}

Error tell_kernel(Bootstrap &bootstrap) {
    if (bootstrap.local_rank() != 0 || ranks_of_nodes(bootstrap).size() == 1) return {};
    std::string id = boot_id();
    return bootstrap.put(kernel_key(own_node(bootstrap)), id.empty() ? "unknown" : id);
}

Error shared_on_kernel(Bootstrap &bootstrap, Shared &shared) {
    std::vector<int> ranks = ranks_of_nodes(bootstrap);
    std::string own = boot_id(), other;
    shared = {bootstrap.local_size(), static_cast<int>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN))), true};
    if (own.empty()) return {};
    for (int node = 0; node < static_cast<int>(ranks.size()); ++node) {
        int there = ranks[static_cast<size_t>(node)];
        if (there == 0 || node == own_node(bootstrap)) continue;
        if (Error error = bootstrap.get(kernel_key(node), other)) return error;
        if (other == own) shared.ranks += there;
    }
    return {};
}

Error agree_on_machine(Bootstrap &bootstrap, const Shared &shared, int64_t speed_mbit, Machine &machine) {
    int own = shared.oversubscribed() ? shared.processors : 0;
    int &oversubscribed = machine.oversubscribed;
    std::vector<int> ranks = ranks_of_nodes(bootstrap);
    if (ranks.size() == 1 && shared.alike) {
        oversubscribed = own;
        return {};
    }
    if (bootstrap.local_rank() == 0) {
        std::string value = std::to_string(own) + ":" + std::to_string(speed_mbit);
        if (Error error = bootstrap.put(machine_key(own_node(bootstrap)), value)) return error;
    }
    if (Error error = bootstrap.barrier()) return error;
    for (int number = 0; number < static_cast<int>(ranks.size()); ++number) {
        std::string value;
        if (ranks[static_cast<size_t>(number)] == 0) continue;
        if (Error error = bootstrap.get(machine_key(number), value)) return error;
        char *end = nullptr;
        auto there = static_cast<int>(std::strtol(value.c_str(), &end, 10));
        int64_t speed = *end == ':' ? std::strtol(end + 1, nullptr, 10) : 0;
        if (speed > 0 && (machine.speed_mbit == 0 || speed < machine.speed_mbit)) machine.speed_mbit = speed;
        if (there > 0 && (oversubscribed == 0 || there < oversubscribed)) oversubscribed = there;
    }
    return {};
}

}  // namespace lanyard
