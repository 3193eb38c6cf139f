// Payload::copy(), and the default implementations of functions in path.h and direct_memory.h.
#include "path/path.h"

#include "base/copy.h"

namespace lanyard {

void Payload::copy(void *to, size_t bytes) {
    if (bytes == 0) return;  // there may be no address to copy from or to
    if (data) {
        copy_bytes(to, data, bytes);
        data += bytes;
    } else {
        cursor->pack(to, bytes);
    }
    size -= bytes;
}

Sent Path::send_kept(uint32_t, const Envelope &, const KeptPayload &) {
    LANYARD_MUST(!"this path copies what it sends");
    return Sent::full;
}

Error DirectMemory::get(uint32_t, const iovec *, int, uint64_t, size_t) {
    return Error(ErrorClass::unsupported_operation, "this path cannot read a peer's memory");
}

Error DirectMemory::put(uint32_t, const iovec *, int, uint64_t, size_t) {
    return Error(ErrorClass::unsupported_operation, "this path cannot write a peer's memory");
}

}  // namespace lanyard
