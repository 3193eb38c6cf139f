// Type signatures in one word: what LANYARD_CHECK=on compares between the two sides of a message (MPI-5.0
// 3.3.1). A signature depends on the representation of the elements, not on their names (MPI_INT and
// MPI_INT32_T agree). MPI_BYTE and MPI_PACKED agree with everything, because programs use them to move what
// they cannot describe.
// Cost: a visit of every element, unless all are alike.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "datatype/datatype.h"

namespace lanyard {

// The signature of the first `bytes` bytes of the packed stream; 0 if it agrees with everything.
uint32_t type_signature(const Buffer &buffer, int64_t bytes);
// How two signatures differ, as in "the sender's elements are float64, the receiver's int32"; "" if they
// agree.
std::string signature_difference(uint32_t receiver, uint32_t sender);

}  // namespace lanyard
