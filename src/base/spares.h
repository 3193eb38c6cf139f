// Spares is a store of objects that are reused. The object returned last is taken first. Objects do not move
// and are not constructed again, so code that takes an object must set the fields that it needs. The store
// never shrinks. Not thread-safe.
// Tested by: tests/unit/p2p/eager_test.cc, tests/unit/p2p/rendezvous_send_test.cc.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace lanyard {

template <class T>
class Spares {
public:
    // Takes a spare object, or constructs one. The constructor's arguments must be the same in all calls.
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
