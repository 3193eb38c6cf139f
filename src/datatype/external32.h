// Converts data to and from the data representation "external32" (MPI-5.0 section 14.5.2). There every number
// is big-endian and has a fixed size, and there are no gaps. MPI_Pack_external and MPI_Unpack_external use
// these functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/datatype.h"

namespace lanyard {

// The number of bytes that one element of the datatype has in this representation.
int64_t external32_size(const Datatype &datatype);

// These two functions convert a whole buffer. `to` or `from` must have count * external32_size bytes.
void to_external32(const Buffer &from, std::byte *to);
void from_external32(const std::byte *from, const Buffer &to);

}  // namespace lanyard
