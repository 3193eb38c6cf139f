// Type signatures in a word: what LANYARD_CHECK=on compares between the two sides of a message (MPI-5.0 3.3.1). By the elements'
// representation, not by their names (MPI_INT and MPI_INT32_T agree). MPI_BYTE and MPI_PACKED agree with everything, as programs
// use them to move what they cannot describe. Costs a visit of every element where they are not all alike. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "datatype/datatype.h"

namespace lanyard {

// Of the first `bytes` bytes of the packed stream; 0 where nothing can be said.
uint32_t type_signature(const Buffer &buffer, int64_t bytes);
// How two of them differ: "the sender's elements are float64, the receiver's int32"; "" where they do not.
std::string signature_difference(uint32_t receiver, uint32_t sender);

}  // namespace lanyard
