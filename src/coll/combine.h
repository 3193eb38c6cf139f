// What reduce steps of a schedule do with data: reduce() (datatype/op.h). If the operation is a function of
// the program, exceptions are caught, because nothing may be unwound there.
// Thread rule: the owner of the engine.
#pragma once

#include "base/error.h"
#include "datatype/op.h"

namespace lanyard {

// Calls the program's function. Does nothing after an earlier failure, because the data then no longer
// matters.
void combine_by_program(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                        Error &failure);

inline void combine(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                    Error &failure) {
    if (op.function) combine_by_program(op, in, inout, count, datatype, failure);
    else reduce(op, in, inout, count, datatype);
}

}  // namespace lanyard
