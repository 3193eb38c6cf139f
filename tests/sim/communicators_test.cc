// Creates communicators in complete jobs on the simulated network. In each turn, a function that is drawn at
// random creates communicators from an earlier communicator. Communicators are then used, and some are freed.
// The test computes itself which groups, order and context ids must result, and compares. In some runs there
// is not enough node memory.
//
// All members of a parent communicator draw the same random numbers. Each member can therefore compute all
// groups that must result, also those to which it does not belong.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/abi_constants.h"
#include "comm/create.h"
#include "comm/errhandler.h"
#include "sim/collective_program.h"
#include "sim/inter_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

Peers team_of(const Comm &comm) { return Peers(comm.team.peers, comm.team.peers + comm.team.size); }

// Records which context ids are in use. Every member of a communicator calls report(). All reports with the
// same context id must name the same members. The reports of an intercommunicator must name its two groups in
// the same order.
class Census {
public:
    void report(const Comm &comm) {
        const auto &[place, first] = members_.emplace(comm.context, team_of(comm));
        EXPECT_EQ(place->second, team_of(comm)) << "two communicators have context " << comm.context;
        EXPECT_TRUE(reporters_[comm.context].insert(comm.team.index).second)
            << "context " << comm.context << " comes again";
    }
    void expect_complete() const {
        for (const auto &[context, ranks] : reporters_)
            EXPECT_EQ(ranks.size(), members_.at(context).size())
                << "some members of " << context << " have another context";
    }

private:
    std::map<uint64_t, Peers> members_;
    std::map<uint64_t, std::set<int>> reporters_;
};

// The arguments of one rank for a split. Ranks with the same color form a group, ordered by key, then
// by rank in the parent.
struct Wish {
    int color, key;
};

Peers part_of(const std::vector<Wish> &wishes, const Peers &parent, int color) {
    std::vector<std::pair<int, size_t>> order;
    for (size_t rank = 0; rank < wishes.size(); ++rank)
        if (wishes[rank].color == color) order.emplace_back(wishes[rank].key, rank);
    std::sort(order.begin(), order.end());
    Peers part;
    for (auto [key, rank] : order) part.push_back(parent[rank]);
    return part;
}

// Plays the part of one rank. The argument `random` of each function is in the same state at all
// members of the parent.
class Maker {
public:
    Maker(Rank &rank, Census &census) : rank_(rank), census_(census) {}

    void play(uint64_t seed, int turns) {
        Random random(seed);  // the same on all ranks
        // A rank that does not belong to a new communicator stores nullptr, so that the lists of all ranks
        // have the same length.
        made_.push_back(&rank_.world());
        census_.report(rank_.world());
        for (int turn = 0; turn < turns && !::testing::Test::HasFatalFailure(); ++turn) {
            uint64_t turn_seed = random.next();
            Comm *parent = random.chance(40) ? &rank_.world() : random.pick(made_);
            size_t used = random.below(made_.size() + 1), ended = random.below(made_.size() * 3);
            std::vector<Comm *> children(children_of_a_turn);
            if (parent) make(*parent, turn_seed, children);
            made_.insert(made_.end(), children.begin(), children.end());
            if (made_[used]) use(*made_[used], turn_seed);
            if (ended > 0 && ended < made_.size()) {
                end(made_[ended]);
                made_.erase(made_.begin() + static_cast<std::ptrdiff_t>(ended));
            }
        }
        while (made_.size() > 1) {
            end(made_.back());
            made_.pop_back();
        }
    }

private:
    static constexpr size_t children_of_a_turn = 3;

    void use(Comm &comm, uint64_t seed) {
        if (comm.remote_group) run_inter_collectives(rank_, comm, seed, 3);
        else run_collectives(rank_, comm.team, seed, 3, 20);
    }
    void make(Comm &parent, uint64_t turn_seed, std::vector<Comm *> &children) {
        Random random(turn_seed + parent.team.peers[0]);
        if (parent.remote_group) return make_of_intercomm(parent, random, children);
        switch (random.below(9)) {
            case 7: return create_inter(parent, random, children);
            case 8: return create_inter_from_groups(parent, random, children);
            case 0: return duplicate(parent, children[0]);
            case 1: return duplicate_without_blocking(parent, random, children);
            case 2: return split(parent, random, children[0]);
            case 3: return split_by_node(parent, random, children[0]);
            case 4: return create(parent, random, children[0]);
            case 5: return create_of_groups(parent, random, children);
            default: return create_from_groups(parent, random, children);
        }
    }
    void make_of_intercomm(Comm &parent, Random &random, std::vector<Comm *> &children) {
        switch (random.below(5)) {
            case 0: return duplicate(parent, children[0]);
            case 1: return duplicate_without_blocking(parent, random, children);
            case 2: return split_inter(parent, random, children[0]);
            case 3: return create_of_inter(parent, random, children[0]);
            default: return merge(parent, random, children[0]);
        }
    }
    void end(Comm *comm) {
        if (!comm) return;
        Error error = free_comm(comm);
        ASSERT_FALSE(error) << error.take().sentence;
    }
    // Checks that a new communicator has these members, in this order, and that a process that is
    // not among them got nullptr.
    void expect(Error error, const Comm *made, const Peers &wanted, const char *how) {
        ASSERT_FALSE(error) << how << ": " << error.take().sentence;
        bool in_it = std::count(wanted.begin(), wanted.end(), rank_.own) > 0;
        ASSERT_EQ(made != nullptr, in_it) << how << " on rank " << rank_.own;
        if (!made) return;
        ASSERT_EQ(made->group->peers, wanted) << how;
        ASSERT_EQ(made->size, static_cast<int>(wanted.size())) << how;
        ASSERT_EQ(wanted[static_cast<size_t>(made->rank)], rank_.own) << how;
        census_.report(*made);
    }

