// Stores the attributes that programs and libraries cache on communicators, datatypes and windows (MPI-5.0
// sections 7.7 and 11.2.4). Keys belong to the process. Attribute values belong to the object on which they
// are set, and are kept in the order in which they were set. Thread-safe: one short lock guards everything.
// The lock is never held while a function of the program runs, so such a function may itself use attributes.
// The function may also throw, which counts as a failure (base/thrown.h). A key that the program has freed
// ends with the last attribute that uses it. Until then, the program can still read and delete those
// attributes by the key's value (MPI-5.0 7.7.2), but cannot set new ones. The program may free the key again
// without effect, because a delete function that frees its own key is called once for each object.
#pragma once

#include <atomic>
#include <vector>

#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

struct Comm;

// A key. `copy` and `remove` call the program's functions through its ABI front end and return the failure of
// these functions. `copy` and `remove` are nullptr for MPI's predefined functions, which need no call.
struct Keyval {
    int value = 0;
    ObjectKind kind = ObjectKind::comm;
    bool freed = false;         // the program has freed the key, but attributes may still use it
    bool copies_as_is = false;  // the copy function is MPI_COMM_DUP_FN or its counterpart
    int users = 1;              // the number of attributes with this key, plus 1 until the program frees it
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
    // In the order of setting, the oldest first. An attribute whose delete function has failed comes last.
    std::vector<Attribute> list;
};

// Registers a copy of `key` under a new value, and returns this value.
int create_keyval(const Keyval &key);
Error free_keyval(int keyval, ObjectKind kind);
// The number of keys that the program has created and not freed.
size_t keyvals_in_use();

// `place` is the object's pointer to its attributes. `object` is passed to the program's functions. These
// three functions return an Error for a predefined key.
Error set_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval, void *value);
Error get_attribute(Attributes *const &place, ObjectKind kind, int keyval, void *&value, bool &found);
Error delete_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval);

// Copies the attributes of an object that is being duplicated, by each attribute's copy function. If a copy
// function fails, `to` is left empty.
Error copy_attributes(Attributes *const &from, void *object, Attributes *&to, void *new_object);
// Deletes the attributes of an object that is about to end, the newest first. If a delete function fails, the
// function's attribute and the remaining attributes stay, and the caller must keep the object too.
Error delete_attributes(Attributes *&place, void *object);
// Does the same for an object that ends in any case, because it could not be completed. What delete functions
// return is ignored.
void drop_attributes(Attributes *&place, void *object);

// True if this is a key of the standard for this kind of object.
bool predefined_keyval(int keyval, ObjectKind kind);
// The value of a predefined attribute of communicators, which MPI returns as the address of an int. nullptr:
// the attribute has no value. The value is the same on every communicator, although the standard requires it
// only on MPI_COMM_WORLD.
int *predefined_attribute(Comm &comm, int keyval);

}  // namespace lanyard
