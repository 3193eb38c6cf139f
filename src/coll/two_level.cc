// Implements the barrier, bcast, reduce and allreduce of two_level.h.
#include "coll/two_level.h"

#include "coll/tree.h"

namespace lanyard::two_level {

namespace {

// A Standing states the position of a rank among the ranks of its node ("mates"), and the position of this
// node among the nodes.
struct Standing {
    const Nodes &nodes;
    int node;
    int root_node;
    std::span<const int32_t> mates;
    int own = 0;                   // position of this rank among `mates`
    int lead = 0;                  // position of the leader among `mates`
    std::vector<int32_t> leaders;  // the leader of each node

    // root < 0: there is no root, and the lowest rank of each node leads.
    Standing(const Members &m, int root)
        : nodes(*m.nodes),
          node(nodes.node_of[m.index]),
          root_node(root < 0 ? 0 : nodes.node_of[root]),
          mates(nodes.of(node)) {
        for (int i = 0; i < nodes.count(); ++i) leaders.push_back(nodes.of(i)[0]);
        if (root >= 0) leaders[root_node] = root;
        own = place_of(m.index);
        lead = place_of(leaders[node]);
    }
    bool leads() const { return own == lead; }
    Members among_mates() const { return {own, static_cast<int>(mates.size())}; }
    Members among_leaders() const { return {node, nodes.count()}; }
    bool alone() const { return mates.size() == 1; }

private:
    int place_of(int rank) const {
        return static_cast<int>(std::lower_bound(mates.begin(), mates.end(), rank) - mates.begin());
    }
};

// Converts the work of a phase inside one node to the work of this phase inside all nodes. In each node,
// every rank except the leader sends or receives one message.
Work in_all_nodes(const Crew &crew, Work one, int64_t bytes_each) {
    one.messages = crew.size - crew.nodes;
    one.bytes = one.messages * bytes_each;
    return one;
}

Work tree_in_nodes(const Crew &crew, int64_t bytes) {
    return in_all_nodes(crew, bcast_binomial_work(crew.most, bytes), bytes);
}
Work reduction_in_nodes(const Crew &crew, int64_t bytes) {
    Work work = tree_in_nodes(crew, bytes);
    work.path_reduced = work.path_bytes;
    return work;
}

}  // namespace

void barrier(const Members &m, Schedule &schedule, BarrierAmong leaders) {
    Standing standing(m, -1);
    BinomialTree tree(standing.own, static_cast<int>(standing.mates.size()), 0);
    schedule.enter(standing.mates.data(), no_step);
    tree.each_child_smallest_first([&](int child, int, int) { schedule.await_signal(child, {}); });
    StepId heard = schedule.leave(), all = no_step;
    if (standing.leads()) {
        schedule.enter(standing.leaders.data(), heard);
        leaders(standing.among_leaders(), schedule);
        all = schedule.leave(Schedule::Over::data);
    } else {
        schedule.enter(standing.mates.data(), heard);
        schedule.signal(tree.parent(), {});
        all = schedule.await_signal(tree.parent(), {});
        schedule.leave();
    }
    schedule.enter(standing.mates.data(), all);
    tree.each_child_largest_first([&](int child, int, int) { schedule.signal(child, {}); });
    schedule.leave();
}

Work barrier_work(const Crew &crew, const Work &leaders) {
    Work in_nodes = tree_in_nodes(crew, 0);
    return in_nodes + leaders + in_nodes;
}

void bcast(const BcastShape &s, Schedule &schedule, BcastAmong leaders) {
    Standing standing(s, s.root);
    StepId have = no_step;
    if (standing.leads()) {
        schedule.enter(standing.leaders.data(), no_step);
        leaders({standing.among_leaders(), standing.root_node, s.data}, schedule);
        have = schedule.leave(Schedule::Over::data);
    }
    schedule.enter(standing.mates.data(), have);
    bcast_binomial({standing.among_mates(), standing.lead, s.data}, schedule);
    schedule.leave();
}

Work bcast_work(const Crew &crew, int64_t bytes, const Work &leaders) {
    return leaders + tree_in_nodes(crew, bytes);
}

namespace {

ReduceShape reduce_shape(const Members &m, int root, const Block &contribution, const Block &result,
                         const Op *op) {
    ReduceShape shape;
    static_cast<Members &>(shape) = m;
    shape.root = root;
    shape.contribution = contribution;
    shape.result = result;
    shape.op = op;
    return shape;
}

// Combines the contributions of a node's ranks at their leader, into `result`.
StepId reduce_in_node(const Standing &standing, const ReduceShape &s, const Block &result,
                      Schedule &schedule) {
    if (standing.alone()) return no_step;
    schedule.enter(standing.mates.data(), no_step);
    reduce_binomial(reduce_shape(standing.among_mates(), standing.lead, s.contribution, result, s.op),
                    schedule);
    return schedule.leave();
}

}  // namespace

void reduce(const ReduceShape &s, Schedule &schedule, ReduceAmong leaders) {
    Standing standing(s, s.root);
    schedule.op = s.op;
    // The block into which the leader combines: at the root the result buffer, at other leaders scratch
    // memory, or no block if the leader is alone on its node.
    Block partial = s.index == s.root ? s.result : Block{};
    if (!partial.type && standing.leads() && !standing.alone())
        partial = schedule.scratch(s.contribution.count, *s.contribution.type);
    StepId reduced = reduce_in_node(standing, s, partial, schedule);
    if (!standing.leads()) return;
    const Block &contribution = standing.alone() ? s.contribution : partial;
    schedule.enter(standing.leaders.data(), reduced);
    leaders(reduce_shape(standing.among_leaders(), standing.root_node, contribution, s.result, s.op),
            schedule);
    schedule.leave();
}

Work reduce_work(const Crew &crew, int64_t bytes, const Work &leaders) {
    return reduction_in_nodes(crew, bytes) + leaders;
}

void allreduce(const ReduceShape &s, Schedule &schedule, ReduceAmong leaders) {
    Standing standing(s, -1);
    schedule.op = s.op;
    StepId ready = reduce_in_node(standing, s, s.result, schedule);
    if (standing.leads()) {
        const Block &contribution = standing.alone() ? s.contribution : s.result;
        schedule.enter(standing.leaders.data(), ready);
        leaders(reduce_shape(standing.among_leaders(), 0, contribution, s.result, s.op), schedule);
        ready = schedule.leave(Schedule::Over::data);
    }
    schedule.enter(standing.mates.data(), ready);
    bcast_binomial({standing.among_mates(), 0, s.result}, schedule);
    schedule.leave();
}

Work allreduce_work(const Crew &crew, int64_t bytes, const Work &leaders) {
    return reduction_in_nodes(crew, bytes) + leaders + tree_in_nodes(crew, bytes);
}

void allreduce_ring_by_node(const ReduceShape &s, Schedule &schedule) {
    Standing standing(s, -1);
    schedule.enter(standing.nodes.members.data(), no_step);
    Members in_order{standing.nodes.first[standing.node] + standing.own, s.size};
    allreduce_ring(reduce_shape(in_order, 0, s.contribution, s.result, s.op), schedule);
    schedule.leave();
}

Work allreduce_ring_by_node_work(const Crew &crew, int64_t bytes) {
    return allreduce_ring_work(crew.in_runs(), bytes);
}

}  // namespace lanyard::two_level