    // Like expect(), for an intercommunicator with these two groups. A process gets the intercommunicator
    // only if neither group is empty and the process is in one of the groups.
    void expect_inter(Error error, const Comm *made, const Peers &own, const Peers &other, const char *how) {
        ASSERT_FALSE(error) << how << ": " << error.take().sentence;
        bool in_it = !other.empty() && std::count(own.begin(), own.end(), rank_.own) > 0;
        ASSERT_EQ(made != nullptr, in_it) << how << " on rank " << rank_.own;
        if (!made) return;
        ASSERT_EQ(made->group->peers, own) << how;
        ASSERT_EQ(made->remote_group->peers, other) << how;
        ASSERT_EQ(made->size, static_cast<int>(other.size())) << how;
        ASSERT_EQ(own[static_cast<size_t>(made->rank)], rank_.own) << how;
        ASSERT_EQ(made->team.peers[made->team.index], rank_.own) << how;
        census_.report(*made);
    }
    void expect_like(Error error, const Comm *made, const Comm &parent, const char *how) {
        if (parent.remote_group)
            expect_inter(error, made, parent.group->peers, parent.remote_group->peers, how);
        else expect(error, made, parent.group->peers, how);
    }

    void duplicate(Comm &parent, Comm *&made) {
        Error error = duplicate_comm(parent, nullptr, made);
        expect_like(error, made, parent, "dup");
    }
    // Starts several duplications at once and runs collectives meanwhile. Each rank finishes the
    // duplications in an order of its own.
    void duplicate_without_blocking(Comm &parent, Random &random, std::vector<Comm *> &children) {
        std::vector<Duplication> pending(children.size());
        std::vector<Collective *> under_way(children.size());
        for (size_t place = 0; place < children.size(); ++place) {
            Error error = pending[place].prepare(parent, nullptr, children[place]);
            ASSERT_FALSE(error) << error.take().sentence;
            EngineGuard guard(rank_.engine);
            pending[place].start(parent, nullptr, nullptr, under_way[place]);
        }
        use(parent, random.next());
        std::vector<size_t> order{0, 1, 2};
        std::rotate(order.begin(), order.begin() + rank_.own % 3, order.end());
        for (size_t place : order) {
            {
                EngineGuard guard(rank_.engine);
                pending[place].accept(*children[place], rank_.executor.finish(under_way[place]));
            }
            Error error = pending[place].finish(children[place]);
            expect_like(error, children[place], parent, "idup");
        }
    }
    void split(Comm &parent, Random &random, Comm *&made) {
        std::vector<Wish> wishes;
        int colors = static_cast<int>(random.between(1, 5)), keys = static_cast<int>(random.between(1, 4));
        for (int rank = 0; rank < parent.size; ++rank) {
            int color = static_cast<int>(random.below(static_cast<uint64_t>(colors)));
            if (color == 4) color = abi::undefined;
            else if (color == 3) color = INT32_MAX;
            wishes.push_back({color, static_cast<int>(random.below(static_cast<uint64_t>(keys))) - 1});
        }
        auto [color, key] = wishes[static_cast<size_t>(parent.rank)];
        Error error = split_comm(parent, CollectiveKind::comm_split, color, key, made);
        expect(error, made, color == abi::undefined ? Peers{} : part_of(wishes, parent.group->peers, color),
               "split");
    }
    void split_by_node(Comm &parent, Random &random, Comm *&made) {
        std::vector<Wish> wishes;
        for (uint32_t peer : parent.group->peers)
            wishes.push_back({static_cast<int>(peer / rank_.job.shape.ranks_per_node),
                              static_cast<int>(random.between(-2, 2))});
        Error error = split_comm_by_type(parent, abi::comm_type_shared,
                                         wishes[static_cast<size_t>(parent.rank)].key, nullptr, made);
        expect(error, made,
               part_of(wishes, parent.group->peers, wishes[static_cast<size_t>(parent.rank)].color),
               "split_type");
    }
    // Creates communicators for groups that do not overlap, all in one call. Some ranks belong to
    // no group.
    void create(Comm &parent, Random &random, Comm *&made) {
        std::vector<Peers> parts(1 + random.below(4));
        bool one = parts.size() == 1;  // if there is only one group, ranks outside it pass it too
        Peers mine;
        for (uint32_t peer : shuffled(parent.group->peers, random)) {
            size_t place = random.below(parts.size() + 1);
            if (place == parts.size()) continue;
            parts[place].push_back(peer);
        }
        for (const Peers &part : parts)
            if (std::count(part.begin(), part.end(), rank_.own)) mine = part;
        with_group(one ? parts[0] : mine, [&](Group &group) {
            Error error = create_comm(parent, CollectiveKind::comm_create, group, made);
            expect(error, made, mine, "create");
        });
    }
    // Creates communicators for groups that may overlap, one after the other, in the same order on all
    // ranks. Only the members of a group make the call. The same tags are used repeatedly.
    void create_of_groups(Comm &parent, Random &random, std::vector<Comm *> &children) {
        for (Comm *&child : children) {
            Peers members = some_of(parent.group->peers, random);
            int tag = static_cast<int>(random.below(2));
            if (!std::count(members.begin(), members.end(), rank_.own)) continue;
            with_group(members, [&](Group &group) {
                Error error = create_comm_of_group(parent, group, tag, child);
                expect(error, child, members, "create_group");
            });
        }
    }
    void create_from_groups(Comm &parent, Random &random, std::vector<Comm *> &children) {
        for (Comm *&child : children) {
            Peers members = some_of(parent.group->peers, random);
            const char *tag = random.between(0, 1) == 1 ? "org.example/one" : "";
            if (!std::count(members.begin(), members.end(), rank_.own)) continue;
            with_group(members, [&](Group &group) {
                Error error = create_comm_from_group(group, tag, nullptr, errors_return(), child);
                expect(error, child, members, "create_from_group");
            });
        }
    }

