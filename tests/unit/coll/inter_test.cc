// Tests collectives between the groups of an intercommunicator. The processes of both groups are simulated in
// one process, and events happen in random order. The results are compared with the definition. The groups
// have m and n members, where m and n are from 1 to 8 and sometimes larger. The number of processors varies,
// because it affects which algorithms are chosen within a group.
#include <functional>

#include "algorithm_checks.h"
#include "base/abi_constants.h"
#include "coll/inter.h"

namespace lanyard::testing {
namespace {

struct Groups {
    int sizes[2];
    int all() const { return sizes[0] + sizes[1]; }
    int begin(int group) const { return group ? sizes[0] : 0; }
};

std::vector<Groups> group_sizes() {
    std::vector<Groups> all;
    for (int m = 1; m <= 8; ++m)
        for (int n = 1; n <= 8; ++n) all.push_back({{m, n}});
    for (Groups more : {Groups{{1, 19}}, Groups{{17, 2}}, Groups{{13, 12}}}) all.push_back(more);
    return all;
}

// Both groups of an intercommunicator in one Machine. A `Member` is one process, with its group and
// its rank in this group.
class Pairing {
public:
    struct Member {
        int group, rank;
        Team &team;
        Machine::Rank &memory;
    };

    Pairing(Groups groups, uint64_t salt, int processors)
        : groups_(groups), machine_(groups.all(), seed() + salt), own_(static_cast<size_t>(groups.all())) {
        for (int i = 0; i < groups.all(); ++i) {
            Team &own = own_[static_cast<size_t>(i)], &team = machine_.rank(i).team;
            int group = i >= groups.sizes[0];
            own.size = groups.sizes[group];
            own.index = i - groups.begin(group);
            own.peers = team.peers + groups.begin(group);
            own.processors = team.processors = processors;
            team.own_group = &own;
        }
    }
    void each(const std::function<void(Member)> &visit) {
        for (int i = 0; i < groups_.all(); ++i) {
            int group = i >= groups_.sizes[0];
            visit({group, i - groups_.begin(group), machine_.rank(i).team, machine_.rank(i)});
        }
    }
    std::string run() { return machine_.run(); }
    const Observed &observed() const { return machine_.observed(); }

private:
    Groups groups_;
    Machine machine_;
    std::vector<Team> own_;
};

const Selection &selection() {
    static const Selection costs;
    return costs;
}

// The value of element i that rank `rank` of a group contributes.
Pair given(int group, int rank, int64_t i) { return value_of(group * 50 + rank, i); }
// The value of element i that rank `from` of a group sends to rank `to` of the other group.
Pair sent_value(int group, int from, int to, int64_t i) { return value_of(group * 5000 + from * 60 + to, i); }

Pair combined(const Op &op, int group, int size, int64_t i) {
    Pair result = given(group, 0, i);
    for (int rank = 1; rank < size; ++rank) result = combine(op, result, given(group, rank, i));
    return result;
}

std::string describe(const char *name, Groups groups, int64_t count, const Datatype &type, int processors) {
    return std::string(name) + " m=" + std::to_string(groups.sizes[0]) +
           " n=" + std::to_string(groups.sizes[1]) + " processors=" + std::to_string(processors) +
           testing::describe("", groups.all(), count, type, false, 0);
}

// One case of check_all(). For rooted operations, each group in turn contains the root, and the root is
// rank 0 or the last rank of that group. For operations without a root, `root_group` and `root` are 0.
struct Case {
    Pairing &pairing;
    std::string what;
    Groups groups;
    const Datatype &type;
    int64_t count;
    int root_group, root;
};
using Check = std::function<void(const Case &)>;

int root_of(const Pairing::Member &member, int root_group, int root) {
    if (member.group != root_group) return root;
    return member.rank == root ? abi::root : abi::proc_null;
}

void check_all(const char *name, const std::vector<int64_t> &counts, bool rooted, const Check &check) {
    for (Groups groups : group_sizes())
        for (const Datatype *type : datatypes())
            for (int64_t count : counts)
                for (int processors : {0, 2})
                    for (int root_group : {0, 1})
                        for (int root : {0, groups.sizes[root_group] - 1}) {
                            if (!rooted && (root_group || root)) continue;
                            Pairing pairing(groups, static_cast<uint64_t>(count + root), processors);
                            std::string what = describe(name, groups, count, *type, processors) +
                                               " root group " + std::to_string(root_group) + " root " +
                                               std::to_string(root);
                            check({pairing, what, groups, *type, count, root_group, root});
                            if (::testing::Test::HasFatalFailure()) return;
                        }
}

TEST(InterBcast, TheOtherGroupHasTheRootsData) {
    check_all("bcast", {0, 1, 3, 700}, true, [](const Case &c) {
        Pairing &pairing = c.pairing;
        const Datatype &type = c.type;
        const int64_t count = c.count;
        const int root_group = c.root_group, root = c.root;
        pairing.each([&](Pairing::Member member) {
            Memory data(count, type);
            if (root_of(member, root_group, root) == abi::root)
                for (int64_t e = 0; e < count; ++e) data.put(e, given(root_group, root, e));
            give(member.memory, {}, data);
            inter_bcast(selection(), member.team, {Space::receive, 0, count, &type},
                        root_of(member, root_group, root), member.memory.schedule);
        });
        ASSERT_EQ(pairing.run(), "") << c.what;
        pairing.each([&](Pairing::Member member) {
            Memory expected(count, type);
            bool has = root_of(member, root_group, root) != abi::proc_null;
            for (int64_t e = 0; has && e < count; ++e) expected.put(e, given(root_group, root, e));
            ASSERT_EQ(member.memory.receive, expected.bytes)
                << c.what << " rank " << member.rank << " of group " << member.group;
        });
    });
}

ReduceShape reduce_shape(const Pairing::Member &member, int64_t count, const Datatype &type, const Op &op,
                         int root) {
    const Team &own = *member.team.own_group;
    return {
        {own.index, own.size}, root, {Space::send, 0, count, &type}, {Space::receive, 0, count, &type}, &op};
}

void check_reduction(bool to_all, const Op &op) {
    check_all(
        op.commutative ? "reduction" : "ordered reduction", {0, 1, 3, 700}, !to_all, [&](const Case &c) {
            Pairing &pairing = c.pairing;
            const Groups groups = c.groups;
            const Datatype &type = c.type;
            const int64_t count = c.count;
            const int root_group = c.root_group, root = c.root;
            pairing.each([&](Pairing::Member member) {
                Memory own(count, type), result(count, type);
                for (int64_t e = 0; e < count; ++e) own.put(e, given(member.group, member.rank, e));
                bool gives = to_all || member.group != root_group,
                     gets = to_all || root_of(member, root_group, root) == abi::root;
                give(member.memory, gives ? own : Memory(), gets ? result : Memory());
                ReduceShape shape = reduce_shape(member, count, type, op, root_of(member, root_group, root));
                (to_all ? inter_allreduce : inter_reduce)(selection(), member.team, shape,
                                                          member.memory.schedule);
            });
            ASSERT_EQ(pairing.run(), "") << c.what;
            pairing.each([&](Pairing::Member member) {
                if (!to_all && root_of(member, root_group, root) != abi::root) return;
                Memory expected(count, type);
                int other = 1 - member.group;
                for (int64_t e = 0; e < count; ++e)
                    expected.put(e, combined(op, other, groups.sizes[other], e));
                ASSERT_EQ(member.memory.receive, expected.bytes)
                    << c.what << " rank " << member.rank << " of group " << member.group;
            });
        });
}

TEST(InterReduce, TheRootHasTheOthersCombined) {
    for (const Op *op : {&sum_op(), &compose_op()}) check_reduction(false, *op);
}

TEST(InterAllreduce, EachGroupHasTheOthersCombined) {
    for (const Op *op : {&sum_op(), &compose_op()}) check_reduction(true, *op);
}

// Element counts for the members of a group. The sum is the same in both groups. `even`: all members
// have the same count.
std::vector<int> parts_of(Groups groups, int group, bool even) {
    int total = groups.sizes[0] * groups.sizes[1] * 2 + (even ? 0 : 3);
    std::vector<int> counts(static_cast<size_t>(groups.sizes[group]), total / groups.sizes[group]);
    counts.back() += total - total / groups.sizes[group] * groups.sizes[group];
    if (!even && counts.size() > 1) counts[0] += std::exchange(counts[1], 0);
    return counts;
}

TEST(InterReduceScatter, EachMemberHasItsPart) {
    for (const Op *op : {&sum_op(), &compose_op()})
        check_all("reduce_scatter", {0, 1}, false, [&](const Case &c) {
            Pairing &pairing = c.pairing;
            const Groups groups = c.groups;
            const Datatype &type = c.type;
            const int64_t even = c.count;
            std::vector<int> counts[2] = {parts_of(groups, 0, even), parts_of(groups, 1, even)};
            int64_t total = std::accumulate(counts[0].begin(), counts[0].end(), int64_t{0});
            pairing.each([&](Pairing::Member member) {
                int count = counts[member.group][static_cast<size_t>(member.rank)];
                Memory own(total, type);
                for (int64_t e = 0; e < total; ++e) own.put(e, given(member.group, member.rank, e));
                give(member.memory, own, Memory(count, type));
                Members place{member.rank, groups.sizes[member.group]};
                ReduceScatterShape shape{
                    place, {Space::send, 0, total, &type}, {}, {Space::receive, 0, count, &type}, op};
                if (!even) shape.counts = {counts[member.group].data(), 4};
                inter_reduce_scatter(selection(), member.team, shape, member.memory.schedule);
            });
            ASSERT_EQ(pairing.run(), "") << c.what;
            pairing.each([&](Pairing::Member member) {
                int64_t begin = std::accumulate(counts[member.group].begin(),
                                                counts[member.group].begin() + member.rank, int64_t{0});
                int count = counts[member.group][static_cast<size_t>(member.rank)], other = 1 - member.group;
                Memory expected(count, type);
                for (int64_t e = 0; e < count; ++e)
                    expected.put(e, combined(*op, other, groups.sizes[other], begin + e));
                ASSERT_EQ(member.memory.receive, expected.bytes)
                    << c.what << " rank " << member.rank << " of group " << member.group;
            });
        });
}

// The layout of one block for each of `size` ranks. Each block has `each` elements. If `each` is -1, the
// blocks have different lengths, given by `length`, and are in reverse order, with gaps.
struct Layout {
    std::vector<int64_t> counts, places;
    int64_t elements = 0;

