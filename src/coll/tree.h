// Computes trees over the ranks of a team. A rank's position is its distance from the root. In a binomial
// tree the parent of a position is the position with its lowest one-bit cleared, so a subtree is a run of
// consecutive positions. A k-nomial tree is the same with digits of a radix instead of bits.
// Thread rule: values without a lock; a thread uses its own.
// Tested by: tests/unit/coll/moves_test.cc, tests/unit/coll/reductions_test.cc.
#pragma once

#include <algorithm>

#include "coll/work.h"

namespace lanyard {

class BinomialTree {
public:
    BinomialTree(int index, int size, int root)
        : size_(size), root_(root), position_((index - root + size) % size) {}

    int position() const { return position_; }
    bool is_root() const { return position_ == 0; }
    int parent() const { return rank_at(position_ & (position_ - 1)); }
    // The number of positions in the subtree, which begins with this position.
    int subtree() const { return subtree_of(position_, size_); }
    int rank_at(int position) const { return (position + root_) % size_; }

    // Calls visit(rank, position, positions in its subtree) for each child.
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
    // The distances of all children from this position are below this value.
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

class KnomialTree {
public:
    KnomialTree(int index, int size, int root, int radix)
        : size_(size),
          root_(root),
          radix_(radix),
          position_((index - root + size) % size),
          reach_(reach_of(position_, size, radix)) {}

    int position() const { return position_; }
    bool is_root() const { return position_ == 0; }
    int parent() const { return rank_at(position_ - static_cast<int>(position_ / reach_ % radix_ * reach_)); }
    int subtree() const { return static_cast<int>(std::min<int64_t>(reach_, size_ - position_)); }
    int rank_at(int position) const { return (position + root_) % size_; }

    template <class Visit>
    void each_child_largest_first(Visit visit) const {
        for (int64_t distance = reach_ / radix_; distance > 0; distance /= radix_)
            visit_children(distance, visit);
    }
    template <class Visit>
    void each_child_smallest_first(Visit visit) const {
        for (int64_t distance = 1; distance < reach_; distance *= radix_) visit_children(distance, visit);
    }

    static int subtree_of(int position, int size, int radix) {
        return position == 0
                   ? size
                   : static_cast<int>(std::min<int64_t>(reach_of(position, size, radix), size - position));
    }

private:
    // The place value of the lowest digit that is not 0, or for position 0 a power of the radix that is not
    // below the size. The distances of all children are below this value.
    static int64_t reach_of(int position, int size, int radix) {
        int64_t reach = 1;
        while (position == 0 ? reach < size : position / reach % radix == 0) reach *= radix;
        return reach;
    }
    template <class Visit>
    void visit_children(int64_t distance, Visit visit) const {
        for (int64_t child = position_ + distance, digit = 1; digit < radix_ && child < size_;
             child += distance, ++digit)
            visit(rank_at(static_cast<int>(child)), static_cast<int>(child),
                  static_cast<int>(std::min(distance, size_ - child)));
    }

    int size_;
    int root_;
    int radix_;
    int position_;
    int64_t reach_;
};

}  // namespace lanyard
