// Tests placements (comm/placement.h) on simulated nodes. A placement is always a permutation, keeps to the
// capacity of each node, and never cuts more edges than the given order. (An edge is cut if it connects two
// nodes.) If a grid can be divided into one block for each node, the placement cuts as few edges as these
// blocks.
#include "comm/placement.h"
#include "sim/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

namespace lanyard {
namespace {

using Ints = std::vector<int>;

Ints nodes_at(const Placement &placement, const Ints &node_of_process) {
    Ints nodes;
    for (int process : placement) nodes.push_back(node_of_process[static_cast<size_t>(process)]);
    return nodes;
}

struct Cuts {
    int64_t before, after;
};

// Checks the properties of every placement.
Cuts check(const Adjacency &adjacency, const Placement &placement, const Ints &node_of_process) {
    Ints processes = placement, all(static_cast<size_t>(adjacency.places()));
    std::sort(processes.begin(), processes.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(processes, all);
    Cuts cuts{cut(adjacency, nodes_at(all, node_of_process)),
              cut(adjacency, nodes_at(placement, node_of_process))};
    EXPECT_LE(cuts.after, cuts.before);
    if (cuts.after == cuts.before) {
        EXPECT_EQ(placement, all) << "ranks move for nothing";
    }
    return cuts;
}

Cuts check_grid(const Ints &dims, const Ints &periodic, const Ints &node_of_process) {
    return check(Adjacency::of_grid(dims, periodic), place_grid(dims, periodic, node_of_process),
                 node_of_process);
}

// Return the node of each of `processes` processes: filled() puts `each` of them on one node after the other,
// and dealt() deals them to the nodes in turn.
Ints filled(int processes, int each) {
    Ints nodes;
    for (int i = 0; i < processes; ++i) nodes.push_back(i / each);
    return nodes;
}
Ints dealt(int processes, int nodes) {
    Ints list;
    for (int i = 0; i < processes; ++i) list.push_back(i % nodes);
    return list;
}

TEST(Placement, OneNodeKeepsTheOrder) {
    EXPECT_EQ(place_grid(Ints{2, 3}, Ints{0, 1}, Ints(8, 5)), (Placement{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(place_graph(Adjacency(3, std::vector<WeightedEdge>{{2, 0}}), Ints(3, 1)),
              (Placement{0, 1, 2}));
    EXPECT_EQ(place_grid(Ints{}, Ints{}, Ints{3, 4}), Placement{0});
    EXPECT_TRUE(place_graph(Adjacency(0, {}), Ints{3, 4}).empty());
}

TEST(Placement, BlocksOfAGrid) {
    // 8 x 8 on 4 nodes: stripes of two lines cut 3 * 8 edges, squares 2 * 8.
    EXPECT_EQ(check_grid({8, 8}, {0, 0}, filled(64, 16)).after, 16);
    EXPECT_EQ(check_grid({8, 8}, {1, 1}, filled(64, 16)).after, 32);
    EXPECT_EQ(check_grid({8, 8}, {0, 0}, dealt(64, 4)).after, 16);
    // 4 x 4 x 4 on 8 nodes: cubes of 2.
    EXPECT_EQ(check_grid({4, 4, 4}, {0, 0, 0}, filled(64, 8)).after, 48);
    // A line of processes is cut least in the given order. If the processes were dealt to the nodes in turn,
    // the placement puts neighbours back together.
    EXPECT_EQ(check_grid({12}, {0}, filled(12, 4)).after, 2);
    EXPECT_EQ(check_grid({12}, {1}, dealt(12, 3)).after, 3);
    // 2 x 6 in nodes of 4: squares.
    EXPECT_EQ(check_grid({2, 6}, {0, 0}, filled(12, 4)).after, 4);
}

TEST(Placement, SquaresInTheirOrder) {
    // The processes of a node take the places of its square in the order of ranks.
    EXPECT_EQ(place_grid(Ints{4, 4}, Ints{0, 0}, filled(16, 4)),
              (Placement{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
    // If there are more processes than places, the first processes get the places.
    EXPECT_EQ(place_grid(Ints{2, 2}, Ints{0, 0}, dealt(9, 2)).size(), 4u);
}

TEST(Placement, RandomGrids) {
    std::mt19937_64 random(sim::first_seed());
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(sim::first_seed()) + " round " +
                     std::to_string(round));
        Ints dims, periodic;
        int places = 1;
        for (auto d = random() % 4; d > 0; --d) {
            dims.push_back(1 + static_cast<int>(random() % 6));
            periodic.push_back(static_cast<int>(random() % 2));
            places *= dims.back();
        }
        Ints nodes;
        int count = 1 + static_cast<int>(random() % 6), spare = static_cast<int>(random() % 3);
        for (int i = 0; i < places + spare; ++i)
            nodes.push_back(static_cast<int>(random() % static_cast<uint64_t>(count)));
        if (random() % 2) std::sort(nodes.begin(), nodes.end());
        check_grid(dims, periodic, nodes);
    }
}

TEST(Placement, RandomGraphs) {
    std::mt19937_64 random(sim::first_seed());
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(sim::first_seed()) + " round " +
                     std::to_string(round));
        int places = 1 + static_cast<int>(random() % 40);
        auto any = [&] { return static_cast<int>(random() % static_cast<uint64_t>(places)); };
        std::vector<WeightedEdge> edges;
        for (auto e = random() % 120; e > 0; --e)
            edges.push_back({any(), any(), static_cast<int64_t>(random() % 10)});
        Ints nodes;
        for (int i = 0; i < places; ++i) nodes.push_back(static_cast<int>(random() % 5));
        Adjacency adjacency(places, edges);
        check(adjacency, place_graph(adjacency, nodes), nodes);
    }
}

// Processes communicate within clusters, but the ranks of the clusters are mixed. Each cluster must be placed
// on one node.
TEST(Placement, ClustersOfAGraph) {
    const int clusters = 6, members = 8, places = clusters * members;
    std::vector<WeightedEdge> edges;
    for (int place = 0; place < places; ++place)
        for (int other = place + clusters; other < places; other += clusters)
            edges.push_back({place, other, 5});
    for (int cluster = 1; cluster < clusters; ++cluster) edges.push_back({cluster - 1, cluster, 1});
    Adjacency adjacency(places, edges);
    EXPECT_EQ(
        check(adjacency, place_graph(adjacency, filled(places, members)), filled(places, members)).after,
        clusters - 1);
}

}  // namespace
}  // namespace lanyard
