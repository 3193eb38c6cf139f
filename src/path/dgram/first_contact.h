// FirstContact finds out whether datagrams pass between this process and some others, in both directions. It
// sends a probe (Flow::ask) to each of these processes, and the flow repeats the probe if necessary. An
// answer proves that both the probe and the answer have arrived. The path must be polled meanwhile, and also
// afterwards, since other processes probe this one. Used before anything else is sent
// (runtime/network_agreement.h). Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "path/dgram/dgram_path.h"

namespace lanyard {

class FirstContact {
public:
    // The name of each peer's endpoint must be available already. `until_ns`: when to stop waiting.
    FirstContact(DgramPath &path, std::vector<uint32_t> peers, uint64_t until_ns)
        : path_(path), silent_(std::move(peers)), until_ns_(until_ns) {
        for (uint32_t peer : silent_) path_.ask(peer);
    }
    // Have all peers answered or failed, or is the time up? (A peer that has failed, for example because it
    // uses another kind of endpoint, is reported as failed.)
    bool over(uint64_t now_ns) {
        std::erase_if(silent_,
                      [&](uint32_t peer) { return path_.has_answered(peer) || path_.is_lost(peer); });
        return silent_.empty() || now_ns >= until_ns_;
    }
    // The first peer that had neither answered nor failed at the last call of over().
    std::optional<uint32_t> silent() const {
        return silent_.empty() ? std::nullopt : std::optional(silent_.front());
    }

private:
    DgramPath &path_;
    std::vector<uint32_t> silent_;
    const uint64_t until_ns_;
};

}  // namespace lanyard
