// See stage.h.
#include "coll/shm/stage.h"

namespace lanyard {

// Uses the entries in turn if possible. The entry that was used last may still be in the cache of its reader,
// and writing to such an entry is slower.
bool Stage::allot(int count, int &first) {
    for (int turn = 0; turn < StageMemory::entries; ++turn) {
        int start = (next_ + turn) % StageMemory::entries, found = 0;
        if (allotted_ & in_row(start, count)) continue;
        while (found < count && is_free((start + found) % StageMemory::entries)) ++found;
        if (found < count) continue;
        first = start;
        next_ = (start + count) % StageMemory::entries;
        allotted_ |= in_row(start, count);
        return true;
    }
    return false;
}

bool Stage::look(int entry) {
    const Use &use = uses_[entry];
    for (int reader = use.readers.first; reader < use.readers.end; ++reader) {
        if (reader == use.readers.own) continue;
        uint32_t done = memory_.done(reader, entry).load(std::memory_order_acquire);
        if (done != use.stamp && done != use.left) return false;
    }
    known_free_ |= 1u << entry;
    return true;
}

}  // namespace lanyard
