// Defines the typed functions (types.h) for attributes on communicators and datatypes (MPI-5.0 section 7.7).
// The entry points of the five deprecated functions of MPI-1 (MPI_Attr_put and others) call the functions for
// communicators.
// Tested by: tests/mpi/comm/attributes.cc, tests/mpi/comm/old_attributes.c.
#include "comm/attributes.h"

#include <string>

#include "api/door.h"
#include "api/generated/core.h"
#include "base/thrown.h"
#include "comm/comm.h"
#include "datatype/datatype.h"

namespace lanyard {

namespace {

std::string name_of(const char *what, const Keyval &key) {
    std::string name("the program's ");
    return name.append(what).append(" function for attribute key ").append(std::to_string(key.value));
}

// Calls a function of the program. Returns an error if the function fails or throws.
template <class Call>
Error calling(const char *what, const Keyval &key, Call call) {
    return catching([&] { return name_of(what, key); }, [&]() -> Error {
        int code = call();
        if (code == abi::success) return {};
        return {code, name_of(what, key) + " returned " + std::to_string(code)};
    });
}

// Calls the program's copy and delete functions through the front end, for one kind of object.
template <class Object, auto copier, auto deleter>
struct Through {
    static Error copy(const Keyval &key, void *object, void *value, void *&copied, bool &wanted) {
        return calling("copy", key, [&] {
            int flag = 0;
            int code = (key.door->*copier)(key.copy_function, static_cast<Object *>(object), key.value,
                                           key.extra_state, value, &copied, &flag);
            wanted = flag != 0;
            return code;
        });
    }
    static Error remove(const Keyval &key, void *object, void *value) {
        return calling("delete", key, [&] {
            return (key.door->*deleter)(key.delete_function, static_cast<Object *>(object), key.value, value,
                                        key.extra_state);
        });
    }
};

using ThroughComm = Through<Comm, &Door::copy_comm_attribute, &Door::delete_comm_attribute>;
using ThroughType = Through<Datatype, &Door::copy_type_attribute, &Door::delete_type_attribute>;
using ThroughWin = Through<Win, &Door::copy_win_attribute, &Door::delete_win_attribute>;

template <class Calls>
int new_keyval(ObjectKind kind, const Callback &copy, const Callback &remove, void *extra_state) {
    // MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN and their counterparts
    constexpr uintptr_t none = 0, duplicate = 1;
    Keyval key;
    key.kind = kind;
    key.extra_state = extra_state;
    key.door = copy.door ? copy.door : remove.door;
    key.copies_as_is = copy.is(duplicate);
    if (!copy.is(none) && !copy.is(duplicate)) {
        key.copy_function = copy.function;
        key.copy = Calls::copy;
    }
    if (!remove.is(none)) {
        key.delete_function = remove.function;
        key.remove = Calls::remove;
    }
    return create_keyval(key);
}

Error free_and_forget(int *keyval, ObjectKind kind) {
    if (Error error = free_keyval(*keyval, kind)) return error;
    *keyval = abi::keyval_invalid;
    return {};
}

Error give(Error error, void *value, bool found, void **attribute_val, int *flag) {
    *flag = found;
    if (!error && found) *attribute_val = value;
    return error;
}

}  // namespace

extern "C" {

Error lanyard_comm_create_keyval(Callback comm_copy_attr_fn, Callback comm_delete_attr_fn, int *comm_keyval,
                                 void *extra_state) {
    *comm_keyval =
        new_keyval<ThroughComm>(ObjectKind::comm, comm_copy_attr_fn, comm_delete_attr_fn, extra_state);
    return {};
}

Error lanyard_comm_free_keyval(int *comm_keyval) { return free_and_forget(comm_keyval, ObjectKind::comm); }

Error lanyard_comm_set_attr(Comm &comm, int keyval, void *attribute_val) {
    return set_attribute(comm.attributes, ObjectKind::comm, &comm, keyval, attribute_val);
}

Error lanyard_comm_get_attr(Comm &comm, int keyval, void **attribute_val, int *flag) {
    void *value = nullptr;
    bool found = false;
    if (predefined_keyval(keyval, ObjectKind::comm)) {
        value = predefined_attribute(comm, keyval);
        return give({}, value, value != nullptr, attribute_val, flag);
    }
    Error error = get_attribute(comm.attributes, ObjectKind::comm, keyval, value, found);
    return give(error, value, found, attribute_val, flag);
}

Error lanyard_comm_delete_attr(Comm &comm, int keyval) {
    return delete_attribute(comm.attributes, ObjectKind::comm, &comm, keyval);
}

Error lanyard_type_create_keyval(Callback type_copy_attr_fn, Callback type_delete_attr_fn, int *type_keyval,
                                 void *extra_state) {
    *type_keyval =
        new_keyval<ThroughType>(ObjectKind::type, type_copy_attr_fn, type_delete_attr_fn, extra_state);
    return {};
}

Error lanyard_type_free_keyval(int *type_keyval) { return free_and_forget(type_keyval, ObjectKind::type); }

Error lanyard_type_set_attr(Datatype &datatype, int type_keyval, void *attribute_val) {
    return set_attribute(datatype.attributes, ObjectKind::type, &datatype, type_keyval, attribute_val);
}

Error lanyard_type_get_attr(Datatype &datatype, int type_keyval, void **attribute_val, int *flag) {
    void *value = nullptr;
    bool found = false;
    Error error = get_attribute(datatype.attributes, ObjectKind::type, type_keyval, value, found);
    return give(error, value, found, attribute_val, flag);
}

Error lanyard_type_delete_attr(Datatype &datatype, int type_keyval) {
    return delete_attribute(datatype.attributes, ObjectKind::type, &datatype, type_keyval);
}

// Windows are not implemented yet, but their keys exist.
Error lanyard_win_create_keyval(Callback win_copy_attr_fn, Callback win_delete_attr_fn, int *win_keyval,
                                void *extra_state) {
    *win_keyval = new_keyval<ThroughWin>(ObjectKind::win, win_copy_attr_fn, win_delete_attr_fn, extra_state);
    return {};
}

Error lanyard_win_free_keyval(int *win_keyval) { return free_and_forget(win_keyval, ObjectKind::win); }

}  // extern "C"

}  // namespace lanyard
