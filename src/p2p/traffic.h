// Counts what a process sends, by size, protocol, path and peer. Also adds up the time during which data of
// long messages is under way. The messenger counts this while a profile is collected (tool/profile.h).
// Thread rule: the owner of the engine.
// Tested by: tests/launch/test_profile.py.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>

#include "base/clock.h"

namespace lanyard {

enum class Protocol : uint8_t { short_message, eager, rendezvous, write, count_of_them };

struct Traffic {
    struct Sum {
        uint64_t messages = 0, bytes = 0;
        void add(uint64_t of_bytes) {
            ++messages;
            bytes += of_bytes;
        }
    };
    // Class 0 has the empty messages, and class k the messages of 2^(k-1) to 2^k - 1 bytes. The last class
    // has all longer messages too.
    static constexpr int size_classes = 48;
    std::array<Sum, size_classes> by_size;
    std::array<Sum, static_cast<size_t>(Protocol::count_of_them)> by_protocol;
    // By the address of the path's name, which is one constant for each path.
    std::map<const char *, Sum> by_path;
    std::map<uint32_t, Sum> by_peer;
    uint64_t largest = 0;

    void sent(uint32_t peer, const char *path, Protocol protocol, uint64_t bytes) {
        by_size[std::min<size_t>(std::bit_width(bytes), size_classes - 1)].add(bytes);
        by_protocol[static_cast<size_t>(protocol)].add(bytes);
        by_path[path].add(bytes);
        by_peer[peer].add(bytes);
        largest = std::max(largest, bytes);
    }

    // begin_moving() is called when the two sides of a long message have agreed on the transfer, and
    // end_moving() when its data has been moved. moved_ns() is the time during which at least one such
    // message was under way.
    void begin_moving() {
        if (moving_++ == 0) since_ns_ = clock_ns();
    }
    void end_moving() {
        if (--moving_ == 0) moved_ns_ += clock_ns() - since_ns_;
    }
    uint64_t moved_ns() const { return moved_ns_ + (moving_ ? clock_ns() - since_ns_ : 0); }

private:
    int moving_ = 0;
    uint64_t since_ns_ = 0, moved_ns_ = 0;
};

}  // namespace lanyard
