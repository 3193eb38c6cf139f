// Objects that are reused: the one returned last is taken first. Objects do not move and are not constructed
// again, so the code that takes one sets what it needs. Never shrinks. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace lanyard {

template <class T>
class Spares {
public:
    // The constructor's arguments, the same for all objects.
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
