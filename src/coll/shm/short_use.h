// A use of the node area (exchange_run.h) by a collective of a few bytes, made ready to be done many times: where its blocks lie is looked
// up when the schedule is written, so that a call has only to copy. ExchangeRun::pass() does it where nothing must be waited for; what it
// leaves undone goes the ordinary way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/copy.h"
#include "coll/schedule.h"
#include "coll/shm/node_area.h"
#include "datatype/kernels.h"

namespace lanyard {

class ShortUse {
public:
    // A contiguous block in one of the program's two buffers.
    struct Place {
        int64_t offset = 0;
        uint16_t bytes = 0;
        bool in_receive = false;
        bool wanted = false;
    };
    struct Buffers {
        std::byte *send, *receive;
        // Displacements may be absolute addresses (MPI_BOTTOM), so this is no arithmetic within an object.
        std::byte *at(const Place &place) const {
            auto base = reinterpret_cast<uintptr_t>(place.in_receive ? receive : send);
            return reinterpret_cast<std::byte *>(base + static_cast<uintptr_t>(place.offset));
        }
    };
    static constexpr int64_t most_bytes = sizeof(Slot::short_payload);  // of a block

    // Can all that the schedule does be done in this way? It must live as long as this is used.
    bool prepare(const Schedule &schedule, const Team &team);
    void forget() { ready_ = false; }
    bool ready() const { return ready_; }
    const NodeArea &area() const { return area_; }

private:
    friend class ExchangeRun;
    static void copy(std::byte *to, const std::byte *from, uint16_t bytes) {
        if (bytes <= 32) [[likely]] copy_few(to, from, bytes);
        else std::memcpy(to, from, bytes);
    }
    bool place(const Block &block, Place &place) const;

    bool ready_ = false;
    NodeArea area_;
    Place data_, own_from_, own_to_, into_;
    std::vector<Place> from_each_;  // what comes from each rank
    ReductionKernel kernel_ = nullptr;
    int64_t count_ = 0;     // elements to be combined
    bool in_place_ = false;  // the result overwrites the contribution
};

}  // namespace lanyard
