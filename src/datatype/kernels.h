// The loops of the predefined reductions.
#pragma once

#include <cstdint>

#include "datatype/generated/predefined.h"

namespace lanyard {

// inout[i] = in[i] op inout[i] for `count` elements.
using ReductionKernel = void (*)(const void *in, void *inout, int64_t count);

// The loop for a predefined operation (its ABI value) on a predefined datatype. nullptr if the operation is
// not defined on it (op.h), or this build lacks the type.
ReductionKernel reduction_kernel(int op_value, const predefined::Type &type);

}  // namespace lanyard
