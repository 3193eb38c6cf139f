// Inlets polls all rings that this process reads.
//
// - poll() reads one word of each ring. The addresses of these words and the numbers that they will hold lie
//   close together, so a process with many idle peers touches little memory.
// - poll() begins after the ring that last used up the budget, so that no ring starves the others.
// Thread rule: the owner of the engine, except where noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/growing.h"
#include "base/tally.h"
#include "path/shm/inlet.h"

namespace lanyard {

class Inlets {
public:
    // Adds an inlet, which never moves. nullptr: there is no memory for it.
    Inlet *open(Ring &ring, const Segment &segment, uint32_t member, uint32_t peer);
    // Delivers at most `budget` frames. Returns their number.
    int poll(Sink &sink, int budget) {
        size_t first = first_;
        int frames = drain_from(first, awaited_.size(), sink, budget);
        if (first && frames < budget) {
            first_ = 0;
            frames += drain_from(0, first, sink, budget - frames);
        }
        return frames;
    }
    // The number of rings that poll() reads. Any thread may call this.
    uint32_t count() const { return count_; }
    // Takes the frame that the inlet's peek() has shown, with its payload.
    void take(Inlet &inlet, void *payload);

private:
    // What a poll of an idle inlet reads. These records lie close together: 64 of them take 16 cache lines,
    // in addition to the rings' lines.
    struct Awaited {
        const std::atomic<uint64_t> *word;
        uint32_t number;
    };

    // Stores what the next poll looks for. Must be called after anything was read from the inlet.
    void await(size_t place, const Inlet &inlet) {
        awaited_[place] = {inlet.awaited_word(), inlet.awaited_number()};
    }
    size_t next_with_frame(size_t first, size_t last) const;
    int drain_from(size_t first, size_t last, Sink &sink, int budget);

    Growing<Inlet> inlets_;
    std::vector<Awaited> awaited_;  // indexed by inlet
    size_t first_ = 0;              // polling begins here
    Tally<uint32_t> count_;
};

}  // namespace lanyard
