// Converts between handles of the standard's ABI and objects. The handle of an object that the program has
// created is the object's address; the handle of a predefined object is the ABI's constant. The tables belong
// to the core and are read by the front ends. The core fills in some entries when it is loaded and the others
// at the first initialisation of MPI. Only MPI_COMM_WORLD and MPI_COMM_SELF come and go, with MPI_Init and
// MPI_Finalize. Any thread may convert. An invalid handle yields nullptr and never a crash.
// Tested by: tests/mpi/errors/freed.cc, tests/api/door_test.cc.
#pragma once

#include <cstdint>
#include <type_traits>

#include "api/types.h"
#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"

namespace lanyard {

// For one kind of handle: the range of the ABI's constants, which begins with the null handle (MPI-5.0
// 20.5), and the class of errors about such a handle.
template <class T>
struct HandleKind;

#define LANYARD_HANDLE_KIND(Type, First, Last, Index, Class)      \
    template <>                                                   \
    struct HandleKind<Type> {                                     \
        static constexpr uintptr_t null = First;                  \
        static constexpr uintptr_t last = Last;                   \
        static constexpr int index = Index;                       \
        static constexpr ErrorClass error = ErrorClass::Class;    \
    };
LANYARD_HANDLE_KIND(Op, 0x20, 0x3f, 0, op)
LANYARD_HANDLE_KIND(Comm, 0x100, 0x107, 1, comm)
LANYARD_HANDLE_KIND(Group, 0x108, 0x10f, 2, group)
LANYARD_HANDLE_KIND(Win, 0x110, 0x117, 3, win)
LANYARD_HANDLE_KIND(File, 0x118, 0x11f, 4, file)
LANYARD_HANDLE_KIND(Session, 0x120, 0x127, 5, session)
LANYARD_HANDLE_KIND(Message, 0x128, 0x12f, 6, request)
LANYARD_HANDLE_KIND(Info, 0x130, 0x13f, 7, info)
LANYARD_HANDLE_KIND(Errhandler, 0x140, 0x14f, 8, errhandler)
LANYARD_HANDLE_KIND(Request, 0x180, 0x18f, 9, request)
LANYARD_HANDLE_KIND(Datatype, 0x200, 0x2ff, 10, type)
#undef LANYARD_HANDLE_KIND

constexpr uintptr_t predefined_handles = 1024;

struct HandleTables {
    Object *predefined[predefined_handles] = {};  // indexed by the ABI's constant
    PoolView pool[11];                            // indexed by HandleKind::index
};

}  // namespace lanyard

extern "C" [[gnu::visibility("default")]] lanyard::HandleTables lanyard_handles;
// The object used for MPI_DATATYPE_NULL in calls that transfer nothing. nullptr if keeps_to_standard() is
// true (door.h), so that such calls are refused.
extern "C" [[gnu::visibility("default")]] lanyard::Datatype *lanyard_null_datatype();

namespace lanyard {

// Objects begin with Object, so the conversions below do not need the complete type.
template <class T>
[[gnu::always_inline]] inline T *object_of(uintptr_t handle) {
    using Kind = HandleKind<T>;
    // This branch is the likely one, because most calls pass predefined objects. Requests are the
    // exception: none is predefined.
    if (__builtin_expect(handle < predefined_handles, !std::is_same_v<T, Request>)) {
        if (handle < Kind::null || handle > Kind::last) return nullptr;
        return reinterpret_cast<T *>(lanyard_handles.predefined[handle]);
    }
    return lanyard_handles.pool[Kind::index].holds(reinterpret_cast<const void *>(handle))
               ? reinterpret_cast<T *>(handle)
               : nullptr;
}
template <class T>
inline T *object_of(const void *handle) {
    return object_of<T>(reinterpret_cast<uintptr_t>(handle));
}

template <class T>
inline uintptr_t handle_of(const T *object) {
    if (!object) return HandleKind<T>::null;
    int32_t constant = reinterpret_cast<const Object *>(object)->abi_value;
    return constant ? static_cast<uintptr_t>(constant) : reinterpret_cast<uintptr_t>(object);
}

// index_of() returns the index that an object of the program has in its pool, for ABIs whose handles are
// integers. object_at() does the reverse.
template <class T>
inline size_t index_of(const T *object) {
    return lanyard_handles.pool[HandleKind<T>::index].index(object);
}
template <class T>
inline T *object_at(size_t index) {
    return static_cast<T *>(lanyard_handles.pool[HandleKind<T>::index].at(index));
}

// Small integers for objects, for Fortran. The integer of a predefined object is the ABI's constant. The
// integer of any other object is its index plus `first_integer`.
constexpr int first_integer = 4096;
template <class T>
inline int integer_of(const T *object) {
    uintptr_t handle = handle_of(object);
    return handle < predefined_handles ? static_cast<int>(handle)
                                       : first_integer + static_cast<int>(index_of(object));
}
template <class T>
inline T *object_of_integer(int integer) {
    if (integer < first_integer) return integer < 0 ? nullptr : object_of<T>(static_cast<uintptr_t>(integer));
    return object_at<T>(static_cast<size_t>(integer - first_integer));
}

}  // namespace lanyard
