// Do datagrams pass between this process and some others, both ways? Each is asked (Flow::ask), again and again as flows do; an answer to a question
// of ours proves that the question has come there and the answer here. Somebody polls the path meanwhile, also after this is over, as others
// ask this process. Used before anything else is sent (runtime/network_agreement.h). Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "path/dgram/dgram_path.h"

namespace lanyard {

class FirstContact {
public:
    FirstContact(DgramPath &path, std::vector<uint32_t> peers, uint64_t until_ns) : path_(path), silent_(std::move(peers)), until_ns_(until_ns) {
        for (uint32_t peer : silent_) path_.ask(peer);
    }
    // All have answered, or the time is up. (Who is lost, as one that takes messages by other means, is told of as such.)
    bool over(uint64_t now_ns) {
        std::erase_if(silent_, [&](uint32_t peer) { return path_.has_answered(peer) || path_.is_lost(peer); });
        return silent_.empty() || now_ns >= until_ns_;
    }
    // The first that has not answered.
    std::optional<uint32_t> silent() const { return silent_.empty() ? std::nullopt : std::optional(silent_.front()); }

private:
    DgramPath &path_;
    std::vector<uint32_t> silent_;
    const uint64_t until_ns_;
};

}  // namespace lanyard
