// Attributes that programs and libraries cache on communicators, datatypes and windows (MPI-5.0 sections 7.7
// and 11.2.4). Keys belong to the process. Values belong to the object that carries them, in the order of
// setting. Thread-safe: one short lock for all, never held while a function of the program runs. Such a
// function may itself use attributes. It may also throw, which counts as a failure (base/thrown.h). A key
// that the program has freed ends with the last attribute that uses it. Until then, the program can still
// read and delete those attributes by the key's value (MPI-5.0 7.7.2), but cannot set new ones.
#pragma once

#include <atomic>
#include <vector>

#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

struct Comm;

// A key. `copy` and `remove` call the program's functions through its ABI front end and return their failure.
// They are nullptr for the predefined functions, which need no call.
struct Keyval {
    int value = 0;
    ObjectKind kind = ObjectKind::comm;
    bool freed = false;      // by the program; attributes that use it remain
    bool copies_as_is = false;  // MPI_COMM_DUP_FN and its counterparts
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

// Registers `key`, whose value it assigns and returns.
int create_keyval(const Keyval &key);
Error free_keyval(int keyval, ObjectKind kind);
// The number of keys that the program has created and not freed.
size_t keyvals_in_use();

// `place` is the object's own pointer. `object` is passed to the program's functions. A predefined key is an
// Error here.
Error set_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval, void *value);
Error get_attribute(Attributes *const &place, ObjectKind kind, int keyval, void *&value, bool &found);
Error delete_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval);

// For a copy of an object: calls each attribute's copy function. If one fails, `to` is left empty.
Error copy_attributes(Attributes *const &from, void *object, Attributes *&to, void *new_object);
// For the end of an object, newest attribute first. If a delete function fails, the remaining attributes
// stay, and the object must stay too.
Error delete_attributes(Attributes *&place, void *object);

// True if this is a key of the standard for this kind of object.
bool predefined_keyval(int keyval, ObjectKind kind);
// The value of a predefined attribute of communicators, which MPI returns as the address of an int. nullptr:
// it has no value. It has the same value on every communicator, although the standard requires it only on
// MPI_COMM_WORLD.
int *predefined_attribute(Comm &comm, int keyval);

}  // namespace lanyard
