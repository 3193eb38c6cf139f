// See cells.h.
#include "path/shm/cells.h"

#include "base/fetch.h"

namespace lanyard {

bool Cells::take(uint32_t *cells, uint32_t count) {
    uint32_t all = segment_.header().cells, taken = 0;
    for (uint32_t tried = 0; tried < all && taken < count; ++tried) {
        uint32_t cell = next_;
        if (++next_ == all) next_ = 0;
        if (self_.cell[cell].used.load(std::memory_order_acquire)) continue;
        self_.cell[cell].used.store(1, std::memory_order_relaxed);
        cells[taken++] = cell;
    }
    // The next cell's word was last written by a reader, long ago. The prefetch fetches the word while the
    // cells taken now are filled.
    fetch_to_write(&self_.cell[next_].used);
    if (taken == count) return true;
    while (taken > 0) self_.cell[cells[--taken]].used.store(0, std::memory_order_relaxed);
    return false;
}

uint32_t Cells::in_use() const {
    uint32_t used = 0;
    for (uint32_t cell = 0; cell < segment_.header().cells; ++cell)
        used += self_.cell[cell].used.load(std::memory_order_relaxed) != 0;
    return used;
}

}  // namespace lanyard
