// What a protocol keeps of the few peers that it has to do with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lanyard {

template <class T>
class PerPeer {
public:
    // nullptr: nothing is kept.
    T *find(uint32_t peer) const { return peer < all_.size() ? all_[peer].get() : nullptr; }
    // It stays where it is.
    template <class... Arguments>
    T &find_or_make(uint32_t peer, Arguments &&...arguments) {
        if (peer >= all_.size()) all_.resize(peer + 1);
        if (!all_[peer]) all_[peer] = std::make_unique<T>(arguments...);
        return *all_[peer];
    }

private:
    std::vector<std::unique_ptr<T>> all_;
};

}  // namespace lanyard
