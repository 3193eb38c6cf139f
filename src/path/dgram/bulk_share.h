// The receiver's part against incast: many that send to one fill the queue of the switch before it, and each of their own windows is too small a
// part of that to notice in time. So who receives bulk shares a budget of bytes, less than such a queue holds, among those that are sending:
// every acknowledgement grants its flow a window, the budget divided by the number of flows from which bulk came lately. A lone sender is
// not limited, its own congestion control sees all there is to see. The grant is a window, not a sum that is used up: nothing leaks with
// packets that are lost, and an old one that comes late is corrected by the next.
// One for all flows of a process. Thread rule: the owner of the flows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

class BulkShare {
public:
    explicit BulkShare(uint64_t budget) : budget_(budget) {}

    // Bulk has come from a flow whose own mark this is (0 at first). It counts as sending for one to two times `lately_ns`.
    void came(uint32_t &mark, uint64_t lately_ns, uint64_t now_ns) {
        turn(now_ns);
        length_ns_ = senders_ ? std::max(length_ns_, lately_ns) : lately_ns;
        if (mark == round_) return;
        mark = round_;
        ++senders_;
    }
    // `packet`: of the largest.
    uint32_t window(size_t packet, uint64_t now_ns) {
        turn(now_ns);
        uint32_t senders = std::max(senders_, senders_before_);
        if (senders <= 1) return no_limit;
        return static_cast<uint32_t>(std::clamp<uint64_t>(budget_ / senders, packet, no_limit));
    }

private:
    void turn(uint64_t now_ns) {
        if (now_ns < started_ns_ + length_ns_) return;
        senders_before_ = now_ns < started_ns_ + 2 * length_ns_ ? senders_ : 0;
        senders_ = 0;
        ++round_;
        started_ns_ = now_ns;
    }

    const uint64_t budget_;
    uint64_t started_ns_ = 0, length_ns_ = 0;  // of the round
    uint32_t senders_ = 0, senders_before_ = 0;
    uint32_t round_ = 1;
};

}  // namespace lanyard::dgram
