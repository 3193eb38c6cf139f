// Converts handles of any ABI to the library's objects and back, for the function bodies in functions/. Any
// thread.
//
// An ABI is a struct of facts, here called `Abi`; README.md beside this file lists all of them. The
// functions here need only `Abi::door` and these facts, each about a single handle:
//     Abi::ObjectOf<Handle>            the type of the handle's object
//     Abi::object_behind(handle)       the object, or nullptr if there is none
//     Abi::handle_for<Handle>(object)  the handle of an object; the null handle for nullptr
//     Abi::is_null(handle)             is it the null handle of its kind?
//     Abi::is_foreign(handle)          does it look like a handle of the other ABI?
//     Abi::shown_bits(handle)          what errors show: the standard's value if predefined, else its bits
// Tested by: tests/api/door_test.cc, tests/mpich_abi/values_test.cc, tests/third_abi/program.cc.
#pragma once

#include "api/call.h"
#include "api/check.h"
#include "api/door.h"
#include "api/handles.h"

namespace lanyard::doors {

template <class Abi, class Handle>
using ObjectOf = typename Abi::template ObjectOf<Handle>;
// The properties of a kind of handle that are the same in every ABI: the standard's null handle, and the
// class of errors about such a handle.
template <class Abi, class Handle>
using KindOf = HandleKind<ObjectOf<Abi, Handle>>;

template <class Abi, class Handle>
[[gnu::cold, gnu::noinline]] Error refuse(const char *name, Handle handle) {
    using Kind = KindOf<Abi, Handle>;
    if (Abi::is_foreign(handle)) return complaint::foreign_handle(name, Abi::door, Kind::error);
    return complaint::bad_handle(name, Abi::shown_bits(handle), static_cast<int>(Kind::null), Kind::error);
}

// Finds the object of a handle. Returns an error if the handle has no object.
template <class Abi, class Handle>
[[gnu::always_inline]] inline Error find(const char *name, Handle handle, ObjectOf<Abi, Handle> *&object) {
    object = Abi::object_behind(handle);
    if (object) [[likely]] return {};
    return refuse<Abi>(name, handle);
}
// The same, but the null handle is allowed. It has no object, so `object` is left as it is.
template <class Abi, class Handle>
inline Error find_or_null(const char *name, Handle handle, ObjectOf<Abi, Handle> *&object) {
    return Abi::is_null(handle) ? Error() : find<Abi>(name, handle, object);
}
template <class Abi, class Handle>
[[gnu::cold, gnu::noinline]] Datatype *datatype_of_nothing(Handle handle, bool nothing) {
    return nothing && Abi::is_null(handle) ? lanyard_null_datatype() : nullptr;
}
// Finds a datatype for communication, which must be committed. Accepts MPI_DATATYPE_NULL if `nothing()` is
// true, that is, if there are no elements or the other process is MPI_PROC_NULL. `nothing` is called only if
// the handle has no object.
template <class Abi, class Handle, class Nothing>
[[gnu::always_inline]] inline Error find_committed(const char *name, Handle handle, Datatype *&object,
                                                   Nothing nothing) {
    object = Abi::object_behind(handle);
    if (!object) [[unlikely]] {
        object = datatype_of_nothing<Abi>(handle, nothing());
        if (!object) return refuse<Abi>(name, handle);
    }
    return check_committed(name, *object);
}
template <class Abi, class Handle>
[[gnu::always_inline]] inline Error find_committed(const char *name, Handle handle, Datatype *&object) {
    return find_committed<Abi>(name, handle, object, [] { return false; });
}

// Stores the handle of an object; the null handle for nullptr.
template <class Abi, class Handle>
inline void store(Handle *handle, ObjectOf<Abi, Handle> *object) {
    *handle = Abi::template handle_for<Handle>(object);
}

// callback() returns a function of the program together with this front end. The function after it does the
// same for the address of a handle that the program passes to the tool information interface.
template <class Abi, class Function>
inline Callback callback(Function *function, bool large_count) {
    return {reinterpret_cast<void (*)()>(function), &Abi::door, large_count};
}
template <class Abi>
inline ToolObject tool_object(const void *handle) {
    return {handle, &Abi::door};
}

// Describes a handle for an error message.
template <class Abi, class Handle>
inline Argument shown_handle(const char *name, Handle handle) {
    return {name, Argument::Form::handle, static_cast<int>(KindOf<Abi, Handle>::null),
            static_cast<int64_t>(Abi::shown_bits(handle))};
}

}  // namespace lanyard::doors
