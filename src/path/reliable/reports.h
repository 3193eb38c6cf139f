// What a reliable path has to tell p2p in its next poll, whenever it learned of it: sends whose payload is not needed any more, and peers that are
// lost, with the envelopes that they may not have got.
// Rule: each token and each loss is told once; of a lost peer its undelivered envelopes come first, then the loss.
// Thread rule: the owner of the engine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "path/path.h"

namespace lanyard {

class Reports {
public:
    // Payload of a send that was `pending` has left its buffer.
    void sent(uint64_t token) { sent_.push_back(token); }
    // The latest of these need not be told.
    void retract_sent() { sent_.pop_back(); }
    // For those who append many.
    std::vector<uint64_t> &tokens() { return sent_; }
    // "process N" and `why` make the sentence.
    void lost(uint32_t peer, std::string why, std::vector<Envelope> undelivered = {}) {
        lost_.push_back({peer, std::move(why), std::move(undelivered)});
    }
    bool empty() const { return sent_.empty() && lost_.empty(); }
    // Tells the sink all of it, also what these calls add of sends. How much that was.
    int tell(Sink &sink);

private:
    struct Loss {
        uint32_t peer;
        std::string why;
        std::vector<Envelope> undelivered;
    };

    std::vector<uint64_t> sent_;
    std::vector<Loss> lost_;
};

}  // namespace lanyard
