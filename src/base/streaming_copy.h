// Copies into memory that the caller does not expect to be in a cache: past the caches where the processor can do that, so that what lies at
// the target is not read first, and what others need stays where it is.
#pragma once

#include <cstddef>

namespace lanyard {

// As memcpy.
void copy_streaming(void *to, const void *from, size_t bytes);

}  // namespace lanyard
