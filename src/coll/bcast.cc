// Implements the broadcast algorithms (MPI-5.0 6.4). Positions are counted from the root (position 0).
// Tested by: tests/unit/coll/moves_test.cc.
#include "coll/algorithms.h"
#include "coll/tree.h"

namespace lanyard {

namespace {

template <class Tree>
void bcast_along(const Tree &tree, const BcastShape &s, Schedule &schedule) {
    StepId have = tree.is_root() ? no_step : schedule.receive(tree.parent(), s.data, {});
    // Adds the send to the child with the largest subtree first, because the data needs the most steps to
    // reach all ranks below that child. The root sends in this order. At ranks that have waited for the data,
    // the order is reversed (StepQueue::take()).
    tree.each_child_largest_first([&](int child, int, int) { schedule.send(child, s.data, have); });
}

}  // namespace

void bcast_binomial(const BcastShape &s, Schedule &schedule) {
    bcast_along(BinomialTree(s.index, s.size, s.root), s, schedule);
}

Work bcast_binomial_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, rounds = doublings(size);
    return {.rounds = rounds,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = double(rounds) * moved_in_time(bytes),
            .fresh_bytes = double(rounds - 1) * double(bytes),
            .one_way = bytes <= sent_at_once_bytes,
            .far = far_tree_of_any_root(crew, double(bytes))};
}

void bcast_knomial(const BcastShape &s, Schedule &schedule, int radix) {
    bcast_along(KnomialTree(s.index, s.size, s.root, radix), s, schedule);
}

Work bcast_knomial_work(const Crew &crew, int64_t bytes, int radix) {
    int size = crew.size, rounds = (radix - 1) * growths(size, radix);
    return {.rounds = rounds,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = double(rounds) * double(bytes),
            .one_way = bytes <= sent_at_once_bytes,
            .far = far_tree_of_any_root(crew, double(bytes), radix)};
}

namespace {

// The data, cut into P pieces of packed bytes. The last pieces may be shorter or empty.
struct Pieces {
    Block all;
    int64_t length;

    Pieces(const Block &data, int size) : all(data), length((data.bytes() + size - 1) / size) {}
    Block range(int first, int pieces) const {
        int64_t begin = std::min(first * length, all.bytes());
        return all.slice(begin, std::min((first + pieces) * length, all.bytes()) - begin);
    }
};

}  // namespace

void bcast_scatter_allgather(const BcastShape &s, Schedule &schedule) {
    bool packs = !s.data.type->contiguous;
    Block data = packs ? schedule.scratch_bytes(s.data.bytes()) : s.data;
    Pieces pieces(data, s.size);
    BinomialTree tree(s.index, s.size, s.root);

    StepId have = no_step;
    if (tree.is_root() && packs) have = schedule.copy(s.data, data, {});
    if (!tree.is_root())
        have = schedule.receive(tree.parent(), pieces.range(tree.position(), tree.subtree()), {});
    tree.each_child_largest_first([&](int child, int position, int subtree) {
        schedule.send(child, pieces.range(position, subtree), have);
    });

    // The ring: in each round every rank sends to its right neighbour the piece that it received in the round
    // before. A rank already has the pieces of its own subtree, so these are not sent to it.
    int me = tree.position();
    int right = (s.index + 1) % s.size, left = (s.index - 1 + s.size) % s.size;
    int right_position = (me + 1) % s.size;
    int right_subtree = BinomialTree::subtree_of(right_position, s.size);
    StepId latest = have, all = have;
    for (int round = 0; round + 1 < s.size; ++round) {
        int outgoing = (me - round + s.size) % s.size, incoming = (me - round - 1 + s.size) % s.size;
        bool right_has_it = outgoing >= right_position && outgoing < right_position + right_subtree;
        if (!right_has_it) schedule.send(right, pieces.range(outgoing, 1), latest, 1 + round);
        bool have_it = incoming >= me && incoming < me + tree.subtree();
        latest = have_it ? have : schedule.receive(left, pieces.range(incoming, 1), {}, 1 + round);
        if (!have_it) all = schedule.join({all, latest});
    }
    if (packs && !tree.is_root()) schedule.copy(data, s.data, all);
}

Work bcast_scatter_allgather_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    int64_t piece = (bytes + size - 1) / size;
    auto length = [&](int first, int pieces) {
        return std::min((first + pieces) * piece, bytes) - std::min(first * piece, bytes);
    };
    int64_t filled = piece == 0 ? 0 : (bytes + piece - 1) / piece;  // pieces that are not empty
    Work work{.rounds = doublings(size) + size - 1,
              .path_bytes = 2.0 * double(bytes),
              .one_way = bytes <= size * sent_at_once_bytes};
    for (int position = 0; position < size; ++position) {
        int subtree = BinomialTree::subtree_of(position, size);
        int64_t has = std::clamp<int64_t>(filled - position, 0, subtree);
        if (position > 0 && has > 0) ++work.messages;
        if (position > 0) work.bytes += length(position, subtree);
        // Round the ring a rank receives all pieces except those of its own subtree.
        work.bytes += bytes - length(position, subtree);
        work.messages += filled - has;
    }
    Far down = far_tree_of_any_root(crew, 0),
        round = far_ring(crew, int64_t{size} * (size - 1), double(bytes));
    work.far = {down.rounds + round.rounds, 0, down.messages + round.messages,
                crew.spread() ? double(bytes) + round.path_bytes : 0};
    return work;
}

}  // namespace lanyard
