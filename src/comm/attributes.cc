// See attributes.h.
#include "comm/attributes.h"

#include <algorithm>
#include <unordered_map>

#include "base/abi_constants.h"
#include "base/spin_lock.h"

namespace lanyard {
namespace {

constexpr int first_keyval = 1 << 16;  // above the predefined keys of the standard's ABI, below MPICH's

struct Registry {
    SpinLock lock;  // also guards every Attributes list
    std::unordered_map<int, Keyval *> keys;
    int next = first_keyval;
};

Registry &registry() {
    static auto &only = *new Registry;  // never destroyed: attributes may be deleted while the process exits
    return only;
}

const char *kind_name(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::comm: return "communicators";
        case ObjectKind::type: return "datatypes";
        case ObjectKind::win: return "windows";
        default: return "this object";
    }
}

enum class Freed { allowed, refused };

// Finds the key with this value, or returns an Error that says what is wrong with it. A key that the program
// has freed still exists as long as an attribute uses it; `freed` states whether the caller accepts such a
// key. The caller holds the lock.
Error find_key(Registry &r, int keyval, ObjectKind kind, Freed freed, Keyval *&key) {
    auto place = r.keys.find(keyval);
    key =
        place == r.keys.end() || (place->second->freed && freed == Freed::refused) ? nullptr : place->second;
    if (keyval == abi::keyval_invalid) return {ErrorClass::keyval, "the attribute key is MPI_KEYVAL_INVALID"};
    if (predefined_keyval(keyval, kind))
        return {ErrorClass::keyval,
                "the attribute key " + std::to_string(keyval) + " is predefined and cannot be changed"};
    if (!key) return {ErrorClass::keyval, std::to_string(keyval) + " is not an attribute key, or was freed"};
    if (key->kind != kind)
        return {ErrorClass::keyval, "the attribute key " + std::to_string(keyval) + " is for " +
                                        kind_name(key->kind) + ", not for " + kind_name(kind)};
    return {};
}

void let_go(Registry &r, Keyval *key) {
    bool last;
    {
        SpinGuard guard(r.lock);
        last = --key->users == 0;
        if (last) r.keys.erase(key->value);
    }
    if (last) delete key;
}

// Removes the attribute with `key` from the list. Returns false if there is none. The caller holds the lock.
bool take_out(Attributes *attributes, const Keyval *key, Attribute &taken) {
    if (!attributes) return false;
    auto &list = attributes->list;
    auto place = std::find_if(list.begin(), list.end(), [&](const Attribute &a) { return a.key == key; });
    if (place == list.end()) return false;
    taken = *place;
    list.erase(place);
    return true;
}

bool take_newest(Registry &r, Attributes *attributes, Attribute &taken) {
    SpinGuard guard(r.lock);
    if (!attributes || attributes->list.empty()) return false;
    taken = attributes->list.back();
    attributes->list.pop_back();
    return true;
}

// Calls the delete function for an attribute that has been removed from its list. If the function refuses,
// the attribute is put back, at the end of the list.
Error end_attribute(Registry &r, Attributes *attributes, void *object, Attribute taken) {
    if (Error error = taken.key->remove ? taken.key->remove(*taken.key, object, taken.value) : Error()) {
        SpinGuard guard(r.lock);
        attributes->list.push_back(taken);
        return error;
    }
    let_go(r, taken.key);
    return {};
}

}  // namespace

int create_keyval(const Keyval &key) {
    auto *made = new Keyval(key);
    Registry &r = registry();
    SpinGuard guard(r.lock);
    made->value = r.next++;
    r.keys[made->value] = made;
    return made->value;
}

Error free_keyval(int keyval, ObjectKind kind) {
    Registry &r = registry();
    Keyval *key;
    {
        SpinGuard guard(r.lock);
        if (Error error = find_key(r, keyval, kind, Freed::allowed, key)) return error;
        if (key->freed) return {};
        key->freed = true;
    }
    let_go(r, key);
    return {};
}

size_t keyvals_in_use() {
    Registry &r = registry();
    SpinGuard guard(r.lock);
    auto used =
        std::count_if(r.keys.begin(), r.keys.end(), [](const auto &entry) { return !entry.second->freed; });
    return static_cast<size_t>(used);
}

Error set_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval, void *value) {
    Registry &r = registry();
    Keyval *key;
    {
        SpinGuard guard(r.lock);
        if (Error error = find_key(r, keyval, kind, Freed::refused, key)) return error;
        ++key->users;
    }
    for (;;) {  // another thread may set the same attribute while the delete function runs
        Attribute before{};
        {
            SpinGuard guard(r.lock);
            if (!place) place = new Attributes;
            if (!take_out(place, key, before)) {
                place->list.push_back({key, value});
                return {};
            }
        }
        if (Error error = end_attribute(r, place, object, before)) {
            let_go(r, key);
            return error;
        }
    }
}

Error get_attribute(Attributes *const &place, ObjectKind kind, int keyval, void *&value, bool &found) {
    Registry &r = registry();
    SpinGuard guard(r.lock);
    Keyval *key;
    found = false;
    if (Error error = find_key(r, keyval, kind, Freed::allowed, key)) return error;
    if (!place) return {};
    for (const Attribute &attribute : place->list)
        if (attribute.key == key) {
            value = attribute.value;
            found = true;
        }
    return {};
}

Error delete_attribute(Attributes *&place, ObjectKind kind, void *object, int keyval) {
    Registry &r = registry();
    Attribute taken{};
    {
        SpinGuard guard(r.lock);
        Keyval *key;
        if (Error error = find_key(r, keyval, kind, Freed::allowed, key)) return error;
        if (!take_out(place, key, taken))
            return {ErrorClass::keyval, "the object has no attribute with key " + std::to_string(keyval)};
    }
    return end_attribute(r, place, object, taken);
}

Error copy_attributes(Attributes *const &from, void *object, Attributes *&to, void *new_object) {
    Registry &r = registry();
    std::vector<Attribute> list;
    {
        SpinGuard guard(r.lock);
        if (!from) return {};
        list = from->list;
        for (const Attribute &attribute : list) ++attribute.key->users;
    }
    Error failed;
    for (const Attribute &attribute : list) {
        const Keyval &key = *attribute.key;
        void *copied = attribute.value;
        bool wanted = key.copies_as_is;
        if (!failed && key.copy) failed = key.copy(key, object, attribute.value, copied, wanted);
        if (failed || !wanted) {
            let_go(r, attribute.key);
            continue;
        }
        SpinGuard guard(r.lock);
        if (!to) to = new Attributes;
        to->list.push_back({attribute.key, copied});
    }
    if (failed) drop_attributes(to, new_object);
    return failed;
}

Error delete_attributes(Attributes *&place, void *object) {
    Registry &r = registry();
    for (Attribute newest{}; take_newest(r, place, newest);)
        if (Error error = end_attribute(r, place, object, newest)) return error;
    delete place;
    place = nullptr;
    return {};
}

void drop_attributes(Attributes *&place, void *object) {
    Registry &r = registry();
    for (Attribute newest{}; take_newest(r, place, newest);) {
        if (newest.key->remove) newest.key->remove(*newest.key, object, newest.value).discard();
        let_go(r, newest.key);
    }
    delete place;
    place = nullptr;
}

bool predefined_keyval(int keyval, ObjectKind kind) {
    if (kind == ObjectKind::comm) return keyval >= abi::tag_ub && keyval <= abi::universe_size;
    if (kind == ObjectKind::win) return keyval >= abi::win_base && keyval <= abi::win_model;
    return false;
}

}  // namespace lanyard
