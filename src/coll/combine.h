// What the steps of a schedule do with data: reduce() (datatype/op.h), where the operation is the program's
// with a guard, as nothing may be unwound there. By the engine's owner.
#pragma once

#include "base/error.h"
#include "datatype/op.h"

namespace lanyard {

// The program's function; nothing, where a function or something else has failed before, as the data does not
// matter then.
void combine_by_program(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                        Error &failure);

inline void combine(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                    Error &failure) {
    if (op.function) combine_by_program(op, in, inout, count, datatype, failure);
    else reduce(op, in, inout, count, datatype);
}

}  // namespace lanyard
