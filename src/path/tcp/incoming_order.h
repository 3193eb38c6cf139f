// Records which envelope a link expects next, and when an acknowledgement is due. Every frame to the peer
// carries an acknowledgement. A separate frame with an acknowledgement is sent when the peer has requested
// one, when much has arrived, or after a while.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/sim/answers_test.cc.
#pragma once

#include <algorithm>

#include "path/tcp/frame.h"

namespace lanyard {

class IncomingOrder {
public:
    // The number of the next envelope, the only one that may be taken.
    uint64_t expected() const { return expected_; }
    bool is_next(const FrameHeader &header) const { return widened(header.sequence, expected_) == expected_; }
    // Counts the next envelope as taken. Its frame has `bytes` bytes, and it must be acknowledged at
    // `answer_by_ns` at the latest.
    void take(size_t bytes, uint64_t answer_by_ns) {
        ++expected_;
        untold_bytes_ += bytes;
        answer_due_ns_ = std::min(answer_due_ns_, answer_by_ns);
    }
    // Called when the peer requests an acknowledgement.
    void ask() { asked_ = true; }
    // Called when some frame has acknowledged everything.
    void told() {
        untold_bytes_ = 0;
        asked_ = false;
        answer_due_ns_ = no_deadline;
    }
    // Should an acknowledgement be sent at once, because the peer has requested it or `after_bytes` bytes of
    // envelopes and their payload have arrived?
    bool wants_answer(size_t after_bytes) const { return asked_ || untold_bytes_ >= after_bytes; }
    // When an acknowledgement is due; no_deadline: everything is acknowledged.
    uint64_t answer_due_ns() const { return answer_due_ns_; }

private:
    uint64_t expected_ = 0;
    size_t untold_bytes_ = 0;  // bytes of envelope frames that arrived since the last acknowledgement
    bool asked_ = false;
    uint64_t answer_due_ns_ = no_deadline;
};

}  // namespace lanyard
