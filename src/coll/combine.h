// Combines data in the reduce steps and exchanges of a schedule, by reduce() (datatype/op.h). If the
// operation is a function of the program, exceptions are caught, because they must not unwind the library's
// stack.
// Thread rule: the owner of the engine.
// Tested by: tests/sim/collectives_test.cc, tests/mpi/coll/reductions.cc, tests/mpi/errors/thrown.cc.
#pragma once

#include "base/error.h"
#include "datatype/op.h"

namespace lanyard {

// Calls the program's function, and stores an exception that it throws in `failure`. If `failure` already
// holds an error, does nothing, because the result is useless then.
void combine_by_program(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                        Error &failure);

inline void combine(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype,
                    Error &failure) {
    if (op.function) combine_by_program(op, in, inout, count, datatype, failure);
    else reduce(op, in, inout, count, datatype);
}

}  // namespace lanyard
