// Handles of any ABI and the library's objects, for the bodies in functions/. Any thread.
//
// An ABI is a struct of facts, here `Abi`; README.md beside this file lists them. About handles, it states
// these facts about a single one, and everything else follows from them:
//     Abi::ObjectOf<Handle>            the type of its object
//     Abi::object_behind(handle)       the object, or nullptr if there is none
//     Abi::handle_for<Handle>(object)  its handle; the null handle for nullptr
//     Abi::is_null(handle)             is it the null handle of its kind?
//     Abi::is_foreign(handle)          does it look like a handle of the other ABI?
//     Abi::shown_bits(handle)          what errors show: the standard's value if predefined, else its bits
#pragma once

#include "api/call.h"
#include "api/check.h"
#include "api/door.h"
#include "api/handles.h"

namespace lanyard::doors {

template <class Abi, class Handle>
using ObjectOf = typename Abi::template ObjectOf<Handle>;
// The kind of a handle in any ABI: the standard's null handle, and the class of errors about the handle.
template <class Abi, class Handle>
using KindOf = HandleKind<ObjectOf<Abi, Handle>>;

template <class Abi, class Handle>
[[gnu::cold, gnu::noinline]] Error refuse(const char *name, Handle handle) {
    using Kind = KindOf<Abi, Handle>;
    if (Abi::is_foreign(handle)) return complaint::foreign_handle(name, Abi::door, Kind::error);
    return complaint::bad_handle(name, Abi::shown_bits(handle), static_cast<int>(Kind::null), Kind::error);
}

// The object of a handle, or an error if there is none.
template <class Abi, class Handle>
[[gnu::always_inline]] inline Error find(const char *name, Handle handle, ObjectOf<Abi, Handle> *&object) {
    object = Abi::object_behind(handle);
    if (object) [[likely]] return {};
    return refuse<Abi>(name, handle);
}
// The same, but the null handle is allowed and yields nullptr.
template <class Abi, class Handle>
inline Error find_or_null(const char *name, Handle handle, ObjectOf<Abi, Handle> *&object) {
    return Abi::is_null(handle) ? Error() : find<Abi>(name, handle, object);
}
template <class Abi, class Handle>
[[gnu::cold, gnu::noinline]] Datatype *datatype_of_nothing(Handle handle, bool nothing) {
    return nothing && Abi::is_null(handle) ? lanyard_null_datatype() : nullptr;
}
// A datatype for communication. MPI_DATATYPE_NULL is accepted if `nothing()` is true: there are no elements,
// or the other process is MPI_PROC_NULL. `nothing` is called only if the handle has no object.
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

// A function of the program, and the address of a handle for the tool information interface. Both are stored
// with their front end.
template <class Abi, class Function>
inline Callback callback(Function *function, bool large_count) {
    return {reinterpret_cast<void (*)()>(function), &Abi::door, large_count};
}
template <class Abi>
inline ToolObject tool_object(const void *handle) {
    return {handle, &Abi::door};
}

// A handle as shown in the sentence of an error.
template <class Abi, class Handle>
inline Argument shown_handle(const char *name, Handle handle) {
    return {name, Argument::Form::handle, static_cast<int>(KindOf<Abi, Handle>::null),
            static_cast<int64_t>(Abi::shown_bits(handle))};
}

}  // namespace lanyard::doors
