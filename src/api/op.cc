// Defines the typed functions (types.h) of reduction operations (MPI-5.0 section 6.9). Any thread.
// Tested by: tests/mpi/datatype/datatypes.c, tests/mpi/coll/forms.cc, tests/mpi/errors/thrown.cc.
#include "datatype/op.h"

#include "api/coll_checks.h"
#include "api/door.h"
#include "api/generated/core.h"
#include "api/types.h"

namespace lanyard {

namespace {

void call_through_door(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype) {
    auto &given = const_cast<Datatype &>(datatype);
    HandleLent lent(given);
    op.door->call_op(op.function, op.large_count, in, inout, count, &given);
}

}  // namespace

Error lanyard_op_create(Callback user_fn, int commute, Op **op) {
    if (!user_fn.function)
        return Error(ErrorClass::arg, "user_fn is a null pointer; an operation needs a function");
    Op *made = op_pool().create();
    if (!made)
        return Error(ErrorClass::no_mem,
                     "no memory for another operation; free operations that are no longer used");
    made->commutative = commute != 0;
    made->function = user_fn.function;
    made->large_count = user_fn.large_count;
    made->door = user_fn.door;
    made->call = call_through_door;
    *op = made;
    return {};
}

Error lanyard_op_free(Op *&op) {
    if (op->predefined()) return Error(ErrorClass::op, "a predefined operation cannot be freed");
    op->end_handle();
    release(*op);
    op = nullptr;
    return {};
}

Error lanyard_op_commutative(Op &op, int *commute) {
    *commute = op.commutative;
    return {};
}

Error lanyard_reduce_local(const void *inbuf, void *inoutbuf, int64_t count, Datatype &datatype, Op &op) {
    if (Error error = plans::check_reduction_op(op, datatype)) return error;
    int64_t bytes = plans::times(count, datatype.size);
    bool whole = datatype.contiguous || inbuf == inoutbuf;
    if (plans::can_meet(inbuf, bytes, inoutbuf, bytes)) [[unlikely]]
        if (Error error =
                plans::refuse_shared_memory(inbuf, bytes, inoutbuf, bytes, whole, plans::Instead::inbuf))
            return error;
    reduce(op, inbuf, inoutbuf, count, datatype);
    return {};
}

}  // namespace lanyard
