// Objects that are used again and again: what was given back last is taken first. Addresses stay; nothing is
// constructed anew, so who takes one sets what it needs. Never shrinks. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace lanyard {

template <class T>
class Spares {
public:
    // The arguments are those of the constructor, the same for all.
    template <class... Arguments>
    T &take(Arguments &&...arguments) {
        if (spare_.empty()) return all_.emplace_back(arguments...);
        T *one = spare_.back();
        spare_.pop_back();
        return *one;
    }
    void give(T &one) { spare_.push_back(&one); }
    size_t in_use() const { return all_.size() - spare_.size(); }

private:
    std::deque<T> all_;
    std::vector<T *> spare_;
};

}  // namespace lanyard
