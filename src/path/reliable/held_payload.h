// A HeldPayload is bulk payload that a path has taken and that the peer, or the kernel, does not have yet. It
// stores the payload's address in the program's memory, or a packed copy if the payload is not contiguous
// there. It also stores the token by which the path reports that the payload is no longer needed.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/reliable/reports_test.cc.
#pragma once

#include <memory>

#include "path/path.h"

namespace lanyard {

class HeldPayload {
public:
    // Takes all of `payload`. Advances `payload` if its bytes must be packed.
    void hold(Payload &payload, uint64_t token) {
        data_ = payload.data;
        token_ = token;
        if (data_ || payload.size == 0) return;
        size_t size = payload.size;
        packed_ = std::make_unique_for_overwrite<std::byte[]>(size);
        payload.copy(packed_.get(), size);
        data_ = packed_.get();
    }
    const std::byte *data() const { return data_; }
    // Called when the payload is no longer needed. Returns the token.
    uint64_t release() {
        packed_.reset();
        data_ = nullptr;
        return token_;
    }

private:
    const std::byte *data_ = nullptr;
    std::unique_ptr<std::byte[]> packed_;
    uint64_t token_ = 0;
};

}  // namespace lanyard
