// Attributes that programs and libraries cache on communicators, datatypes and windows. MPI-5.0 sections 7.7
// and 11.2.4. Keys belong to the process; values to the object that carries them, in the order of setting.
// Thread-safe: one short lock for all, never held while a function of the program runs; such a function may
// itself use attributes, and may throw, which is as if it had failed (base/thrown.h).
// A key that the program has freed ends with the last attribute that uses it. Until then who has kept its
// value can read and delete those attributes by it (MPI-5.0 7.7.2), but set no other one.
#pragma once

#include <atomic>
#include <vector>

#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

struct Comm;

// A key. `copy` and `remove` call the program's functions through its door, whose failure they return; nullptr for
// the predefined functions, which need no call.
struct Keyval {
    int value = 0;
    ObjectKind kind = ObjectKind::comm;
    bool freed = false;      // by the program; attributes that use it live on
    bool copies_as_is = false;  // MPI_COMM_DUP_FN and its like
    int users = 1;           // the key itself and each attribute
    void *extra_state = nullptr;
    const Door *door = nullptr;
    void (*copy_function)() = nullptr;
    void (*delete_function)() = nullptr;
    Error (*copy)(const Keyval &key, void *object, void *value, void *&copied, bool &wanted) = nullptr;
    Error (*remove)(const Keyval &key, void *object, void *value) = nullptr;
};

struct Attribute {
    Keyval *key;
    void *value;
};

struct Attributes {
    std::vector<Attribute> list;  // oldest first
};

// Registers `key` (its value is filled in) and returns the value.
int create_keyval(const Keyval &key);
Error free_keyval(int keyval, ObjectKind kind);
// Keys that the program has made and not freed.
size_t keyvals_in_use();

// `place` is the object's own pointer; `object` is handed to the program's functions. A predefined key is an Error here.
Error set_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval, void *value);
Error get_attribute(Attributes *const &place, ObjectKind kind, int keyval, void *&value, bool &found);
Error delete_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval);

// For the copy of an object: asks each attribute's copy function. When one fails nothing is left in `to`.
Error copy_attributes(Attributes *const &from, void *object, Attributes *&to, void *new_object);
// At the end of an object, newest first. When a delete function fails the rest stays, and so should the object.
Error delete_attributes(Attributes *&place, void *object);

// Is this a key of the standard for that kind of object?
bool predefined_keyval(int keyval, ObjectKind kind);
// The value of a predefined attribute of communicators; MPI gives the address of an int. nullptr: nothing to say.
// Answered on every communicator, though the standard asks it of MPI_COMM_WORLD alone.
int *predefined_attribute(Comm &comm, int keyval);

}  // namespace lanyard
