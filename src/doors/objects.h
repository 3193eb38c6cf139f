// Finds the objects of an array of handles, and stores the handles of an array of objects, for the function
// bodies in functions/. An instance lies on the stack and has room for 64 pointers to objects. More pointers
// need memory from malloc. Each instance belongs to one call and is used on that call's thread.
// Tested by: tests/api/door_test.cc, tests/third_abi/program.cc.
#pragma once

#include <cstdlib>

#include "doors/handles.h"

namespace lanyard::doors {

template <class Abi, class Handle>
class Objects {
public:
    using Object = ObjectOf<Abi, Handle>;

    Objects() = default;
    Objects(const Objects &) = delete;
    Objects &operator=(const Objects &) = delete;
    ~Objects() {
        if (all_ != few_) std::free(all_);
    }

    Error find(const char *name, const Handle *handles, int64_t count) {
        return convert(name, handles, count, false);
    }
    Error find_or_null(const char *name, const Handle *handles, int64_t count) {
        return convert(name, handles, count, true);
    }
    // Finds datatypes for communication. `elements`: how many elements of each are communicated.
    template <class Number>
    Error find_committed(const char *name, const Handle *handles, int64_t count, const Number *elements) {
        Error error = check_array(name, handles, count);
        if (!error) error = make_room(name, count);
        for (int64_t i = 0; !error && i < count_; ++i) {
            bool nothing = elements && elements[i] == 0;
            error = doors::find_committed<Abi>(name, handles[i], all_[i], [=] { return nothing; });
        }
        return error;
    }
    // Reserves room for `count` objects that the typed function will store. Each element is nullptr
    // until then.
    Error reserve(const char *name, const Handle *handles, int64_t count) {
        Error error = check_array(name, handles, count);
        if (!error) error = make_room(name, count);
        for (int64_t i = 0; !error && i < count_; ++i) all_[i] = nullptr;
        return error;
    }

    Object **data() { return all_; }
    // Returns nullptr for an empty array, such as one that is not significant in this call.
    Object **data_or_null() { return count_ > 0 ? all_ : nullptr; }

    // store() stores the handles of all objects. store_found() stores only the handles of objects that the
    // typed function has stored.
    void store(Handle *handles) const {
        for (int64_t i = 0; i < count_; ++i) doors::store<Abi>(&handles[i], all_[i]);
    }
    void store_found(Handle *handles) const {
        for (int64_t i = 0; i < count_; ++i)
            if (all_[i]) doors::store<Abi>(&handles[i], all_[i]);
    }

private:
    static constexpr int64_t few = 64;

    Error make_room(const char *name, int64_t count) {
        if (count > few) {
            auto *many = static_cast<Object **>(std::malloc(static_cast<size_t>(count) * sizeof(Object *)));
            if (!many) return complaint::no_memory(name);
            all_ = many;
        }
        count_ = count > 0 ? count : 0;
        return {};
    }
    Error convert(const char *name, const Handle *handles, int64_t count, bool null_allowed) {
        Error error = check_array(name, handles, count);
        if (!error) error = make_room(name, count);
        Object **objects = all_;
        for (int64_t i = 0; !error && i < count; ++i) {
            Object *object = nullptr;
            if (!null_allowed || !Abi::is_null(handles[i]))
                error = doors::find<Abi>(name, handles[i], object);
            objects[i] = object;
        }
        return error;
    }

    Object *few_[few];
    Object **all_ = few_;
    int64_t count_ = 0;
};

}  // namespace lanyard::doors
