// The rings that this process reads, and whose turn it is.
//
// - poll() looks at each ring for one word, and those words' places and values lie close together: who has many idle peers looks at little memory.
// - It begins behind the ring that used up the budget last, so that none of them starves the others.
// Thread rule: the owner of the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/growing.h"
#include "path/shm/inlet.h"

namespace lanyard {

class Inlets {
public:
    // One more, which never moves. nullptr: there is no room for what is kept of it.
    Inlet *open(Ring &ring, const Segment &segment, uint32_t member, uint32_t peer);
    // Delivers at most `budget` frames; how many.
    int poll(Sink &sink, int budget) {
        size_t first = first_;
        int frames = drain_from(first, awaited_.size(), sink, budget);
        if (first && frames < budget) {
            first_ = 0;
            frames += drain_from(0, first, sink, budget - frames);
        }
        return frames;
    }
    // Takes what the inlet's peek() has shown, with its payload.
    void take(Inlet &inlet, void *payload);

private:
    // What a look at an idle inlet reads, close together: 64 of them are 16 lines, and the rings' lines beside.
    struct Awaited {
        const std::atomic<uint64_t> *word;
        uint32_t number;
    };

    // After anything was read.
    void await(size_t place, const Inlet &inlet) { awaited_[place] = {inlet.awaited_word(), inlet.awaited_number()}; }
    size_t next_with_frame(size_t first, size_t last) const;
    int drain_from(size_t first, size_t last, Sink &sink, int budget);

    Growing<Inlet> inlets_;
    std::vector<Awaited> awaited_;  // by inlet
    size_t first_ = 0;              // polling begins here
};

}  // namespace lanyard
