// Defines reduction operations (MPI-5.0 section 6.9). Predefined operations are computed by loops for each
// kind of element. The program's own functions are called through the front end of their ABI. Operations are
// immutable and reference-counted.
// Thread rule: any thread that holds a reference.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "datatype/datatype.h"

namespace lanyard {

struct Door;  // api/door.h: how to call the program's functions with the handles of its ABI

struct Op : Object {
    bool commutative = true;
    void (*function)() = nullptr;  // the program's function; nullptr for a predefined operation
    bool large_count = false;      // the program's function takes MPI_Count
    const Door *door = nullptr;
    // Calls the program's function. `call` is set together with `function`, so that this layer need not
    // depend on the front ends. `count` must be representable as an int unless large_count is true.
    void (*call)(const Op &op, const void *in, void *inout, int64_t count,
                 const Datatype &datatype) = nullptr;
};

// The pool of the operations that the program creates. Predefined operations are in a table.
ObjectPool<Op> &op_pool();
// The operation with this ABI value (0x21 to 0x3d); nullptr for any other value, including MPI_OP_NULL.
Op *predefined_op(int abi_value);
// Releases one reference. Releasing the last reference destroys the operation.
void release(Op &op);

// check_op() returns an error if `op` is not allowed on this datatype. A predefined operation needs a
// predefined datatype of a suitable group (MPI-5.0 6.9.2). MPI_REPLACE and MPI_NO_OP are allowed on any
// datatype, but only in one-sided communication. refuse_op() makes the error.
[[gnu::cold]] Error refuse_op(const Op &op, const Datatype &datatype, bool one_sided);
inline bool defined_on(const Op &op, const Datatype &datatype) {
    return !op.predefined() || (datatype.reductions & predefined::operation_bit(op.abi_value)) != 0;
}
inline Error check_op(const Op &op, const Datatype &datatype, bool one_sided = false) {
    return defined_on(op, datatype) ? Error() : refuse_op(op, datatype, one_sided);
}
// True if the standard does not define the operation on this datatype, but programs rely on it because other
// libraries compute it. reduce() computes it, too.
[[gnu::cold]] bool accepted_on(const Op &op, const Datatype &datatype);

// Computes inout[i] = in[i] op inout[i] for `count` elements. `in` and `inout` must not overlap. `op` must be
// defined or accepted on the datatype.
void reduce(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype);

}  // namespace lanyard
