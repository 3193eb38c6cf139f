// Implements the gather and scatter algorithms (MPI-5.0 6.5, 6.6). Positions in trees count ranks from the
// root.
// Tested by: tests/unit/coll/moves_test.cc.
#include "coll/algorithms.h"
#include "coll/tree.h"

namespace lanyard {

void gather_linear(const MoveShape &s, Schedule &schedule) {
    if (s.index != s.root) {
        schedule.send(s.root, s.sent.block(0), {});
        return;
    }
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.root) schedule.receive(rank, s.received.block(rank), {});
    if (!s.in_place) schedule.copy(s.sent.block(0), s.received.block(s.root), {});
}

Work gather_linear_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    double each = size == 2 ? moved_in_time(bytes) : double(bytes);
    return {.rounds = size > 1,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = (size - 1) * each,
            .one_way = bytes <= sent_at_once_bytes,
            .far = far_star(crew, double(bytes))};
}

namespace {

// A rank with children collects the packed blocks of its subtree, its own block first, and sends them to its
// parent in one message.
template <class Tree>
void gather_along(const Tree &tree, const MoveShape &s, Schedule &schedule) {
    if (tree.subtree() == 1 && !tree.is_root()) {
        schedule.send(tree.parent(), s.sent.block(0), {});
        return;
    }
    int64_t length = tree.is_root() ? s.received.block(s.root).bytes() : s.sent.block(0).bytes();
    Block all = schedule.scratch_bytes(tree.subtree() * length);
    std::vector<StepId> have;
    if (!tree.is_root()) have.push_back(schedule.copy(s.sent.block(0), all.slice(0, length), {}));
    if (tree.is_root() && !s.in_place) schedule.copy(s.sent.block(0), s.received.block(s.root), {});

    tree.each_child_smallest_first([&](int child, int position, int subtree) {
        int64_t first = (position - tree.position()) * length;
        StepId got = schedule.receive(child, all.slice(first, subtree * length), {});
        have.push_back(got);
        for (int i = 0; tree.is_root() && i < subtree; ++i)
            schedule.copy(all.slice(first + i * length, length), s.received.block(tree.rank_at(position + i)),
                          got);
    });
    if (!tree.is_root()) schedule.send(tree.parent(), all, have);
}

// Returns the bytes that cross nodes in a gather along a tree (Far::path_bytes). They are the bytes that
// arrive at the root from other nodes. If the ranks of a node belong to several subtrees, the bytes that pass
// through these ranks are added.
double far_gathered(const Crew &crew, int64_t bytes, int rounds) {
    if (!crew.spread()) return 0;
    return double(bytes) * (crew.runs ? crew.size - crew.fewest : crew.size * std::min(rounds, crew.most));
}

}  // namespace

void gather_binomial(const MoveShape &s, Schedule &schedule) {
    gather_along(BinomialTree(s.index, s.size, s.root), s, schedule);
}

Work gather_binomial_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, rounds = doublings(size);
    Work work{.rounds = rounds, .messages = size - 1, .path_bytes = 2.0 * double(size - 1) * double(bytes),
              .one_way = size / 2 * bytes <= sent_at_once_bytes, .far = far_tree_of_any_root(crew, 0)};
    for (int position = 1; position < size; ++position)
        work.bytes += BinomialTree::subtree_of(position, size) * bytes;
    work.copied_in_all = double(work.bytes);
    work.far.path_bytes = far_gathered(crew, bytes, rounds);
    return work;
}

void gather_knomial(const MoveShape &s, Schedule &schedule, int radix) {
    gather_along(KnomialTree(s.index, s.size, s.root, radix), s, schedule);
}

Work gather_knomial_work(const Crew &crew, int64_t bytes, int radix) {
    int size = crew.size, rounds = growths(size, radix);
    Work work{.rounds = (radix - 1) * rounds,
              .messages = size - 1,
              .path_bytes = 2.0 * double(size - 1) * double(bytes),
              .one_way = size / 2 * bytes <= sent_at_once_bytes,
              .far = far_tree_of_any_root(crew, 0, radix)};
    for (int position = 1; position < size; ++position)
        work.bytes += KnomialTree::subtree_of(position, size, radix) * bytes;
    work.copied_in_all = double(work.bytes);
    work.far.path_bytes = far_gathered(crew, bytes, rounds);
    return work;
}

void scatter_linear(const MoveShape &s, Schedule &schedule) {
    if (s.index != s.root) {
        schedule.receive(s.root, s.received.block(0), {});
        return;
    }
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.root) schedule.send(rank, s.sent.block(rank), {});
    if (!s.in_place) schedule.copy(s.sent.block(s.root), s.received.block(0), {});
}

Work scatter_linear_work(const Crew &crew, int64_t bytes) { return gather_linear_work(crew, bytes); }

namespace {

template <class Tree>
void scatter_along(const Tree &tree, const MoveShape &s, Schedule &schedule) {
    if (tree.subtree() == 1 && !tree.is_root()) {
        schedule.receive(tree.parent(), s.received.block(0), {});
        return;
    }
    int64_t length = tree.is_root() ? s.sent.block(s.root).bytes() : s.received.block(0).bytes();
    Block all = schedule.scratch_bytes(tree.subtree() * length);
    StepId have = no_step;
    if (tree.is_root()) {
        if (!s.in_place) schedule.copy(s.sent.block(s.root), s.received.block(0), {});
    } else {
        have = schedule.receive(tree.parent(), all, {});
        schedule.copy(all.slice(0, length), s.received.block(0), have);
    }
    tree.each_child_largest_first([&](int child, int position, int subtree) {
        int64_t first = (position - tree.position()) * length;
        std::vector<StepId> packed{have};
        for (int i = 0; tree.is_root() && i < subtree; ++i) {
            Block place = all.slice(first + i * length, length);
            packed.push_back(schedule.copy(s.sent.block(tree.rank_at(position + i)), place, {}));
        }
        schedule.send(child, all.slice(first, subtree * length), packed);
    });
}

}  // namespace

void scatter_binomial(const MoveShape &s, Schedule &schedule) {
    scatter_along(BinomialTree(s.index, s.size, s.root), s, schedule);
}

Work scatter_binomial_work(const Crew &crew, int64_t bytes) { return gather_binomial_work(crew, bytes); }

void scatter_knomial(const MoveShape &s, Schedule &schedule, int radix) {
    scatter_along(KnomialTree(s.index, s.size, s.root, radix), s, schedule);
}

Work scatter_knomial_work(const Crew &crew, int64_t bytes, int radix) {
    return gather_knomial_work(crew, bytes, radix);
}

}  // namespace lanyard