    // Two groups of members of the parent that do not overlap. Each group has a random order. `own` is the
    // index of the group to which this process belongs, or -1.
    struct Pair {
        Peers groups[2];
        int own = -1;
    };
    Pair pair_out_of(const Peers &peers, Random &random) {
        Pair pair;
        for (uint32_t peer : shuffled(peers, random))
            if (size_t place = random.below(5); place < 4) pair.groups[place % 2].push_back(peer);
        for (int group : {0, 1})
            if (std::count(pair.groups[group].begin(), pair.groups[group].end(), rank_.own)) pair.own = group;
        return pair;
    }
    static int some_rank(const Peers &peers, Random &random) {
        return static_cast<int>(random.below(peers.size()));
    }

    // Creates an intercommunicator whose leaders communicate in the parent. The communicators of
    // the two groups also become children.
    void create_inter(Comm &parent, Random &random, std::vector<Comm *> &children) {
        Pair pair = pair_out_of(parent.group->peers, random);
        int tag = static_cast<int>(random.below(2));
        with_group(pair.own < 0 ? Peers{} : pair.groups[pair.own], [&](Group &group) {
            Error error = create_comm(parent, CollectiveKind::comm_create, group, children[0]);
            expect(error, children[0], group.peers, "create for intercomm");
        });
        if (pair.groups[0].empty() || pair.groups[1].empty()) return;
        int leaders[2] = {some_rank(pair.groups[0], random), some_rank(pair.groups[1], random)};
        if (pair.own < 0 || !children[0]) return;
        int own = pair.own, other = 1 - own;
        int remote_leader =
            Places(parent.group->peers).rank_of(pair.groups[other][static_cast<size_t>(leaders[other])]);
        Comm *peer_comm = children[0]->rank == leaders[own] ? &parent : nullptr;
        Error error =
            create_intercomm(*children[0], leaders[own], peer_comm, remote_leader, tag, children[1]);
        expect_inter(error, children[1], pair.groups[own], pair.groups[other], "intercomm_create");
    }
    void create_inter_from_groups(Comm &parent, Random &random, std::vector<Comm *> &children) {
        for (Comm *&child : children) {
            Pair pair = pair_out_of(parent.group->peers, random);
            if (pair.groups[0].empty() || pair.groups[1].empty()) continue;
            int leaders[2] = {some_rank(pair.groups[0], random), some_rank(pair.groups[1], random)};
            const char *stringtag = random.between(0, 1) == 1 ? "org.example/one" : "";
            if (pair.own < 0) continue;
            int own = pair.own, other = 1 - own;
            bool leads = pair.groups[own][static_cast<size_t>(leaders[own])] == rank_.own;
            with_group(pair.groups[own], [&](Group &local) {
                with_group(pair.groups[other], [&](Group &remote) {
                    Error error = create_intercomm_from_groups(local, leaders[own], leads ? &remote : nullptr,
                                                               leaders[other], stringtag, nullptr,
                                                               errors_return(), child);
                    expect_inter(error, child, pair.groups[own], pair.groups[other],
                                 "intercomm_create_from_groups");
                });
            });
        }
    }
    void split_inter(Comm &parent, Random &random, Comm *&made) {
        std::vector<Wish> wishes;
        int colors = static_cast<int>(random.between(1, 4));
        for (int i = 0; i < parent.team.size; ++i) {
            int color = static_cast<int>(random.below(static_cast<uint64_t>(colors)));
            wishes.push_back({color == 3 ? abi::undefined : color, static_cast<int>(random.below(3)) - 1});
        }
        const Team &team = parent.team;
        const Wish &wish = wishes[static_cast<size_t>(team.index)];
        auto part = [&](int begin, int size) {
            return part_of({wishes.begin() + begin, wishes.begin() + begin + size},
                           Peers(team.peers + begin, team.peers + begin + size), wish.color);
        };
        Error error = split_comm(parent, CollectiveKind::comm_split, wish.color, wish.key, made);
        Peers own = part(own_begin(team), own_size(team)), other = part(other_begin(team), other_size(team));
        expect_inter(error, made, wish.color == abi::undefined ? Peers{} : own, other, "split of intercomm");
    }
    void create_of_inter(Comm &parent, Random &random, Comm *&made) {
        const Team &team = parent.team;
        Peers parts[2];
        // The index in the team at which the second group begins.
        int second = std::max(own_begin(team), other_begin(team));
        for (auto [begin, end] : {std::pair(0, second), std::pair(second, team.size)})
            for (uint32_t peer : shuffled(Peers(team.peers + begin, team.peers + end), random))
                if (random.chance(70)) parts[begin > 0].push_back(peer);
        int own = own_begin(parent.team) > 0;
        with_group(parts[own], [&](Group &group) {
            Error error = create_comm(parent, CollectiveKind::comm_create, group, made);
            expect_inter(error, made, parts[own], parts[1 - own], "create of intercomm");
        });
    }
    void merge(Comm &parent, Random &random, Comm *&made) {
        bool high[2] = {random.between(0, 1) == 1, random.chance(50)};
        int own = own_begin(parent.team) > 0;
        const Peers &mine = parent.group->peers, &theirs = parent.remote_group->peers;
        const Peers &low = own ? theirs : mine, &up = own ? mine : theirs;
        Error error = merge_intercomm(parent, high[own], made);
        bool turned = high[0] && !high[1];
        expect(error, made, turned ? union_of(up, low) : union_of(low, up), "merge");
    }

