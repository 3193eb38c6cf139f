// The tables of values.h translate most constants between the MPICH ABI and the library. This file translates
// what a table cannot: some numbers, buffers and statuses. The functions KIND_in and KIND_out are named after
// the kinds of parameters in api/kinds.toml. Any thread.
// Tested by: tests/mpich_abi/values_test.cc, tests/mpich_abi/crossing.cc.
#pragma once

#include "api/types.h"
#include "doors/mpich_abi/types.h"
#include "doors/mpich_abi/values.h"

namespace lanyard::mpich_abi {

struct Translations : Values {
    // Translates the special addresses that the program may pass as a buffer. MPI_IN_PLACE is -1 in this
    // ABI and 1 in the library. MPI_BUFFER_AUTOMATIC is -2 in this ABI and 2 in the library. MPI_BOTTOM is
    // 0 in both.
    template <class Buffer>
    static Buffer *buffer_in(Buffer *buffer) {
        auto bits = reinterpret_cast<intptr_t>(buffer);
        return bits == -1 || bits == -2 ? reinterpret_cast<Buffer *>(-bits) : buffer;
    }
    static void *attached_buffer_out(void *buffer) {
        return reinterpret_cast<uintptr_t>(buffer) == abi::buffer_automatic ? reinterpret_cast<void *>(-2)
                                                                            : buffer;
    }

    // An error code of the library is one of the following:
    // - an error class, from 0 to MPI_ERR_LASTCODE, which has another number in each ABI;
    // - a code of a single failure in this run, from `first_failure`, whose low byte is its class;
    // - a code or class that the program has added (MPI_Add_error_code, MPI_Add_error_class). These numbers
    //   begin at `first_added` in the library and at `first_added_here` in this ABI. In both they are above
    //   MPI_ERR_LASTCODE;
    // - a number that a function of the program returned and that is no code of MPI. The program must get the
    //   same number back. In the library, a negative number is unchanged, and a positive number is greater by
    //   `first_foreign`. A number from `first_failure` on is always taken for a code of MPI.
    static constexpr int first_failure = 1 << 29, first_foreign = 1 << 30,
                         first_added = abi::err_lastcode + 1, first_added_here = 1 << 30;

    static int error_code_in(int code) {
        if (code < 0) return code;
        if (code >= first_added_here) return code - first_added_here + first_added;
        if (code >= first_failure && code != 0x3fffffff) return (code & ~0xff) | error_class_in(code & 0xff);
        int known = code < first_added || code == 0x3fffffff ? error_class_in(code) : no_such_value;
        return known == no_such_value ? first_foreign + code : known;
    }
    static int error_code_out(int code) {
        if (code <= 0) return code;
        if (code >= first_foreign) return code - first_foreign;
        if (code >= first_failure) return (code & ~0xff) | error_class_out(code & 0xff);
        return code >= first_added ? code - first_added + first_added_here : error_class_out(code);
    }

    // Translates the values of predefined attributes that are constants or codes. `value` points to the
    // variable in which MPI_X_get_attr has stored the address of the attribute's value, an int.
    static void attribute_out(void *value, int keyval, int found);

    // Translates the constants among the integers that MPI_Type_get_contents returns. They occur
    // with MPI_COMBINER_SUBARRAY and MPI_COMBINER_DARRAY.
    static void type_arguments_out(int *integers, Datatype &datatype, int64_t count);

    // MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are the address 1 in this ABI and the null pointer
    // in the library.
    template <class Status>
    static Status *status_in(Status *status) {
        return reinterpret_cast<uintptr_t>(status) == 1 ? nullptr : status;
    }
    // A count has 63 bits. `count_lo` contains its lower 32 bits. `count_hi_and_cancelled` contains its
    // upper 31 bits, and in its lowest bit whether the operation was cancelled.
    static void count_from_program(const MPI_Status &given, Status &status) {
        auto high = static_cast<uint32_t>(given.count_hi_and_cancelled);
        status.count_low = static_cast<uint32_t>(given.count_lo);
        status.count_high = high >> 1;
        status.cancelled = static_cast<int32_t>(high & 1);
    }
    static void count_to_program(const Status &status, MPI_Status &place) {
        place.count_lo = static_cast<int>(status.count_low);
        place.count_hi_and_cancelled = static_cast<int>(status.count_high << 1 | (status.cancelled != 0));
    }
};

}  // namespace lanyard::mpich_abi
