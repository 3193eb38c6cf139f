// Copies into memory that the caller does not expect to be in a cache. If the processor supports it, the
// stores bypass the caches: the target's cache lines are not read first, and useful data stays in the caches.
#pragma once

#include <cstddef>

namespace lanyard {

// The arguments are those of memcpy.
void copy_streaming(void *to, const void *from, size_t bytes);

}  // namespace lanyard
