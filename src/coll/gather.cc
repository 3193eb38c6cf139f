// Gather and scatter algorithms (MPI-5.0 6.5, 6.6). Trees count ranks from the root.
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

Work gather_linear_work(int size, int64_t bytes) {
    return {.rounds = size > 1, .messages = size - 1, .bytes = (size - 1) * bytes, .path_bytes = double(size - 1) * double(bytes)};
}

// Who has children collects packed blocks of its subtree, its own first, and sends them on together.
void gather_binomial(const MoveShape &s, Schedule &schedule) {
    BinomialTree tree(s.index, s.size, s.root);
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
            schedule.copy(all.slice(first + i * length, length), s.received.block(tree.rank_at(position + i)), got);
    });
    if (!tree.is_root()) schedule.send(tree.parent(), all, have);
}

Work gather_binomial_work(int size, int64_t bytes) {
    Work work{.rounds = doublings(size), .messages = size - 1, .path_bytes = 2.0 * double(size - 1) * double(bytes)};
    for (int position = 1; position < size; ++position) work.bytes += BinomialTree::subtree_of(position, size) * bytes;
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

Work scatter_linear_work(int size, int64_t bytes) { return gather_linear_work(size, bytes); }

void scatter_binomial(const MoveShape &s, Schedule &schedule) {
    BinomialTree tree(s.index, s.size, s.root);
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

Work scatter_binomial_work(int size, int64_t bytes) { return gather_binomial_work(size, bytes); }

}  // namespace lanyard
