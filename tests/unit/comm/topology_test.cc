// Creates communicators with a topology, among ranks that are threads, on several simulated nodes. Tests
// which process gets which rank, and that the lists follow reordered ranks. An edge must arrive at its two
// ends, whichever rank names it.
#include "comm/topology.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "comm/placement.h"
#include "sim/seeds.h"
#include "unit/comm/thread_job.h"

namespace lanyard {
namespace {

using test::Rank;
using test::run_job;
using Ints = std::vector<int>;

struct Shape {
    uint32_t size, ranks_per_node;
};
const Shape shapes[] = {{1, 1}, {2, 2}, {4, 2}, {5, 2}, {8, 4}, {9, 4}};

void run(Shape shape, const std::function<void(Rank &)> &body) {
    run_job(shape.size, shape.ranks_per_node, static_cast<unsigned>(sim::first_seed()), body);
}

TEST(Topology, GridCoordinates) {
    Grid grid{{2, 3, 4}, {0, 1, 0}};
    EXPECT_EQ(grid.size(), 24);
    for (int rank = 0; rank < 24; ++rank) EXPECT_EQ(grid.rank_at(grid.coords_of(rank)), rank);
    EXPECT_EQ(grid.coords_of(23), (Ints{1, 2, 3}));
    EXPECT_EQ(grid.rank_at({0, -4, 1}), grid.rank_at({0, 2, 1}));
    EXPECT_EQ(grid.rank_at({0, INT32_MIN, 1}), grid.rank_at({0, 1, 1}));
    EXPECT_EQ(grid.rank_at({2, 0, 0}), abi::proc_null);
    EXPECT_EQ(grid.shifted({0, 2, 0}, 1, int64_t{INT32_MAX} * 3 + 1), grid.rank_at({0, 0, 0}));
    EXPECT_EQ(grid.shifted({0, 2, 0}, 0, -int64_t{INT32_MIN}), abi::proc_null);
    EXPECT_EQ(Grid{}.size(), 1);
    EXPECT_EQ(Grid{}.rank_at({}), 0);
}

TEST(Topology, GridsOnSeveralNodes) {
    for (Shape shape : shapes)
        run_job(shape.size, shape.ranks_per_node, static_cast<unsigned>(sim::first_seed()), [&](Rank &rank) {
            Comm *made = nullptr, *part = nullptr;
            int long_side = static_cast<int>(shape.size) / 2 > 0 ? static_cast<int>(shape.size) / 2 : 1;
            Grid grid{{shape.size > 1 ? 2 : 1, long_side}, {0, 1}};
            int expected = rank_in_grid(rank.world(), grid);
            ASSERT_FALSE(create_grid(rank.world(), grid, true, made));
            ASSERT_EQ(made ? made->rank : abi::undefined, expected);
            if (!made) return;
            EXPECT_EQ(made->size, grid.size());
            ASSERT_TRUE(made->topology && made->topology->grid());
            EXPECT_EQ(made->topology->neighborhood.sources.size(), 4u);

            const int remain[] = {0, 1};
            ASSERT_FALSE(split_grid(*made, remain, part));
            EXPECT_EQ(part->size, long_side);
            EXPECT_EQ(part->rank, grid.coords_of(made->rank)[1]);
            EXPECT_EQ(part->topology->grid()->periodic, Ints{1});
            EXPECT_FALSE(free_comm(part));

            Comm *copy = nullptr;
            ASSERT_FALSE(duplicate_comm(*made, nullptr, copy));
            EXPECT_EQ(copy->topology, made->topology);
            EXPECT_FALSE(free_comm(copy));
            EXPECT_FALSE(free_comm(made));
        });
}

// Edges of all ranks: random, some of them repeated, named by random ranks.
struct Plan {
    std::vector<std::vector<NamedEdge>> named;  // by the rank that names them
    std::map<std::pair<int, int>, Ints> weights;  // by edge, in the order of the ranks that name it

