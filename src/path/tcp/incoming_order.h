// The envelopes that a link receives: which is the next, and when the peer is to be told what is here. It is told in every frame; alone where
// it has asked, where much has come, or after a while. Pure.
#pragma once

#include <algorithm>

#include "path/tcp/frame.h"

namespace lanyard {

class IncomingOrder {
public:
    // The number of the next envelope; the only one that may be taken.
    uint64_t expected() const { return expected_; }
    bool is_next(const FrameHeader &header) const { return widened(header.sequence, expected_) == expected_; }
    // It is taken, with its frame of so many bytes. The peer is to be told by `answer_by_ns`, if not sooner.
    void take(size_t bytes, uint64_t answer_by_ns) {
        ++expected_;
        untold_bytes_ += bytes;
        answer_due_ns_ = std::min(answer_due_ns_, answer_by_ns);
    }
    // The peer asks.
    void ask() { asked_ = true; }
    // Something has told it.
    void told() {
        untold_bytes_ = 0;
        asked_ = false;
        answer_due_ns_ = no_deadline;
    }
    // Is the peer to be told at once?
    bool wants_answer(size_t after_bytes) const { return asked_ || untold_bytes_ >= after_bytes; }
    // When it is to be told; no_deadline: it knows all.
    uint64_t answer_due_ns() const { return answer_due_ns_; }

private:
    uint64_t expected_ = 0;
    size_t untold_bytes_ = 0;  // that came since it was last told
    bool asked_ = false;
    uint64_t answer_due_ns_ = no_deadline;
};

}  // namespace lanyard
