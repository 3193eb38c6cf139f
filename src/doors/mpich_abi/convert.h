// Between the MPICH ABI and the library, for the generated entry points of libmpi.so.12: handles and objects here, numbers in
// values.h and translate.h, statuses in statuses.h. Any thread.
//
// A handle is an integer: 4 bits of its kind at bit 26; above them 3 for an object made at run time, whose index in its pool
// stands below; predefined ones by a table (predefined.h). A file alone is a pointer.
#pragma once

#include <type_traits>

#include "api/call.h"
#include "api/check.h"
#include "api/door.h"
#include "api/generated/core.h"
#include "api/handles.h"
#include "doors/mpich_abi/handle_types.h"
#include "doors/mpich_abi/statuses.h"
#include "doors/mpich_abi/translate.h"
#include "doors/objects.h"

namespace lanyard::mpich_abi {

extern const Door door;

template <class MpiHandle>
using ObjectOf = typename HandleType<MpiHandle>::Object;

constexpr int index_bits = 26;
constexpr uint32_t index_mask = (1U << index_bits) - 1;

template <class MpiHandle>
inline uint32_t bits_of(MpiHandle handle) {
    return static_cast<uint32_t>(handle);
}
template <class MpiHandle>
inline bool is_null(MpiHandle handle) {
    return bits_of(handle) == HandleType<MpiHandle>::null_bits;
}
inline bool is_null(MPI_File handle) { return !handle; }

// The object of a handle; nullptr when there is none.
template <class MpiHandle>
inline ObjectOf<MpiHandle> *object_behind(MpiHandle handle) {
    using Type = HandleType<MpiHandle>;
    uint32_t bits = bits_of(handle);
    if (bits >> index_bits == Type::made) return object_at<ObjectOf<MpiHandle>>(bits & index_mask);
    return reinterpret_cast<ObjectOf<MpiHandle> *>(lanyard_handles.predefined[Type::predefined.standard(bits)]);
}
inline File *object_behind(MPI_File handle) { return object_of<File>(handle); }

// What the sentences of errors show of a handle: the standard's value of a predefined one.
template <class MpiHandle>
inline uint64_t shown_bits(MpiHandle handle) {
    using Type = HandleType<MpiHandle>;
    if (is_null(handle)) return static_cast<uint64_t>(Type::null);
    int standard = Type::predefined.standard(bits_of(handle));
    return standard ? static_cast<uint64_t>(standard) : bits_of(handle);
}
inline uint64_t shown_bits(MPI_File handle) { return handle ? reinterpret_cast<uint64_t>(handle) : uint64_t{abi::file_null}; }

// Constants of the standard's ABI are numbers from 0x20 to 0x3ff; handles here have their kind in the upper
// bits.
template <class MpiHandle>
[[gnu::cold, gnu::noinline]] Error refuse(const char *name, MpiHandle handle) {
    using Type = HandleType<MpiHandle>;
    if constexpr (!std::is_pointer_v<MpiHandle>)
        if (bits_of(handle) >= 0x20 && bits_of(handle) < 0x400)
            return complaint::foreign_handle(name, door, Type::error);
    return complaint::bad_handle(name, shown_bits(handle), Type::null, Type::error);
}

template <class MpiHandle>
[[gnu::always_inline]] inline Error find(const char *name, MpiHandle handle, ObjectOf<MpiHandle> *&object) {
    object = object_behind(handle);
    if (object) [[likely]] return {};
    return refuse(name, handle);
}
// The same where the null handle is allowed and gives nullptr.
template <class MpiHandle>
inline Error find_or_null(const char *name, MpiHandle handle, ObjectOf<MpiHandle> *&object) {
    return is_null(handle) ? Error() : find(name, handle, object);
}
template <class MpiHandle>
[[gnu::cold, gnu::noinline]] Datatype *datatype_of_nothing(MpiHandle handle, bool nothing) {
    return nothing && is_null(handle) ? lanyard_null_datatype() : nullptr;
}
// A datatype to communicate with. Where `nothing` says that no element is, or that there is no process to do
// it with, MPI_DATATYPE_NULL will do: only then it is asked.
template <class Nothing>
[[gnu::always_inline]] inline Error find_committed(const char *name, MPI_Datatype handle, Datatype *&object,
                                                   Nothing nothing) {
    object = object_behind(handle);
    if (!object) [[unlikely]] {
        object = datatype_of_nothing(handle, nothing());
        if (!object) return refuse(name, handle);
    }
    return check_committed(name, *object);
}
[[gnu::always_inline]] inline Error find_committed(const char *name, MPI_Datatype handle, Datatype *&object) {
    return find_committed(name, handle, object, [] { return false; });
}

// The handle of an object; the null handle for nullptr.
template <class MpiHandle>
inline MpiHandle handle_for(const ObjectOf<MpiHandle> *object) {
    using Type = HandleType<MpiHandle>;
    uint32_t bits = Type::null_bits;
    if (object) {
        int standard = reinterpret_cast<const Object *>(object)->abi_value;
        bits = standard ? Type::predefined.bits(standard) : Type::made << index_bits | static_cast<uint32_t>(index_of(object));
    }
    return static_cast<MpiHandle>(bits);
}
template <>
inline MPI_File handle_for<MPI_File>(const File *object) {
    return reinterpret_cast<MPI_File>(const_cast<File *>(object));
}
template <class MpiHandle>
inline void store(MpiHandle *handle, ObjectOf<MpiHandle> *object) {
    *handle = handle_for<MpiHandle>(object);
}

template <class MpiHandle>
struct HandleConversion {
    using Handle = MpiHandle;
    using Object = ObjectOf<MpiHandle>;
    static bool is_null(MpiHandle handle) { return mpich_abi::is_null(handle); }
    static Error find(const char *name, MpiHandle handle, Object *&object) { return mpich_abi::find(name, handle, object); }
    static Error find_committed(const char *name, MpiHandle handle, Object *&object, bool nothing) {
        return mpich_abi::find_committed(name, handle, object, [=] { return nothing; });
    }
    static void store(MpiHandle *handle, Object *object) { mpich_abi::store(handle, object); }
};
template <class MpiHandle>
using Objects = ObjectArray<HandleConversion<MpiHandle>>;

template <class MpiFunction>
inline Callback callback(MpiFunction *function, bool large_count) {
    return {reinterpret_cast<void (*)()>(function), &door, large_count};
}

inline ToolObject tool_object(const void *handle) { return {handle, &door}; }

// Arguments as they are shown in the sentence of an error, and the error's code for the program.
template <class MpiHandle>
inline Argument shown_handle(const char *name, MpiHandle handle) {
    return {name, Argument::Form::handle, HandleType<MpiHandle>::null, static_cast<int64_t>(shown_bits(handle))};
}
[[gnu::cold]] int fail_translated(Error error, RaiseOn on, const char *function, std::initializer_list<Argument> arguments);

// What the door does by itself. Handles are integers already, but files.
template <class MpiHandle>
inline int to_integer(MpiHandle handle) {
    return static_cast<int>(handle);
}
inline int to_integer(MPI_File handle) {
    auto *object = object_behind(handle);
    return object ? first_integer + static_cast<int>(index_of(object)) : 0;
}
template <class MpiHandle>
inline MpiHandle from_integer(int integer) {
    return static_cast<MpiHandle>(integer);
}
template <>
inline MPI_File from_integer<MPI_File>(int integer) {
    return handle_for<MPI_File>(integer < first_integer ? nullptr : object_at<File>(static_cast<size_t>(integer - first_integer)));
}
inline MPI_Aint add_addresses(MPI_Aint base, MPI_Aint displacement) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(base) + static_cast<uintptr_t>(displacement));
}
inline MPI_Aint subtract_addresses(MPI_Aint one, MPI_Aint other) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(one) - static_cast<uintptr_t>(other));
}

// extras.cc
int no_standard_abi(int *major, int *minor);
int library_version(char *version, int *resultlen);
int copy_status(const MPI_Status *from, int *to);
int copy_status(const int *from, MPI_Status *to);
int copy_status(const int *from, int *to);
int type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int type_lower_bound(MPI_Datatype datatype, MPI_Aint *displacement);
int type_upper_bound(MPI_Datatype datatype, MPI_Aint *displacement);
bool has_markers(int count, const MPI_Datatype types[]);
int struct_with_markers(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[], MPI_Datatype *newtype);

}  // namespace lanyard::mpich_abi
