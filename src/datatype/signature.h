// Computes type signatures. A signature is a word of 32 bits. LANYARD_CHECK=on compares the signatures of the
// two sides of a message (MPI-5.0 3.3.1). A signature depends on the representation of the elements, not on
// their names, so MPI_INT and MPI_INT32_T agree. MPI_BYTE and MPI_PACKED agree with everything, because
// programs use them to move data that they cannot describe.
// Cost: none for a predefined datatype that is not a pair; otherwise the basic elements are visited one by
// one, up to the first of MPI_BYTE or MPI_PACKED.
// Thread rule: any thread.
// Tested by: tests/failures/test_mismatch.py.
#pragma once

#include <cstdint>
#include <string>

#include "datatype/datatype.h"

namespace lanyard {

// The signature of the first `bytes` bytes of the packed stream. The signature 0 agrees with every signature.
uint32_t type_signature(const Buffer &buffer, int64_t bytes);
// Describes how two signatures differ, as in "the sender's elements are float64, the receiver's int32".
// Returns "" if they agree.
std::string signature_difference(uint32_t receiver, uint32_t sender);

}  // namespace lanyard
