// Between the handles of the MPI-5.0 ABI and the library's objects, for the generated entry points of libmpi_abi.so.1.
// A handle is the address of its object, or the ABI's constant when predefined (api/handles.h). Any thread.
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "api/call.h"
#include "api/check.h"
#include "api/door.h"
#include "api/generated/core.h"
#include "api/handles.h"
#include "doors/mpi_abi/handle_types.h"
#include "doors/objects.h"

namespace lanyard::mpi_abi {

extern const Door door;

template <class MpiHandle>
using ObjectOf = typename HandleType<MpiHandle>::Object;

template <class MpiHandle>
inline uintptr_t bits_of(MpiHandle handle) {
    return reinterpret_cast<uintptr_t>(handle);
}
template <class MpiHandle>
inline bool is_null(MpiHandle handle) {
    return bits_of(handle) == static_cast<uintptr_t>(HandleType<MpiHandle>::null);
}

// Handles of MPICH are 32-bit numbers: their kind stands at bit 26, and above it one of two bits is set, but in
// null ones, where nothing stands below either. Constants of this ABI are small, objects far above. One that is
// negative there may come with its sign extended.
inline bool of_mpich(uintptr_t bits) {
    auto extended = static_cast<uintptr_t>(static_cast<intptr_t>(static_cast<int32_t>(bits)));
    if (bits != static_cast<uint32_t>(bits) && bits != extended) return false;
    uintptr_t upper = bits >> 30 & 3, kind = bits >> 26 & 15, index = bits & 0x3ffffff;
    return kind != 0 && kind != 15 && (upper != 0 || index == 0);
}
template <class MpiHandle>
[[gnu::cold, gnu::noinline]] Error refuse(const char *name, MpiHandle handle) {
    using Type = HandleType<MpiHandle>;
    if (of_mpich(bits_of(handle))) return complaint::foreign_handle(name, door, Type::error);
    return complaint::bad_handle(name, bits_of(handle), Type::null, Type::error);
}

// The object of a handle; an error when there is none.
template <class MpiHandle>
[[gnu::always_inline]] inline Error find(const char *name, MpiHandle handle, ObjectOf<MpiHandle> *&object) {
    object = object_of<ObjectOf<MpiHandle>>(bits_of(handle));
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
    object = object_of<Datatype>(bits_of(handle));
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
inline void store(MpiHandle *handle, ObjectOf<MpiHandle> *object) {
    *handle = reinterpret_cast<MpiHandle>(handle_of(object));
}
template <class MpiHandle>
inline MpiHandle handle_for(ObjectOf<MpiHandle> *object) {
    MpiHandle handle;
    store(&handle, object);
    return handle;
}

template <class MpiHandle>
struct HandleConversion {
    using Handle = MpiHandle;
    using Object = ObjectOf<MpiHandle>;
    static bool is_null(MpiHandle handle) { return mpi_abi::is_null(handle); }
    static Error find(const char *name, MpiHandle handle, Object *&object) { return mpi_abi::find(name, handle, object); }
    static Error find_committed(const char *name, MpiHandle handle, Object *&object, bool nothing) {
        return mpi_abi::find_committed(name, handle, object, [=] { return nothing; });
    }
    static void store(MpiHandle *handle, Object *object) { mpi_abi::store(handle, object); }
};
template <class MpiHandle>
using Objects = ObjectArray<HandleConversion<MpiHandle>>;

template <class MpiFunction>
inline Callback callback(MpiFunction *function, bool large_count) {
    return {reinterpret_cast<void (*)()>(function), &door, large_count};
}

inline ToolObject tool_object(const void *handle) { return {handle, &door}; }

inline Status *status_of(MPI_Status *status) { return reinterpret_cast<Status *>(status); }
inline const Status *status_of(const MPI_Status *status) { return reinterpret_cast<const Status *>(status); }

// Arguments as they are shown in the sentence of an error.
template <class MpiHandle>
inline Argument shown_handle(const char *name, MpiHandle handle) {
    return {name, Argument::Form::handle, HandleType<MpiHandle>::null, static_cast<int64_t>(bits_of(handle))};
}

// What the door does by itself. Handles as integers: MPI-5.0 section 20.4.
template <class MpiHandle>
inline int to_integer(MpiHandle handle) {
    auto *object = object_of<ObjectOf<MpiHandle>>(bits_of(handle));
    return object ? integer_of(object) : static_cast<int>(bits_of(handle) & 0xfff);
}
template <class MpiHandle>
inline MpiHandle from_integer(int integer) {
    return handle_for<MpiHandle>(object_of_integer<ObjectOf<MpiHandle>>(integer));
}
inline MPI_Aint add_addresses(MPI_Aint base, MPI_Aint displacement) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(base) + static_cast<uintptr_t>(displacement));
}
inline MPI_Aint subtract_addresses(MPI_Aint one, MPI_Aint other) {
    return static_cast<MPI_Aint>(static_cast<uintptr_t>(one) - static_cast<uintptr_t>(other));
}

}  // namespace lanyard::mpi_abi
