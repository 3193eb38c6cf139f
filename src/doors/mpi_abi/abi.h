// States the facts of the MPI-5.0 ABI (libmpi_abi.so.1) that the function bodies in doors/functions need. A
// handle is the address of its object, or the ABI's constant if the object is predefined (api/handles.h). All
// values and the layout of the status are those that the library uses. Any thread.
// Tested by: tests/api/door_test.cc.
#pragma once

#include "api/call.h"
#include "api/door.h"
#include "api/handles.h"
#include "doors/mpi_abi/types.h"
#include "doors/standard_values.h"

namespace lanyard::mpi_abi {

struct Abi : Types, doors::StandardValues {
    static constexpr bool of_the_standard = true;
    static constexpr const char *library = "libmpi_abi.so.1";
    static constexpr const char *title = "the MPI-5.0 standard's ABI";
    static constexpr const char *other_header =
        "the mpi.h of MPICH, Intel MPI or another library with MPICH's ABI";
    static constexpr const char *advice =
        "compile all of it with the mpi.h of the standard's ABI (Lanyard's mpicc does), or link it with its "
        "own MPI library; Lanyard's mpirun then loads libmpi.so.12, which has MPICH's ABI";
    static const Door door;

    template <class Handle>
    using ObjectOf = typename HandleType<Handle>::Object;

    template <class Handle>
    static uintptr_t bits_of(Handle handle) {
        return reinterpret_cast<uintptr_t>(handle);
    }
    template <class Handle>
    [[gnu::always_inline]] static ObjectOf<Handle> *object_behind(Handle handle) {
        return object_of<ObjectOf<Handle>>(bits_of(handle));
    }
    template <class Handle>
    static Handle handle_for(const ObjectOf<Handle> *object) {
        return reinterpret_cast<Handle>(handle_of(object));
    }
    template <class Handle>
    static bool is_null(Handle handle) {
        return bits_of(handle) == HandleKind<ObjectOf<Handle>>::null;
    }
    // Recognises handles of MPICH's ABI, which are 32-bit numbers. Bits 26 to 29 contain the kind. At least
    // one of the bits 30 and 31 is set, except in null handles, in which the bits 0 to 25 are zero as well.
    // This ABI's constants are smaller than such numbers, and the addresses of objects are larger. A number
    // that is negative in MPICH's ABI may arrive with its sign extended to 64 bits.
    template <class Handle>
    static bool is_foreign(Handle handle) {
        uintptr_t bits = bits_of(handle);
        auto extended = static_cast<uintptr_t>(static_cast<intptr_t>(static_cast<int32_t>(bits)));
        if (bits != static_cast<uint32_t>(bits) && bits != extended) return false;
        uintptr_t upper = bits >> 30 & 3, kind = bits >> 26 & 15, index = bits & 0x3ffffff;
        return kind != 0 && kind != 15 && (upper != 0 || index == 0);
    }
    template <class Handle>
    static uint64_t shown_bits(Handle handle) {
        return bits_of(handle);
    }

    // Conversions between handles and integers (MPI-5.0 section 20.4).
    template <class Handle>
    static int to_integer(Handle handle) {
        auto *object = object_behind(handle);
        return object ? integer_of(object) : static_cast<int>(bits_of(handle) & 0xfff);
    }
    template <class Handle>
    static Handle from_integer(int integer) {
        return handle_for<Handle>(object_of_integer<ObjectOf<Handle>>(integer));
    }

    static int fail(Error error, RaiseOn on, const char *function,
                    std::initializer_list<Argument> arguments) {
        return lanyard::fail(error, on, function, arguments);
    }
};

}  // namespace lanyard::mpi_abi