    void with_group(const Peers &peers, const auto &use) {
        Group *group = make_group(rank_.universe, peers);
        ASSERT_NE(group, nullptr);
        use(*group);
        release_group(group);
    }
    static Peers shuffled(Peers peers, Random &random) {
        for (size_t i = peers.size(); i > 1; --i) std::swap(peers[i - 1], peers[random.below(i)]);
        return peers;
    }
    static Peers some_of(const Peers &peers, Random &random) {
        Peers some = shuffled(peers, random);
        some.resize(1 + random.below(some.size()));
        return some;
    }

    Rank &rank_;
    Census &census_;
    std::vector<Comm *> made_;
};

void play(uint64_t seed, uint32_t ranks, int turns) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    uint32_t on_node = random_ranks_per_node(random, ranks);
    Job job(baton, Behaviour::any(random),
            {.ranks = ranks, .ranks_per_node = on_node, .direct_reads = random.between(0, 1) == 1});
    if (random.chance(30)) job.memory.most = static_cast<int>(random.below(4));
    Census census;
    job.each([&](Rank &rank) {
        Maker(rank, census).play(seed, turns);
        rank.finish();
    });
    baton.run();
    census.expect_complete();
    expect_nothing_left(job);
}

TEST(SimulatedCommunicators, AreMadeUsedAndFreed) {
    for_seeds(5, 25, [](uint64_t seed) {
        Random random(seed);
        play(seed, static_cast<uint32_t>(random.between(1, 9)), 15);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedCommunicators, AreMadeOnSixtyFourRanks) {
    for (uint64_t seed : seeds(1)) play(seed, 64, 8);
}

}  // namespace
}  // namespace lanyard::sim
