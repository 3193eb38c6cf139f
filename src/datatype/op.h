// Reduction operations: predefined ones by element kind, and the program's own functions, called through its door.
// MPI-5.0 section 6.9. Immutable and counted.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "datatype/datatype.h"

namespace lanyard {

struct Door;  // api/door.h: how to call the program's functions with its ABI's handles

struct Op : Object {
    bool commutative = true;
    void (*function)() = nullptr;  // the program's; nullptr when predefined
    bool large_count = false;      // the program's function takes MPI_Count
    const Door *door = nullptr;
    // Calls the program's function; set together with `function`, so that this layer need not know doors.
    // `count` fits an int unless large_count.
    void (*call)(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype) = nullptr;
};

// Operations that the program makes live here; predefined ones in their own table.
ObjectPool<Op> &op_pool();
// The operation with this ABI value (0x21 to 0x3d); nullptr when there is none, MPI_OP_NULL included.
Op *predefined_op(int abi_value);
// Ends one use; the last one destroys an operation.
void release(Op &op);

// Is `op` allowed on this datatype? A predefined op needs a predefined datatype of a suitable group (MPI-5.0 6.9.2);
// MPI_REPLACE and MPI_NO_OP are allowed, on any datatype, in one-sided communication only.
[[gnu::cold]] Error refuse_op(const Op &op, const Datatype &datatype, bool one_sided);
inline bool defined_on(const Op &op, const Datatype &datatype) {
    return !op.predefined() || (datatype.reductions & predefined::operation_bit(op.abi_value)) != 0;
}
inline Error check_op(const Op &op, const Datatype &datatype, bool one_sided = false) {
    return defined_on(op, datatype) ? Error() : refuse_op(op, datatype, one_sided);
}
// Not defined by the standard, but computed by other libraries, so that programs count on it: reduce() does
// it as well.
[[gnu::cold]] bool accepted_on(const Op &op, const Datatype &datatype);

// inout[i] = in[i] op inout[i] for `count` elements. `in` and `inout` do not overlap. `op` is defined or
// accepted on it.
void reduce(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype);

}  // namespace lanyard
