// The representation "external32": every number in big-endian order and of a fixed size, without gaps. Used
// by MPI_Pack_external and by files. MPI-5.0 section 14.5.2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/datatype.h"

namespace lanyard {

// Bytes of one element.
int64_t external32_size(const Datatype &datatype);

// Convert the whole buffer. The caller must provide count * external32_size bytes on the other side.
void to_external32(const Buffer &from, std::byte *to);
void from_external32(const std::byte *from, const Buffer &to);

}  // namespace lanyard