    Plan(int size, std::mt19937 &random) : named(static_cast<size_t>(size)) {
        auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(size)); };
        for (auto &list : named)
            for (auto edges = random() % 7; edges > 0; --edges) {
                list.push_back({any(), any(), static_cast<int>(random() % 100)});
                weights[{list.back().source, list.back().destination}].push_back(list.back().weight);
            }
    }
    int ends_at(int rank, bool begin) const {
        int count = 0;
        for (const auto &[edge, all] : weights)
            if ((begin ? edge.first : edge.second) == rank) count += static_cast<int>(all.size());
        return count;
    }
    void expect(const DistributedGraph &graph, int rank) const {
        EXPECT_EQ(graph.sources.size(), static_cast<size_t>(ends_at(rank, false)));
        EXPECT_EQ(graph.destinations.size(), static_cast<size_t>(ends_at(rank, true)));
        std::map<std::pair<int, int>, Ints> in, out;
        for (size_t i = 0; i < graph.sources.size(); ++i)
            in[{graph.sources[i], rank}].push_back(graph.source_weights[i]);
        for (size_t i = 0; i < graph.destinations.size(); ++i)
            out[{rank, graph.destinations[i]}].push_back(graph.destination_weights[i]);
        for (const auto *side : {&in, &out})
            for (const auto &[edge, list] : *side)
                EXPECT_EQ(list, weights.at(edge)) << edge.first << " to " << edge.second;
    }
};

TEST(Topology, EdgesNamedByAnyone) {
    std::mt19937 random(static_cast<unsigned>(sim::first_seed()));
    for (Shape shape : shapes)
        for (bool reorder : {false, true}) {
            Plan plan(static_cast<int>(shape.size), random);
            Ints processes(shape.size, -1);
            run(shape, [&](Rank &rank) {
                Comm *made = nullptr;
                DistributedGraph own;
                const auto &named = plan.named[static_cast<size_t>(rank.world().rank)];
                ASSERT_FALSE(
                    exchange_edges(rank.world(), CollectiveKind::dist_graph_create, named, true, {}, own));
                plan.expect(own, rank.world().rank);
                ASSERT_FALSE(create_distributed(rank.world(), CollectiveKind::dist_graph_create, own, nullptr,
                                                reorder, made));
                plan.expect(*made->topology->distributed(), made->rank);
                if (!reorder) {
                    EXPECT_EQ(made->rank, rank.world().rank);
                }
                processes[static_cast<size_t>(made->rank)] = rank.world().rank;
                EXPECT_FALSE(free_comm(made));
            });
            std::vector<WeightedEdge> edges;
            for (const auto &list : plan.named)
                for (const NamedEdge &edge : list)
                    edges.push_back({edge.source, edge.destination, edge.weight});
            Ints before, after;
            for (int process = 0; process < static_cast<int>(shape.size); ++process) {
                before.push_back(process / static_cast<int>(shape.ranks_per_node));
                after.push_back(processes[static_cast<size_t>(process)] /
                                static_cast<int>(shape.ranks_per_node));
            }
            Adjacency adjacency(static_cast<int>(shape.size), edges);
            EXPECT_LE(cut(adjacency, after), cut(adjacency, before))
                << "LANYARD_TEST_SEED=" << sim::first_seed();
        }
}

// If one process has wrong arguments, all processes learn of it, and the communicator stays usable.
TEST(Topology, AllLearnOfARefusal) {
    run({5, 2}, [&](Rank &rank) {
        DistributedGraph own;
        int self = rank.world().rank;
        auto sentence = [&](const std::vector<NamedEdge> &named, bool weighted, Error refused) {
            Error error = exchange_edges(rank.world(), CollectiveKind::dist_graph_create, named, weighted,
                                         refused, own);
            std::string text = error ? error.sentence() : "";
            EXPECT_TRUE(!error || error.code() == static_cast<int>(ErrorClass::arg));
            error.discard();
            return text;
        };
        EXPECT_EQ(
            sentence({}, true, self == 3 ? Error(ErrorClass::arg, "mine") : Error()),
            self == 3 ? "mine" : "rank 3 of the communicator gave wrong arguments; its own error says which");
        EXPECT_EQ(sentence({{self, self, 1}}, self != 1, {}),
                  "rank 1 gives MPI_UNWEIGHTED but rank 4 gives weights; all must do the same");
        // A rank that names no edges states nothing about weights.
        std::vector<NamedEdge> named;
        if (self == 2) named.push_back({2, 0, 9});
        EXPECT_EQ(sentence(named, self == 2, {}), "");
        EXPECT_TRUE(own.weighted);
        EXPECT_EQ(own.source_weights, self == 0 ? Ints{9} : Ints{});
    });
}

}  // namespace
}  // namespace lanyard
