// See nodes.h.
#include "coll/nodes.h"

#include <algorithm>
#include <unordered_map>

namespace lanyard {

namespace {

// Numbers the hosts in the order in which they first appear, and returns the number of hosts.
int number_nodes(std::span<const uint32_t> hosts, std::vector<int32_t> &number_of) {
    std::unordered_map<uint32_t, int32_t> numbers;
    for (uint32_t host : hosts)
        number_of.push_back(numbers.try_emplace(host, static_cast<int32_t>(numbers.size())).first->second);
    return static_cast<int>(numbers.size());
}

std::vector<int32_t> sizes_of(const std::vector<int32_t> &number_of, int count) {
    std::vector<int32_t> sizes(static_cast<size_t>(count));
    for (int32_t number : number_of) ++sizes[static_cast<size_t>(number)];
    return sizes;
}

}  // namespace

std::shared_ptr<const Nodes> find_nodes(std::span<const uint32_t> hosts, bool memory_is_shared) {
    bool on_one = std::all_of(hosts.begin(), hosts.end(), [&](uint32_t host) { return host == hosts[0]; });
    if (hosts.size() < 2 || (on_one && memory_is_shared)) return nullptr;
    auto nodes = std::make_shared<Nodes>();
    int count = number_nodes(hosts, nodes->node_of);
    std::vector<int32_t> sizes = sizes_of(nodes->node_of, count);
    nodes->most_on_host = *std::max_element(sizes.begin(), sizes.end());
    if (!memory_is_shared) {
        count = static_cast<int>(hosts.size());
        sizes.assign(hosts.size(), 1);
        for (int32_t i = 0; i < count; ++i) nodes->node_of[static_cast<size_t>(i)] = i;
    }
    nodes->most = *std::max_element(sizes.begin(), sizes.end());
    nodes->fewest = *std::min_element(sizes.begin(), sizes.end());
    nodes->runs = std::is_sorted(nodes->node_of.begin(), nodes->node_of.end());
    nodes->first.assign(1, 0);
    for (int32_t size : sizes) nodes->first.push_back(nodes->first.back() + size);
    nodes->members.resize(hosts.size());
    std::vector<int32_t> next(nodes->first);
    for (size_t i = 0; i < hosts.size(); ++i) {
        int32_t &place = next[static_cast<size_t>(nodes->node_of[i])];
        nodes->members[static_cast<size_t>(place++)] = static_cast<int32_t>(i);
    }
    return nodes;
}

}  // namespace lanyard
