// Reports stores the events that a reliable path reports to p2p in its next poll, no matter when they
// happened. There are two kinds: sends whose payload is no longer needed, and failed peers with the envelopes
// that they perhaps did not receive.
// Rule: each token and each failed peer is reported once. The undelivered envelopes of a failed peer are
// reported before its failure.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "path/path.h"

namespace lanyard {

class Reports {
public:
    // The payload of the `pending` send with this token is no longer needed.
    void sent(uint64_t token) { sent_.push_back(token); }
    // Withdraws the latest sent(), which need not be reported.
    void retract_sent() { sent_.pop_back(); }
    // The list to which sent() appends, for callers that append many tokens.
    std::vector<uint64_t> &tokens() { return sent_; }
    // The peer has failed. `why` completes the sentence that begins with "process N".
    void lost(uint32_t peer, std::string why, std::vector<Envelope> undelivered = {}) {
        lost_.push_back({peer, std::move(why), std::move(undelivered)});
    }
    bool empty() const { return sent_.empty() && lost_.empty(); }
    // Is the failure of this peer still to be reported? What a path took for the peer until then would be
    // lost without a report.
    bool holds_loss_of(uint32_t peer) const {
        return std::ranges::any_of(lost_, [peer](const Loss &loss) { return loss.peer == peer; });
    }
    // Reports everything to the sink, including what Sink::sent() adds. What Sink::lost() adds waits for the
    // next call. Returns the number of reports.
    int tell(Sink &sink);

private:
    struct Loss {
        uint32_t peer;
        std::string why;
        std::vector<Envelope> undelivered;
    };

    std::vector<uint64_t> sent_;
    std::deque<Loss> lost_;
};

}  // namespace lanyard