    Layout(int size, int64_t each, const std::function<int64_t(int)> &length)
        : counts(static_cast<size_t>(size)), places(static_cast<size_t>(size)) {
        for (int k = 0; k < size; ++k) {
            int rank = each >= 0 ? k : size - 1 - k;
            auto at = static_cast<size_t>(rank);
            counts[at] = each >= 0 ? each : length(rank);
            places[at] = elements;
            elements += counts[at] + (each >= 0 ? 0 : 1);
        }
    }
    Division division(Space space, int64_t each, const Datatype &type) const {
        return each >= 0 ? Division::even(space, each, type)
                         : Division::uneven(space, {counts.data(), 8}, {places.data(), 8}, type);
    }
};

int64_t block_length(int group, int from, int to) { return (group + from + 2 * to) % 4; }

MoveShape move_shape(const Pairing::Member &member, int64_t each, int root) {
    return {{member.team.own_group->index, member.team.own_group->size}, root, {}, {}, false, each >= 0};
}

TEST(InterGather, TheRootHasTheOthersBlocks) {
    check_all("gather", {-1, 0, 1, 40}, true, [](const Case &c) {
        Pairing &pairing = c.pairing;
        const Groups groups = c.groups;
        const Datatype &type = c.type;
        const int64_t each = c.count;
        const int root_group = c.root_group, root = c.root;
        int leaves = 1 - root_group;
        Layout layout(groups.sizes[leaves], each, [&](int rank) { return block_length(leaves, rank, root); });
        Memory expected(layout.elements, type);
        pairing.each([&](Pairing::Member member) {
            MoveShape shape = move_shape(member, each, root_of(member, root_group, root));
            int64_t count = member.group == leaves ? layout.counts[static_cast<size_t>(member.rank)] : 0;
            Memory own(count, plain_pair());
            for (int64_t e = 0; e < count; ++e) {
                own.put(e, sent_value(leaves, member.rank, root, e));
                expected.put(layout.places[static_cast<size_t>(member.rank)] + e,
                             sent_value(leaves, member.rank, root, e));
            }
            bool at_root = shape.root == abi::root;
            give(member.memory, own, at_root ? Memory(layout.elements, type) : Memory());
            if (member.group == leaves) shape.sent = Division::even(Space::send, count, plain_pair());
            if (at_root) shape.received = layout.division(Space::receive, each, type);
            inter_gather(selection(), member.team, shape, each * 8, member.memory.schedule);
        });
        ASSERT_EQ(pairing.run(), "") << c.what;
        pairing.each([&](Pairing::Member member) {
            if (root_of(member, root_group, root) == abi::root) {
                ASSERT_EQ(member.memory.receive, expected.bytes) << c.what;
            }
        });
    });
}

TEST(InterScatter, TheOthersHaveTheirBlocks) {
    check_all("scatter", {-1, 0, 1, 40}, true, [](const Case &c) {
        Pairing &pairing = c.pairing;
        const Groups groups = c.groups;
        const Datatype &type = c.type;
        const int64_t each = c.count;
        const int root_group = c.root_group, root = c.root;
        int leaves = 1 - root_group;
        Layout layout(groups.sizes[leaves], each,
                      [&](int rank) { return block_length(root_group, root, rank); });
        auto count_of = [&](const Pairing::Member &member) {
            return member.group == leaves ? layout.counts[static_cast<size_t>(member.rank)] : 0;
        };
        pairing.each([&](Pairing::Member member) {
            MoveShape shape = move_shape(member, each, root_of(member, root_group, root));
            bool at_root = shape.root == abi::root;
            Memory all(at_root ? layout.elements : 0, type);
            for (int to = 0; at_root && to < groups.sizes[leaves]; ++to)
                for (int64_t e = 0; e < layout.counts[static_cast<size_t>(to)]; ++e)
                    all.put(layout.places[static_cast<size_t>(to)] + e, sent_value(root_group, root, to, e));
            give(member.memory, all, Memory(count_of(member), plain_pair()));
            if (member.group == leaves)
                shape.received = Division::even(Space::receive, count_of(member), plain_pair());
            if (at_root) shape.sent = layout.division(Space::send, each, type);
            inter_scatter(selection(), member.team, shape, each * 8, member.memory.schedule);
        });
        ASSERT_EQ(pairing.run(), "") << c.what;
        pairing.each([&](Pairing::Member member) {
            Memory expected(count_of(member), plain_pair());
            for (int64_t e = 0; e < count_of(member); ++e)
                expected.put(e, sent_value(root_group, root, member.rank, e));
            ASSERT_EQ(member.memory.receive, expected.bytes)
                << c.what << " rank " << member.rank << " of group " << member.group;
        });
    });
}

// Returns the length of a group's blocks in an allgather, in elements. If `each` is positive, the blocks of
// the second group are twice as long as those of the first group. If `each` is -2, they are empty.
int64_t allgather_each(int64_t each, int group) {
    return each == -2 ? (group ? 0 : 2) : each > 0 && group ? 2 * each : each;
}

TEST(InterAllgather, EachGroupHasTheOthersBlocks) {
    check_all("allgather", {-2, -1, 0, 1, 40}, false, [](const Case &c) {
        Pairing &pairing = c.pairing;
        const Groups groups = c.groups;
        const Datatype &type = c.type;
        const int64_t kind = c.count;
        auto layout_of = [&](int group) {
            return Layout(groups.sizes[group], allgather_each(kind, group),
                          [=](int rank) { return block_length(group, rank, 0); });
        };
        Layout layouts[2] = {layout_of(0), layout_of(1)};
        pairing.each([&](Pairing::Member member) {
            int other = 1 - member.group;
            int64_t count = layouts[member.group].counts[static_cast<size_t>(member.rank)];
            Memory own(count, plain_pair());
            for (int64_t e = 0; e < count; ++e) own.put(e, given(member.group, member.rank, e));
            give(member.memory, own, Memory(layouts[other].elements, type));
            MoveShape shape = move_shape(member, kind == -1 ? -1 : 0, 0);
            shape.sent = Division::even(Space::send, count, plain_pair());
            shape.received = layouts[other].division(Space::receive, allgather_each(kind, other), type);
            inter_allgather(selection(), member.team, shape, member.memory.schedule);
        });
        ASSERT_EQ(pairing.run(), "") << c.what;
        pairing.each([&](Pairing::Member member) {
            const Layout &layout = layouts[1 - member.group];
            Memory expected(layout.elements, type);
            for (int from = 0; from < groups.sizes[1 - member.group]; ++from)
                for (int64_t e = 0; e < layout.counts[static_cast<size_t>(from)]; ++e)
                    expected.put(layout.places[static_cast<size_t>(from)] + e,
                                 given(1 - member.group, from, e));
            ASSERT_EQ(member.memory.receive, expected.bytes)
                << c.what << " rank " << member.rank << " of group " << member.group;
        });
    });
}

TEST(InterAlltoall, EachHasABlockOfEachOfTheOthers) {
    check_all("alltoall", {-1, 0, 1, 4}, false, [](const Case &c) {
        Pairing &pairing = c.pairing;
        const Groups groups = c.groups;
        const Datatype &type = c.type;
        const int64_t each = c.count;
        std::vector<std::vector<std::byte>> expected;
        std::deque<Layout> layouts;  // kept here, because the schedule is written from these arrays
        pairing.each([&](Pairing::Member member) {
            int other = 1 - member.group, others = groups.sizes[other];
            Layout &out = layouts.emplace_back(
                others, each, [&](int to) { return block_length(member.group, member.rank, to); });
            Layout &in = layouts.emplace_back(
                others, each, [&](int from) { return block_length(other, from, member.rank); });
            Memory sent(out.elements, plain_pair()), received(in.elements, type), wanted(in.elements, type);
            for (int rank = 0; rank < others; ++rank) {
                auto at = static_cast<size_t>(rank);
                for (int64_t e = 0; e < out.counts[at]; ++e)
                    sent.put(out.places[at] + e, sent_value(member.group, member.rank, rank, e));
                for (int64_t e = 0; e < in.counts[at]; ++e)
                    wanted.put(in.places[at] + e, sent_value(other, rank, member.rank, e));
            }
            expected.push_back(wanted.bytes);
            give(member.memory, sent, received);
            MoveShape shape = move_shape(member, each, 0);
            shape.sent = out.division(Space::send, each, plain_pair());
            shape.received = in.division(Space::receive, each, type);
            inter_alltoall(member.team, shape, member.memory.schedule);
        });
        ASSERT_EQ(pairing.run(), "") << c.what;
        size_t next = 0;
        pairing.each([&](Pairing::Member member) {
            ASSERT_EQ(member.memory.receive, expected[next++])
                << c.what << " rank " << member.rank << " of group " << member.group;
        });
    });
}

// Reductions and gathers must send few messages between the groups.
TEST(InterWork, IsAsSaid) {
    Groups groups{{8, 8}};
    auto messages = [&](const std::function<void(Pairing::Member)> &make) {
        Pairing pairing(groups, 1, 0);
        pairing.each([&](Pairing::Member member) {
            give(member.memory, Memory(8, plain_pair()), Memory(64, plain_pair()));
            make(member);
        });
        EXPECT_EQ(pairing.run(), "");
        return pairing.observed();
    };
    Observed reduce = messages([](Pairing::Member m) {
        inter_reduce(selection(), m.team, reduce_shape(m, 8, plain_pair(), compose_op(), root_of(m, 0, 3)),
                     m.memory.schedule);
    });
    EXPECT_EQ(reduce.messages, 8);
    EXPECT_EQ(reduce.rounds, 4);  // log2 8 within the group, one between the groups
    Observed gather = messages([](Pairing::Member m) {
        MoveShape shape = move_shape(m, 8, root_of(m, 0, 3));
        shape.sent = Division::even(Space::send, 8, plain_pair());
        shape.received = Division::even(Space::receive, 8, plain_pair());
        inter_gather(selection(), m.team, shape, 64, m.memory.schedule);
    });
    EXPECT_EQ(gather.messages, 8);
}

}  // namespace
}  // namespace lanyard::testing
