// See inlets.h.
#include "path/shm/inlets.h"

namespace lanyard {

Inlet *Inlets::open(Ring &ring, const Segment &segment, uint32_t member, uint32_t peer) {
    size_t place = awaited_.size();
    Inlet *inlet = inlets_.append(ring, segment, member, peer, place);
    if (!inlet) return nullptr;
    awaited_.emplace_back();
    await(place, *inlet);
    ++count_;
    return inlet;
}

void Inlets::take(Inlet &inlet, void *payload) {
    inlet.take(payload);
    await(inlet.place, inlet);
}

// The result is only a hint, so the loads need not acquire; drain() reads the word again with acquire. The
// loop tests four inlets at a time, since with many idle peers its own instructions are the main cost: the
// polled lines stay in the first-level cache.
inline size_t Inlets::next_with_frame(size_t first, size_t last) const {
    const Awaited *awaited = awaited_.data();
    auto arrived = [awaited](size_t inlet) {
        return static_cast<uint32_t>(awaited[inlet].word->load(std::memory_order_relaxed)) ==
               awaited[inlet].number;
    };
    for (; first + 4 <= last; first += 4) {
        if (arrived(first)) return first;
        if (arrived(first + 1)) return first + 1;
        if (arrived(first + 2)) return first + 2;
        if (arrived(first + 3)) return first + 3;
    }
    while (first < last && !arrived(first)) ++first;
    return first;
}

// Uses indices, since references to elements of awaited_ would become invalid if awaited_ grew. (A frame's
// handler opens no new inlets anyway.)
int Inlets::drain_from(size_t first, size_t last, Sink &sink, int budget) {
    int frames = 0;
    for (size_t i = first; (i = next_with_frame(i, last)) < last; ++i) {
        frames += inlets_[i].drain(sink, budget - frames);
        await(i, inlets_[i]);
        if (frames < budget) continue;
        first_ = i + 1 < inlets_.size() ? i + 1 : 0;
        break;
    }
    return frames;
}

}  // namespace lanyard
