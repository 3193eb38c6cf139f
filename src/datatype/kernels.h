// Finds the loops that compute the predefined reductions.
// Tested by: tests/unit/datatype/op_test.cc.
#pragma once

#include <cstdint>

#include "datatype/generated/predefined.h"

namespace lanyard {

// A loop that computes inout[i] = in[i] op inout[i] for `count` elements.
using ReductionKernel = void (*)(const void *in, void *inout, int64_t count);

// The loop for a predefined operation, given by its ABI value, on a predefined datatype. nullptr if the
// operation is neither defined nor accepted on the datatype (op.h), or this build lacks the type.
ReductionKernel reduction_kernel(int op_value, const predefined::Type &type);

}  // namespace lanyard
