// Implements gather, scatter and allgather in two levels (two_level.h).
// Tested by: tests/unit/coll/two_level_test.cc.
#include <algorithm>

#include "coll/two_level.h"

namespace lanyard::two_level {

namespace {

MoveShape move_shape(int index, int size, int root, const Division &sent, const Division &received,
                     bool in_place) {
    MoveShape shape;
    shape.index = index;
    shape.size = size;
    shape.root = root;
    shape.sent = sent;
    shape.received = received;
    shape.in_place = in_place;
    shape.even = false;
    return shape;
}

int place_among(std::span<const int32_t> mates, int rank) {
    return static_cast<int>(std::lower_bound(mates.begin(), mates.end(), rank) - mates.begin());
}

// Packed describes all blocks, packed in the order of nodes, and where each block begins. `all` is the result
// buffer itself if the result buffer has the blocks in this order without gaps.
struct Packed {
    Block all;
    bool is_result;
    std::vector<int64_t> starts{0};  // by position in nodes.members, and one more entry for the end

    Packed(const MoveShape &s, Schedule &schedule) : is_result(s.nodes->runs && s.received.dense()) {
        for (int32_t rank : s.nodes->members)
            starts.push_back(starts.back() + s.received.block(rank).bytes());
        all = is_result ? s.received.range(0, s.size).slice(0, starts.back())
                        : schedule.scratch_bytes(starts.back());
    }
    Division of_places(int first, int count) const {
        return Division::cut(all, {starts.begin() + first, starts.begin() + first + count + 1});
    }
    Division of_nodes(const Nodes &nodes) const {
        std::vector<int64_t> begins;
        for (int32_t first : nodes.first) begins.push_back(starts[first]);
        return Division::cut(all, begins);
    }
};

}  // namespace

void allgather(const MoveShape &s, Schedule &schedule, MoveAmong leaders) {
    const Nodes &nodes = *s.nodes;
    int node = nodes.node_of[s.index];
    std::span<const int32_t> mates = nodes.of(node);
    auto count = static_cast<int>(mates.size());
    int own = place_among(mates, s.index);
    Packed packed(s, schedule);
    Division sent = Division::one(s.in_place ? s.received.block(s.index) : s.sent.block(0));

    schedule.enter(mates.data(), no_step);
    gather_linear(move_shape(own, count, 0, sent, packed.of_places(nodes.first[node], count),
                             s.in_place && packed.is_result),
                  schedule);
    StepId ready = schedule.leave();
    if (own == 0) {
        std::vector<int32_t> first_of_each;
        for (int i = 0; i < nodes.count(); ++i) first_of_each.push_back(nodes.of(i)[0]);
        schedule.enter(first_of_each.data(), ready);
        leaders(move_shape(node, nodes.count(), 0, {}, packed.of_nodes(nodes), true), schedule);
        ready = schedule.leave(Schedule::Over::data);
    }
    schedule.enter(mates.data(), ready);
    bcast_binomial({{own, count}, 0, packed.all}, schedule);
    ready = schedule.leave(Schedule::Over::data);
    if (packed.is_result) return;
    for (int place = 0; place < s.size; ++place) {
        int rank = nodes.members[place];
        Block from = packed.all.slice(packed.starts[place], packed.starts[place + 1] - packed.starts[place]);
        if (rank != s.index || !s.in_place) schedule.copy(from, s.received.block(rank), ready);
    }
}

Work allgather_work(const Crew &crew, int64_t bytes, const Work &leaders) {
    Work up = gather_linear_work(crew.most, bytes / crew.size), down = bcast_binomial_work(crew.most, bytes);
    up.messages = down.messages = crew.size - crew.nodes;
    up.bytes = up.messages * (bytes / crew.size);
    down.bytes = down.messages * bytes;
    if (!crew.runs) down.path_bytes += double(bytes);  // the blocks are unpacked
    return up + leaders + down;
}

// The leader of a node sends the blocks of its node in one message. The root copies each block to its place,
// unless the message arrives right there.
void gather(const MoveShape &s, Schedule &schedule) {
    const Nodes &nodes = *s.nodes;
    int node = nodes.node_of[s.index], root_node = nodes.node_of[s.root];
    std::span<const int32_t> mates = nodes.of(node);
    int leader = node == root_node ? s.root : mates[0];
    if (s.index != leader) {
        schedule.send(leader, s.sent.block(0), {});
        return;
    }
    auto count = static_cast<int>(mates.size());
    if (s.index != s.root) {
        Block own = s.sent.block(0);
        Block all = count == 1 ? own : schedule.scratch_bytes(count * own.bytes());
        std::vector<StepId> have;
        for (int i = 1; i < count; ++i)
            have.push_back(schedule.receive(mates[i], all.slice(i * own.bytes(), own.bytes()), {}));
        if (count > 1) have.push_back(schedule.copy(own, all.slice(0, own.bytes()), {}));
        schedule.send(s.root, all, have);
        return;
    }
    int64_t length = s.received.block(s.root).bytes();
    if (!s.in_place) schedule.copy(s.sent.block(0), s.received.block(s.root), {});
    for (int other = 0; other < nodes.count(); ++other) {
        std::span<const int32_t> theirs = nodes.of(other);
        auto blocks = static_cast<int>(theirs.size());
        if (other == root_node) {
            for (int32_t mate : theirs)
                if (mate != s.root) schedule.receive(mate, s.received.block(mate), {});
        } else if (nodes.runs && s.received.dense()) {
            schedule.receive(theirs[0], s.received.range(theirs[0], blocks), {});
        } else {
            Block packed = schedule.scratch_bytes(blocks * length);
            StepId got = schedule.receive(theirs[0], packed, {});
            for (int i = 0; i < blocks; ++i)
                schedule.copy(packed.slice(i * length, length), s.received.block(theirs[i]), got);
        }
    }
}

Work gather_work(const Crew &crew, int64_t bytes) {
    int64_t far_blocks = crew.size - crew.fewest, near_messages = crew.size - crew.nodes;
    auto all = double(bytes) * double(crew.size);
    return {.rounds = crew.nodes - 1 + (crew.most > 1),
            .messages = crew.size - 1,
            .bytes = (near_messages + far_blocks) * bytes,
            .path_bytes = crew.runs ? all : 2 * all,
            .far = {1, crew.nodes - 2, crew.nodes - 1, double(bytes) * double(far_blocks)}};
}

void scatter(const MoveShape &s, Schedule &schedule) {
    const Nodes &nodes = *s.nodes;
    int node = nodes.node_of[s.index], root_node = nodes.node_of[s.root];
    std::span<const int32_t> mates = nodes.of(node);
    int leader = node == root_node ? s.root : mates[0];
    if (s.index != leader) {
        schedule.receive(leader, s.received.block(0), {});
        return;
    }
    auto count = static_cast<int>(mates.size());
    if (s.index != s.root) {
        Block own = s.received.block(0);
        Block all = count == 1 ? own : schedule.scratch_bytes(count * own.bytes());
        StepId got = schedule.receive(s.root, all, {});
        for (int i = 1; i < count; ++i) schedule.send(mates[i], all.slice(i * own.bytes(), own.bytes()), got);
        if (count > 1) schedule.copy(all.slice(0, own.bytes()), own, got);
        return;
    }
    // Sends the blocks of other nodes first, because they take the longest time. Blocks that must be packed
    // leave later than those for this node.
    int64_t length = s.sent.block(s.root).bytes();
    for (int other = 0; other < nodes.count(); ++other) {
        std::span<const int32_t> theirs = nodes.of(other);
        auto blocks = static_cast<int>(theirs.size());
        if (other == root_node) continue;
        if (nodes.runs && s.sent.dense()) {
            schedule.send(theirs[0], s.sent.range(theirs[0], blocks), {});
            continue;
        }
        Block packed = schedule.scratch_bytes(blocks * length);
        std::vector<StepId> ready;
        for (int i = 0; i < blocks; ++i)
            ready.push_back(schedule.copy(s.sent.block(theirs[i]), packed.slice(i * length, length), {}));
        schedule.send(theirs[0], packed, ready);
    }
    for (int32_t mate : mates)
        if (mate != s.root) schedule.send(mate, s.sent.block(mate), {});
    if (!s.in_place) schedule.copy(s.sent.block(s.root), s.received.block(0), {});
}

Work scatter_work(const Crew &crew, int64_t bytes) { return gather_work(crew, bytes); }

}  // namespace lanyard::two_level
