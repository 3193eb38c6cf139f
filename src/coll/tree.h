// The binomial tree over the ranks of a team, counted from its root: the parent of a position is the position without its
// lowest one-bit, so a subtree is a run of positions. Plain value.
#pragma once

#include <algorithm>

#include "coll/work.h"

namespace lanyard {

class BinomialTree {
public:
    BinomialTree(int index, int size, int root) : size_(size), root_(root), position_((index - root + size) % size) {}

    int position() const { return position_; }
    bool is_root() const { return position_ == 0; }
    int parent() const { return rank_at(position_ & (position_ - 1)); }
    // How many positions, from the own one on, the subtree has.
    int subtree() const { return subtree_of(position_, size_); }
    int rank_at(int position) const { return (position + root_) % size_; }

    // visit(rank, position, positions in its subtree)
    template <class Visit>
    void each_child_largest_first(Visit visit) const {
        for (int distance = reach() / 2; distance > 0; distance /= 2) visit_child(distance, visit);
    }
    template <class Visit>
    void each_child_smallest_first(Visit visit) const {
        for (int distance = 1; distance < reach(); distance *= 2) visit_child(distance, visit);
    }

    static int subtree_of(int position, int size) {
        return position == 0 ? size : std::min(position & -position, size - position);
    }

private:
    // Children are nearer than this.
    int reach() const { return is_root() ? 1 << doublings(size_) : position_ & -position_; }
    template <class Visit>
    void visit_child(int distance, Visit visit) const {
        int child = position_ + distance;
        if (child < size_) visit(rank_at(child), child, subtree_of(child, size_));
    }

    int size_;
    int root_;
    int position_;
};

}  // namespace lanyard
