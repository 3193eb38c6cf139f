// The blocks of a schedule lie in three spaces (block.h). A Spaces object holds the addresses of the spaces
// for one operation: the program's send and receive buffers, and scratch memory. Scratch memory of up to 1
// MiB is kept for the next operation. The object belongs to an operation's plan (plan.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/plan_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/no_memory.h"
#include "coll/block.h"

namespace lanyard {

class Spaces {
public:
    void use(const void *send, void *receive) {
        send_ = const_cast<std::byte *>(static_cast<const std::byte *>(send));
        receive_ = static_cast<std::byte *>(receive);
    }
    std::byte *send() const { return send_; }
    std::byte *receive() const { return receive_; }

    // Allocates this much scratch memory, aligned for any datatype. False: there is not enough memory.
    bool make_scratch(int64_t bytes) {
        size_t wanted = static_cast<size_t>(bytes) + alignment;
        if (bytes == 0 || (scratch_ && wanted <= scratch_.get_deleter().count)) return true;
        scratch_ = array_or_null<std::byte>(wanted);
        return scratch_ != nullptr;
    }
    // Frees scratch memory that is too large to be kept after an operation.
    void give_back_much() {
        if (scratch_ && scratch_.get_deleter().count > kept_bytes) scratch_.reset();
    }

    Buffer buffer(const Block &block) const {
        // Displacements may be absolute addresses (MPI_BOTTOM), so this cannot be pointer arithmetic within
        // an object.
        return {reinterpret_cast<std::byte *>(start_of(block.space) + static_cast<uintptr_t>(block.offset)),
                block.count, block.type};
    }

private:
    static constexpr size_t alignment = 64, kept_bytes = (1 << 20) + alignment;

    uintptr_t start_of(Space space) const {
        if (space == Space::scratch)
            return (reinterpret_cast<uintptr_t>(scratch_.get()) + alignment - 1) / alignment * alignment;
        return reinterpret_cast<uintptr_t>(space == Space::send ? send_ : receive_);
    }

    std::byte *send_ = nullptr, *receive_ = nullptr;
    FallibleArray<std::byte> scratch_;
};

}  // namespace lanyard
