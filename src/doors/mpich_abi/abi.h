// States the facts of the MPICH ABI (libmpi.so.12) that the function bodies in doors/functions need. The
// translations of its numbers are in values.h and translate.h. Any thread.
//
// A handle is an integer. Bits 26 to 29 contain its kind. Bits 30 and 31 are both set for an object created
// at run time, and bits 0 to 25 then contain the object's index in its pool. A table contains the predefined
// handles (predefined.h). Only the handle of a file is a pointer.
// Tested by: tests/mpich_abi/values_test.cc, tests/mpich_abi/crossing.cc.
#pragma once

#include <type_traits>

#include "api/call.h"
#include "api/door.h"
#include "api/handles.h"
#include "doors/mpich_abi/handle_types.h"
#include "doors/mpich_abi/translate.h"

namespace lanyard::mpich_abi {

struct Abi : Types, Translations {
    static constexpr bool of_the_standard = false;
    static constexpr const char *library = "libmpi.so.12";
    static constexpr const char *title = "the ABI of MPICH and Intel MPI";
    static constexpr const char *other_header = "the mpi.h of the MPI-5.0 standard's ABI, such as Lanyard's";
    static constexpr const char *advice =
        "link it with -lmpi_abi, as Lanyard's mpicc does, and let nothing (LD_PRELOAD) load libmpi.so.12 "
        "before";
    static const Door door;

    template <class Handle>
    using ObjectOf = typename HandleType<Handle>::Object;

    static constexpr int index_bits = 26;
    static constexpr uint32_t index_mask = (1U << index_bits) - 1;

    template <class Handle>
    static uint32_t bits_of(Handle handle) {
        return static_cast<uint32_t>(handle);
    }
    template <class Handle>
    [[gnu::always_inline]] static ObjectOf<Handle> *object_behind(Handle handle) {
        using Type = HandleType<Handle>;
        uint32_t bits = bits_of(handle);
        if (bits >> index_bits == Type::made) return object_at<ObjectOf<Handle>>(bits & index_mask);
        return reinterpret_cast<ObjectOf<Handle> *>(
            lanyard_handles.predefined[Type::predefined.standard(bits)]);
    }
    static File *object_behind(MPI_File handle) { return object_of<File>(handle); }

    template <class Handle>
    static Handle handle_for(const ObjectOf<Handle> *object) {
        if constexpr (std::is_pointer_v<Handle>) {
            return reinterpret_cast<Handle>(const_cast<ObjectOf<Handle> *>(object));
        } else {
            using Type = HandleType<Handle>;
            uint32_t bits = Type::null_bits;
            if (object) {
                int standard = reinterpret_cast<const Object *>(object)->abi_value;
                bits = standard ? Type::predefined.bits(standard)
                                : Type::made << index_bits | static_cast<uint32_t>(index_of(object));
            }
            return static_cast<Handle>(bits);
        }
    }

    template <class Handle>
    static bool is_null(Handle handle) {
        return bits_of(handle) == HandleType<Handle>::null_bits;
    }
    static bool is_null(MPI_File handle) { return !handle; }

    // Recognises constants of the standard's ABI, which are numbers from 0x20 to 0x3ff. No handle of this
    // ABI is in this range, because it has its kind in the upper bits.
    template <class Handle>
    static bool is_foreign(Handle handle) {
        return bits_of(handle) >= 0x20 && bits_of(handle) < 0x400;
    }
    static bool is_foreign(MPI_File) { return false; }

    template <class Handle>
    static uint64_t shown_bits(Handle handle) {
        if (is_null(handle)) return HandleKind<ObjectOf<Handle>>::null;
        int standard = HandleType<Handle>::predefined.standard(bits_of(handle));
        return standard ? static_cast<uint64_t>(standard) : bits_of(handle);
    }
    static uint64_t shown_bits(MPI_File handle) {
        return handle ? reinterpret_cast<uint64_t>(handle) : uint64_t{abi::file_null};
    }

    // Conversions between handles and integers. All handles are integers already, except those of files.
    template <class Handle>
    static int to_integer(Handle handle) {
        return static_cast<int>(handle);
    }
    static int to_integer(MPI_File handle) {
        auto *object = object_behind(handle);
        return object ? first_integer + static_cast<int>(index_of(object)) : 0;
    }
    template <class Handle>
    static Handle from_integer(int integer) {
        if constexpr (std::is_pointer_v<Handle>) {
            auto index = static_cast<size_t>(integer - first_integer);
            return handle_for<Handle>(integer < first_integer ? nullptr : object_at<ObjectOf<Handle>>(index));
        } else {
            return static_cast<Handle>(integer);
        }
    }

    // Raises the error and returns its code in this ABI.
    [[gnu::cold]] static int fail(Error error, RaiseOn on, const char *function,
                                  std::initializer_list<Argument> arguments);

    // Functions that the front end implements itself (extras.cc).
    static int no_standard_abi(int *major, int *minor);
    static int library_version(char *version, int *resultlen);
    static int copy_status(const MPI_Status *from, int *to);
    static int copy_status(const int *from, MPI_Status *to);
    static int copy_status(const int *from, int *to);
    static int type_extent(MPI_Datatype datatype, MPI_Aint *extent);
    static int type_lower_bound(MPI_Datatype datatype, MPI_Aint *displacement);
    static int type_upper_bound(MPI_Datatype datatype, MPI_Aint *displacement);
    static bool has_markers(int count, const MPI_Datatype types[]);
    static int struct_with_markers(int count, const int lengths[], const MPI_Aint displacements[],
                                   const MPI_Datatype types[], MPI_Datatype *newtype);
};

}  // namespace lanyard::mpich_abi
