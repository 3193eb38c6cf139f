// Tests neighbourhood collectives. All ranks are simulated in one process, and events happen in random order.
// The topologies are random graphs (with repeated edges, and ranks that are their own neighbours) and grids
// (also with dimensions of size 1 and 2). The test finds by a simple search where every block must arrive.
// All other memory must stay unchanged, and each edge between two ranks must take one message.
#include "coll/neighbors.h"

#include <chrono>

#include "algorithm_checks.h"

namespace lanyard::testing {
namespace {

// The lists of neighbours of all ranks, as a program would pass them. The i-th block that rank r receives
// comes from rank sources[r][i], which sends it to its destination number partner[r][i].
struct Network {
    std::vector<Neighborhood> at;
    std::vector<std::vector<int>> sources, destinations, partner;
    int size() const { return static_cast<int>(at.size()); }
};

// If several edges lead from rank b to rank a, the k-th occurrence of b among the sources of a belongs to the
// k-th occurrence of a among the destinations of b.
Network network_of(std::vector<std::vector<int>> sources, std::vector<std::vector<int>> destinations) {
    Network network;
    for (size_t rank = 0; rank < sources.size(); ++rank) {
        network.at.push_back(graph_neighborhood(sources[rank], destinations[rank]));
        network.partner.emplace_back();
        for (size_t i = 0; i < sources[rank].size(); ++i) {
            int from = sources[rank][i];
            auto k =
                std::count(sources[rank].begin(), sources[rank].begin() + static_cast<ptrdiff_t>(i), from);
            const std::vector<int> &list = destinations[static_cast<size_t>(from)];
            int at = -1;
            for (size_t j = 0; j < list.size() && at < 0; ++j)
                if (list[j] == static_cast<int>(rank) && k-- == 0) at = static_cast<int>(j);
            network.partner.back().push_back(at);
        }
    }
    network.sources = std::move(sources);
    network.destinations = std::move(destinations);
    return network;
}

Network random_graph(int size, int edges, std::mt19937_64 &random) {
    std::vector<std::vector<int>> sources(static_cast<size_t>(size)), destinations(static_cast<size_t>(size));
    for (int edge = 0; edge < edges; ++edge) {
        size_t from = random() % static_cast<size_t>(size), to = random() % static_cast<size_t>(size);
        for (auto times = random() % 4 ? 1 : random() % 5; times > 0; --times) {
            destinations[from].push_back(static_cast<int>(to));
            sources[to].push_back(static_cast<int>(from));
        }
    }
    for (auto *lists : {&sources, &destinations})
        for (std::vector<int> &list : *lists) std::shuffle(list.begin(), list.end(), random);
    return network_of(std::move(sources), std::move(destinations));
}

// In each dimension, a rank has a neighbour before it and one after it. From the neighbour before it, the
// rank receives the block that this neighbour sends to the neighbour after itself. The opposite direction is
// the same.
Network grid(const std::vector<int> &dims, const std::vector<int> &periodic) {
    int size = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
    Network network;
    for (int rank = 0; rank < size; ++rank) {
        std::vector<int> neighbors, partner;
        int stride = size;
        for (size_t d = 0; d < dims.size(); ++d) {
            stride /= dims[d];
            int coordinate = rank / stride % dims[d];
            for (int step : {-1, 1}) {
                int there = coordinate + step;
                bool outside = there < 0 || there >= dims[d];
                int wrapped = (there + dims[d]) % dims[d];
                neighbors.push_back(outside && !periodic[d] ? abi::proc_null
                                                            : rank + (wrapped - coordinate) * stride);
                partner.push_back(static_cast<int>(2 * d) + (step < 0 ? 1 : 0));
            }
        }
        network.at.push_back(grid_neighborhood(neighbors));
        network.sources.push_back(neighbors);
        network.destinations.push_back(neighbors);
        network.partner.push_back(partner);
    }
    return network;
}

enum class Kind { allgather, even, uneven };

// The number of elements in block j of rank `from`. Receivers compute the number in the same way.
int64_t length(Kind kind, int from, int j) { return kind == Kind::uneven ? (from + 2 * j) % 4 : 3; }

Pair value(Kind kind, int from, int j, int64_t i) {
    return value_of(from * 1000 + (kind == Kind::allgather ? 0 : j), i);
}

// The layout of the blocks that a rank sends, or of those that it receives. Uneven blocks are in
// reverse order, with a gap after each.
struct Side {
    std::vector<int64_t> counts, places;
    int64_t elements = 0;
    void lay_out(bool even) {
        places.resize(counts.size());
        for (size_t k = 0; k < counts.size(); ++k) {
            size_t i = even ? k : counts.size() - 1 - k;
            places[i] = elements;
            elements += counts[i] + (even ? 0 : 1);
        }
    }
    Division division(Space space, Kind kind, const Datatype &type) const {
        if (kind != Kind::uneven) return Division::even(space, 3, type);
        return Division::uneven(space, {counts.data(), 8}, {places.data(), 8}, type);
    }
};

struct Expected {
    std::vector<std::byte> bytes;
    int64_t messages = 0;
};

// Prepares rank `rank` of the machine. Returns the contents that its receive buffer must have at the end,
// and the number of messages that the rank must receive.
Expected prepare(Machine &machine, const Network &network, Kind kind, const Datatype &type, int rank) {
    auto at = static_cast<size_t>(rank);
    const std::vector<int> &sources = network.sources[at], &destinations = network.destinations[at];
    Side out, in;
    for (size_t j = 0; j < (kind == Kind::allgather ? 1 : destinations.size()); ++j)
        out.counts.push_back(length(kind, rank, static_cast<int>(j)));
    for (size_t i = 0; i < sources.size(); ++i)
        in.counts.push_back(sources[i] == abi::proc_null ? 2
                                                         : length(kind, sources[i], network.partner[at][i]));
    out.lay_out(kind != Kind::uneven);
    in.lay_out(kind != Kind::uneven);
    if (kind != Kind::uneven) in.elements = 3 * static_cast<int64_t>(sources.size());
    Memory send(out.elements, plain_pair()), receive(in.elements, type), expected(in.elements, type);
    for (size_t j = 0; j < out.counts.size(); ++j)
        for (int64_t e = 0; e < out.counts[j]; ++e)
            send.put(out.places[j] + e, value(kind, rank, static_cast<int>(j), e));
    Expected result;
    for (size_t i = 0; i < sources.size(); ++i) {
        if (sources[i] == abi::proc_null) continue;
        int64_t place = kind == Kind::uneven ? in.places[i] : 3 * static_cast<int64_t>(i);
        for (int64_t e = 0; e < in.counts[i]; ++e)
            expected.put(place + e, value(kind, sources[i], network.partner[at][i], e));
        result.messages += sources[i] != rank && in.counts[i] > 0;
    }
    give(machine.rank(rank), send, receive);
    NeighborShape shape{{rank, network.size()}, &network.at[at],
                        out.division(Space::send, kind, plain_pair()), kind == Kind::allgather,
                        in.division(Space::receive, kind, type)};
    neighbors_direct(shape, machine.rank(rank).schedule);
    result.bytes = expected.bytes;
    return result;
}

void check_network(const Network &network, uint64_t random, const std::string &what) {
    for (Kind kind : {Kind::allgather, Kind::even, Kind::uneven})
        for (const Datatype *type : datatypes()) {
            Machine machine(network.size(), random);
            std::vector<Expected> expected;
            int64_t messages = 0;
            for (int rank = 0; rank < network.size(); ++rank) {
                expected.push_back(prepare(machine, network, kind, *type, rank));
                messages += expected.back().messages;
            }
            std::string which = what + " kind " + std::to_string(static_cast<int>(kind)) +
                                " LANYARD_TEST_SEED=" + std::to_string(seed());
            ASSERT_EQ(machine.run(), "") << which;
            ASSERT_EQ(machine.observed().messages, messages) << which;
            if (messages > 0 && network.at[0].sources.size() < max_labels) {
                ASSERT_EQ(machine.observed().rounds, 1) << which;
            }
            for (int rank = 0; rank < network.size(); ++rank)
                ASSERT_EQ(machine.rank(rank).receive, expected[static_cast<size_t>(rank)].bytes)
                    << which << " rank " << rank;
        }
}

std::chrono::seconds test_time() {
    const char *text = std::getenv("LANYARD_TEST_SECONDS");
    return std::chrono::seconds(text ? std::atoi(text) : 2);
}

TEST(Neighbors, RandomGraphs) {
    std::mt19937_64 random(seed());
    auto end = std::chrono::steady_clock::now() + test_time();
    for (int round = 0; round < 20 || std::chrono::steady_clock::now() < end; ++round) {
        int size = 1 + static_cast<int>(random() % 9), edges = static_cast<int>(random() % 30);
        check_network(random_graph(size, edges, random), random(), "graph " + std::to_string(round));
        if (HasFatalFailure()) return;
    }
}

TEST(Neighbors, Grids) {
    const std::vector<std::vector<int>> all{{}, {1}, {2}, {3}, {5}, {1, 1}, {2, 2}, {1, 4}, {2, 3}, {3, 3},
                                            {2, 2, 2}, {1, 2, 3}, {3, 1, 2, 2}};
    uint64_t random = seed();
    for (const std::vector<int> &dims : all)
        for (unsigned wrapped = 0; wrapped < 1u << dims.size(); ++wrapped) {
            std::vector<int> periodic;
            for (size_t d = 0; d < dims.size(); ++d) periodic.push_back(static_cast<int>(wrapped >> d & 1));
            check_network(grid(dims, periodic), ++random,
                          "grid " + ::testing::PrintToString(dims) + ::testing::PrintToString(periodic));
            if (HasFatalFailure()) return;
        }
}

// If two ranks have more edges than there are labels for messages, the order of the messages
// distinguishes the edges.
TEST(Neighbors, MoreEdgesThanLabels) {
    const size_t edges = 2 * max_labels + 100;
    std::vector<std::vector<int>> lists{std::vector<int>(edges, 1), std::vector<int>(edges, 0)};
    lists[0].insert(lists[0].begin() + max_labels, 0);  // one of the edges leads from rank 0 to itself
    check_network(network_of(lists, lists), seed(), "many edges");
}

TEST(Neighbors, NobodyIsANeighbour) {
    Schedule schedule;
    Neighborhood nobody;
    neighbors_direct({{0, 1}, &nobody, {}, false, {}}, schedule);
    EXPECT_TRUE(schedule.steps().empty());
}

}  // namespace
}  // namespace lanyard::testing
