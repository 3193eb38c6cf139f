// Creates communicators among ranks that are threads. Tests which rank gets which communicator, ids that
// agree and never repeat, and messages that arrive before their communicator exists.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "coll/block.h"
#include "comm/attributes.h"
#include "unit/comm/thread_job.h"

namespace lanyard {
namespace {

using test::Rank;
using test::ring;
using test::run_job;

// The contexts that exist. Every member reports each of its contexts, and all reports of one context must
// name the same members.
struct Census {
    std::mutex lock;
    std::map<uint64_t, Peers> members;
    std::map<uint64_t, int> reports;

    void report(const Comm &comm) {
        std::lock_guard guard(lock);
        auto [place, first] = members.emplace(comm.context, comm.group->peers);
        EXPECT_EQ(place->second, comm.group->peers);
        EXPECT_LE(++reports[comm.context], comm.size);
    }
    void expect_complete() {
        for (auto &[context, count] : reports) EXPECT_EQ(count, static_cast<int>(members[context].size()));
    }
};

struct Shape {
    uint32_t size, ranks_per_node;
    unsigned seed;
};
void PrintTo(const Shape &shape, std::ostream *out) {
    *out << shape.size << " ranks, " << shape.ranks_per_node << " per node, seed " << shape.seed;
}

class Creation : public ::testing::TestWithParam<Shape> {
protected:
    void run(const std::function<void(Rank &)> &body) {
        auto [size, ranks_per_node, seed] = GetParam();
        EXPECT_EQ(run_job(size, ranks_per_node, seed, body), 0) << "node memory is left";
    }
    Census census;
};

TEST_P(Creation, Duplicates) {
    run([&](Rank &rank) {
        std::vector<Comm *> made;
        for (int i = 0; i < 5; ++i) {
            Comm *copy = nullptr;
            ASSERT_FALSE(duplicate_comm(i % 2 ? *made.back() : rank.world(), nullptr, copy));
            EXPECT_EQ(compare(*copy, rank.world()), abi::congruent);
            EXPECT_EQ(copy->rank, rank.world().rank);
            census.report(*copy);
            made.push_back(copy);
            ring(*copy);
        }
        for (Comm *&comm : made) ASSERT_FALSE(free_comm(comm));
    });
    EXPECT_EQ(census.members.size(), 5u);
    census.expect_complete();
}

TEST_P(Creation, SplitsByColorAndKey) {
    run([&](Rank &rank) {
        Comm &world = rank.world();
        for (int colors = 1; colors <= 3; ++colors) {
            int color = world.rank % colors == 2 ? abi::undefined : world.rank % colors;
            Comm *part = nullptr;
            ASSERT_FALSE(split_comm(world, CollectiveKind::comm_split, color, -world.rank, part));
            if (color == abi::undefined) {
                EXPECT_EQ(part, nullptr);
                continue;
            }
            for (int i = 0; i < part->size; ++i) EXPECT_EQ(static_cast<int>(part->peers[i]) % colors, color);
            for (int i = 1; i < part->size; ++i)
                EXPECT_GT(part->peers[i - 1], part->peers[i]) << "the smallest key comes first";
            EXPECT_EQ(part->team.node_area != nullptr,
                      part->size > 1 && rank.universe.share_node(part->group->peers));
            census.report(*part);
            ring(*part);
            ASSERT_FALSE(free_comm(part));
        }
    });
    census.expect_complete();
}

TEST_P(Creation, SplitsByNode) {
    auto ranks_per_node = static_cast<int>(GetParam().ranks_per_node);
    run([&](Rank &rank) {
        Comm &world = rank.world(), *node = nullptr, *none = nullptr;
        ASSERT_FALSE(split_comm_by_type(world, abi::comm_type_shared, 0, nullptr, node));
        EXPECT_EQ(node->size,
                  std::min(ranks_per_node, world.size - world.rank / ranks_per_node * ranks_per_node));
        EXPECT_EQ(node->rank, world.rank % ranks_per_node);
        ring(*node);
        ASSERT_FALSE(split_comm_by_type(*node, abi::comm_type_hw_unguided, 0, nullptr, none));
        EXPECT_EQ(none, nullptr) << "threads of one process are kept within the same";
        Info *info = new_info();
        Comm *lower = nullptr;
        std::string resource;
        bool told = false;
        ASSERT_FALSE(split_comm_by_type(world, abi::comm_type_hw_unguided, 0, info, lower));
        ASSERT_FALSE(info->get("mpi_hw_resource_type", resource, told));
        EXPECT_EQ(lower != nullptr, world.size > ranks_per_node) << "a part of all";
        EXPECT_EQ(told, lower != nullptr);
        if (lower) {
            EXPECT_EQ(resource, "mpi_shared_memory");
            EXPECT_EQ(lower->size, node->size);
            ASSERT_FALSE(free_comm(lower));
        }
        release_info(info);
        ASSERT_FALSE(split_comm_by_type(world, abi::comm_type_hw_guided, 0, nullptr, none));
        EXPECT_EQ(none, nullptr);
        ASSERT_FALSE(free_comm(node));
    });
}

// Returns an invented locality. Each package has four processes, and each core has two. The second process of
// a core is not bound to it. Nothing else is known.
Locality described_locality(const Universe &universe) {
    Locality locality;
    std::fill_n(locality.instance, resources, Locality::unknown);
    int place = static_cast<int>(universe.own_peer);
    locality.instance[static_cast<int>(Resource::package)] = place / 4 * 100;
    locality.instance[static_cast<int>(Resource::core)] = place % 2 ? Locality::not_within : place / 2;
    return locality;
}

// Splits `parent` by hardware. Returns the resource type that the info holds afterwards.
std::string split_by_hardware(Comm &parent, int type, const char *resource, Comm *&made) {
    Info *info = new_info();
    std::string way;
    bool found = false;
    EXPECT_FALSE(info->set("mpi_hw_resource_type", resource));
    EXPECT_FALSE(split_comm_by_type(parent, type, -parent.rank, info, made));
    EXPECT_FALSE(info->get("mpi_hw_resource_type", way, found));
    release_info(info);
    return way;
}

TEST_P(Creation, SplitsByHardware) {
    auto per_node = static_cast<int>(GetParam().ranks_per_node);
    run([&](Rank &rank) {
        rank.universe.locality = described_locality;
        Comm &world = rank.world(), *part = nullptr, *core = nullptr;
        int begin = std::max(world.rank / 4 * 4, world.rank / per_node * per_node);
        int end = std::min({world.rank / 4 * 4 + 4, world.rank / per_node * per_node + per_node, world.size});
        for (const char *name : {"hwloc://Package", "socket"})
            for (int type : {abi::comm_type_hw_guided, abi::comm_type_resource_guided}) {
                split_by_hardware(world, type, name, part);
                ASSERT_NE(part, nullptr);
                ASSERT_EQ(part->size, end - begin);
                for (int i = 0; i < part->size; ++i)
                    EXPECT_EQ(static_cast<int>(part->peers[i]), end - 1 - i) << "by key";
                census.report(*part);
                ring(*part);
                ASSERT_FALSE(free_comm(part));
            }
        split_by_hardware(world, abi::comm_type_hw_guided, "CORE", core);
        EXPECT_EQ(core != nullptr, world.rank % 2 == 0) << "the others are kept within none";
        if (core) {
            EXPECT_EQ(core->size, 1);
            ASSERT_FALSE(free_comm(core));
        }
        for (const char *unknown : {"hwloc://L3Cache", "hwloc://Bridge", ""}) {
            split_by_hardware(world, abi::comm_type_hw_guided, unknown, core);
            EXPECT_EQ(core, nullptr) << unknown;
        }
        // Some ranks pass MPI_UNDEFINED, which does not block the others.
        split_by_hardware(world, world.rank % 3 ? abi::comm_type_hw_guided : abi::undefined,
                          "hwloc://Package", part);
        EXPECT_EQ(part != nullptr, world.rank % 3 != 0);
        if (part) {
            for (int i = 0; i < part->size; ++i) EXPECT_NE(part->peers[i] % 3, 0u);
            ASSERT_FALSE(free_comm(part));
        }
    });
    census.expect_complete();
}

TEST_P(Creation, SplitsByWhatDividesIt) {
    auto per_node = static_cast<int>(GetParam().ranks_per_node);
    run([&](Rank &rank) {
        rank.universe.locality = described_locality;
        Comm &world = rank.world();
        // Goes down from the world, each time by what divides the communicator: nodes, packages, cores,
        // then nothing.
        Comm *parent = &world;
        std::vector<std::string> ways;
        while (parent) {
            Comm *next = nullptr;
            std::string way = split_by_hardware(*parent, abi::comm_type_hw_unguided, "as it was", next);
            if (next) {
                ways.push_back(way);
                EXPECT_LT(next->size, parent->size) << way;
            } else {
                EXPECT_EQ(way, "as it was");
            }
            if (parent != &world) {
                ASSERT_FALSE(free_comm(parent));
            }
            parent = next;
        }
        const std::vector<std::string> order{"mpi_shared_memory", "hwloc://Package", "hwloc://Core"};
        auto place = order.begin();
        for (const std::string &way : ways) {
            place = std::find(place, order.end(), way);
            EXPECT_NE(place, order.end()) << way << " comes again, or out of order";
        }
        if (world.size > per_node) {
            ASSERT_FALSE(ways.empty());
            EXPECT_EQ(ways[0], "mpi_shared_memory");
        } else if (world.size > 4) {
            ASSERT_FALSE(ways.empty());
            EXPECT_EQ(ways[0], "hwloc://Package");
        }
    });
    census.expect_complete();
}

TEST_P(Creation, CreatesFromGroups) {
    run([&](Rank &rank) {
        Comm &world = rank.world(), *odd_or_even = nullptr;
        Peers half;  // the odd or the even ranks, in reverse order
        for (int peer = world.size - 1; peer >= 0; --peer)
            if (peer % 2 == world.rank % 2) half.push_back(static_cast<uint32_t>(peer));
        Group *group = make_group(rank.universe, half);
        ASSERT_FALSE(create_comm(world, CollectiveKind::comm_create, *group, odd_or_even));
        EXPECT_EQ(odd_or_even->group->peers, half);
        census.report(*odd_or_even);
        ring(*odd_or_even);

        Comm *again = nullptr;
        ASSERT_FALSE(create_comm_of_group(world, *group, 17, again));
        EXPECT_NE(again->context, odd_or_even->context);
        census.report(*again);
        ring(*again);
        ASSERT_FALSE(free_comm(odd_or_even));
        ASSERT_FALSE(
            create_comm_from_group(*group, "org.example.test", nullptr, errors_return(), odd_or_even));
        EXPECT_EQ(odd_or_even->errhandler, &errors_return());
        census.report(*odd_or_even);
        ring(*odd_or_even);
        release_group(group);
        ASSERT_FALSE(free_comm(again));
        ASSERT_FALSE(free_comm(odd_or_even));
    });
    census.expect_complete();
}

TEST_P(Creation, OverlappingGroupsInTurn) {
    run([&](Rank &rank) {  // pairs (0,1), (1,2), ... all in the same parent with the same tag
        for (int first = 0; first + 1 < rank.world().size; ++first) {
            if (rank.world().rank != first && rank.world().rank != first + 1) continue;
            Group *pair =
                make_group(rank.universe, {static_cast<uint32_t>(first + 1), static_cast<uint32_t>(first)});
            for (int i = 0; i < 3; ++i) {
                Comm *made = nullptr;
                ASSERT_FALSE(create_comm_of_group(rank.world(), *pair, 0, made));
                census.report(*made);
                ring(*made);
                ASSERT_FALSE(free_comm(made));
            }
            release_group(pair);
        }
    });
    census.expect_complete();
}

TEST_P(Creation, DuplicatesWithoutBlocking) {
    run([&](Rank &rank) {
        constexpr int count = 4;
        Duplication pending[count];
        Collective *under_way[count] = {};
        Comm *made[count] = {};
        for (size_t i = 0; i < count; ++i) {
            ASSERT_FALSE(pending[i].prepare(rank.world(), nullptr, made[i]));
            EngineGuard guard(rank.engine);
            pending[i].start(rank.world(), nullptr, nullptr, under_way[i]);
        }
        for (int i = count - 1; i >= 0; --i) {
            auto place = static_cast<size_t>(i);
            {
                EngineGuard guard(rank.engine);
                pending[place].accept(*made[i], rank.executor.finish(under_way[place]));
            }
            ASSERT_FALSE(pending[place].finish(made[i]));
            census.report(*made[i]);
            ring(*made[i]);
        }
        for (Comm *&comm : made) ASSERT_FALSE(free_comm(comm));
    });
    EXPECT_EQ(census.members.size(), 4u);
    census.expect_complete();
}

Error fails_on_rank_0(const Keyval &, void *object, void *value, void *&copied, bool &wanted) {
    copied = value;
    wanted = true;
    return static_cast<Comm *>(object)->rank == 0
               ? Error(ErrorClass::other, "the copy function fails on rank 0")
               : Error();
}

TEST_P(Creation, ARankWhoseAttributesFailDoesNotHoldUpTheOthers) {
    Keyval described;
    described.copy = fails_on_rank_0;
    int keyval = create_keyval(described);
    run([&](Rank &rank) {
        Comm *copy = nullptr;
        Comm &world = rank.world();
        ASSERT_FALSE(set_attribute(world.attributes, ObjectKind::comm, &world, keyval, nullptr));
        Error error = duplicate_comm(world, nullptr, copy);
        EXPECT_EQ(static_cast<bool>(error), world.rank == 0);
        EXPECT_EQ(copy == nullptr, world.rank == 0);
        error.discard();
        if (copy) {
            EXPECT_FALSE(free_comm(copy));
        }
        ASSERT_FALSE(delete_predefined_attributes(rank.universe));
    });
    ASSERT_FALSE(free_keyval(keyval, ObjectKind::comm));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Creation,
                         ::testing::Values(Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{3, 2, 3}, Shape{4, 1, 4},
                                           Shape{5, 5, 5}, Shape{8, 4, 6}, Shape{13, 13, 7}));

TEST(CreationErrors, SayWhatIsWrong) {
    run_job(2, 2, 1, [](Rank &rank) {
        Comm *made = nullptr, *copy = nullptr;
        ASSERT_FALSE(duplicate_comm(*rank.universe.self, nullptr, copy));
        Group *other = make_group(rank.universe, {1 - rank.universe.own_peer});
        EXPECT_EQ(create_comm(*copy, CollectiveKind::comm_create, *other, made).take().code, abi::err_group);
        EXPECT_EQ(create_comm_of_group(*copy, *other, 0, made).take().code, abi::err_group);
        EXPECT_EQ(create_comm_from_group(*other, "tag", nullptr, errors_return(), made).take().code,
                  abi::err_group);
        EXPECT_EQ(create_comm_from_group(*other, std::string(1024, 't'), nullptr, errors_return(), made)
                      .take()
                      .code,
                  abi::err_arg);
        EXPECT_EQ(split_comm_by_type(*copy, 7, 0, nullptr, made).take().code, abi::err_arg);
        EXPECT_EQ(made, nullptr);
        ASSERT_FALSE(create_comm(*copy, CollectiveKind::comm_create, *rank.universe.empty_group, made));
        EXPECT_EQ(made, nullptr);
        release_group(other);
        ASSERT_FALSE(free_comm(copy));
    });
}

TEST(Contexts, AreTheCreatorsOwn) {
    std::set<uint64_t> seen;
    for (ProcessName creator :
         {ProcessName{0, 0}, {0, 1}, {0, 77}, {100, 0}, {100, 1}, {100, 77}, {max_creators - 1, 0}})
        for (uint64_t counter = 1; counter < 100; ++counter) {
            uint64_t context = context_of(creator, counter);
            EXPECT_EQ(context & (collective_bit | creation_bit | partitioned_bit | derived_bit), 0u);
            EXPECT_TRUE(seen.insert(context).second);
        }
    Processes processes(2);
    EXPECT_NE(derived_context("a", processes, {0, 1}), derived_context("a", processes, {1, 0}));
    EXPECT_NE(derived_context("a", processes, {0, 1}), derived_context("b", processes, {0, 1}));
    EXPECT_EQ(derived_context("a", processes, {0, 1}), derived_context("a", processes, {0, 1}));
}

// The same processes derive the same id, whatever their peer numbers here and there. Processes of another
// job derive another id.
TEST(Contexts, AreDerivedFromNamesNotFromPeerNumbers) {
    Processes here(2), there, other;
    here.append({2, 0}, 2);
    for (ProcessName name : {ProcessName{2, 0}, {0, 1}, {0, 0}}) there.append(name, 0);
    for (uint32_t number : {0, 1, 2}) other.append({2, number}, 0);
    EXPECT_EQ(derived_context("a", here, {0, 2}), derived_context("a", there, {2, 0}));
    EXPECT_NE(derived_context("a", here, {0, 1}), derived_context("a", other, {0, 1}));
}

// An id is derived (context.h) if its parts need more bits than it has, or if jobs of two launchers create it
// together.
TEST(Contexts, BeyondTheBitsAreDerived) {
    std::set<uint64_t> seen;
    for (ProcessName creator :
         {ProcessName{max_creators, 0}, {0, max_creators}, {UINT32_MAX, UINT32_MAX}, {0, 0}})
        for (uint64_t counter : {max_counter, max_counter + 1, max_counter << 1}) {
            uint64_t context = context_of(creator, counter);
            EXPECT_EQ(context & (collective_bit | creation_bit | partitioned_bit | derived_bit), derived_bit);
            EXPECT_TRUE(seen.insert(context).second);
        }
    for (const char *jobs : {"a and b", "a and c"})
        for (uint64_t counter = 1; counter < 100; ++counter)
            EXPECT_TRUE(seen.insert(derived_context(jobs, {0, 0}, counter)).second);
    EXPECT_EQ(derived_context("a and b", {0, 0}, 5), derived_context("a and b", {0, 0}, 5));
}

}  // namespace
}  // namespace lanyard
