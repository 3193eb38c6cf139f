// See combine.h.
#include "coll/combine.h"

#include "base/thrown.h"

namespace lanyard {

__attribute__((no_sanitize("null"))) void combine_by_program(const Op &op, const void *in, void *inout,
                                                             int64_t count, const Datatype &datatype,
                                                             Error &failure) {
    if (failure) return;
    try {
        reduce(op, in, inout, count, datatype);
    } catch (::abi::__forced_unwind &) {
        stop_for_ended_thread("the program's function of an operation");
    } catch (...) {
        failure = caught("the program's function of the operation");
    }
}

}  // namespace lanyard
