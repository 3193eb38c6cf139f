// Translates values of the standard's ABI to those of the library, and back. The values are the same, so the
// functions return their argument or do nothing. Another ABI inherits the functions for the values that it
// has in common with the standard. Any thread.
// Tested by: tests/unit/doors/numbers_test.cc.
#pragma once

#include "api/types.h"
#include "doors/standard_constants.h"

namespace lanyard::doors {

struct StandardValues : StandardConstants {
    template <class Buffer>
    static Buffer *buffer_in(Buffer *buffer) {
        return buffer;
    }
    static void *attached_buffer_out(void *buffer) { return buffer; }
    template <class Status>
    static Status *status_in(Status *status) {
        return status;
    }
    static int error_code_in(int code) { return code; }
    static int error_code_out(int code) { return code; }
    static void attribute_out(void *, int, int) {}
    static void type_arguments_out(int *, Datatype &, int64_t) {}

    // The computations of MPI_Aint_add and MPI_Aint_diff.
    static int64_t add_addresses(int64_t base, int64_t displacement) {
        return static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(displacement));
    }
    static int64_t subtract_addresses(int64_t one, int64_t other) {
        return static_cast<int64_t>(static_cast<uint64_t>(one) - static_cast<uint64_t>(other));
    }
};

}  // namespace lanyard::doors
