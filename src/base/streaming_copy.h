// Copies into memory that the caller does not expect to be in a cache. They bypass the caches if the
// processor supports that, so that the target's lines are not read first and useful data stays in the caches.
#pragma once

#include <cstddef>

namespace lanyard {

// Like memcpy.
void copy_streaming(void *to, const void *from, size_t bytes);

}  // namespace lanyard
