// Translates numbers and texts that the program passes to a typed function, and results of that function for
// the program. The function bodies in functions/ use these classes. If the ABI has the standard's values,
// numbers pass unchanged, and the classes add no machine code. Each object belongs to one call and is on that
// call's stack.
#pragma once

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "api/check.h"

namespace lanyard::doors {

// The type of a parameter in one of the two forms of a function: Small in MPI_X, or Large in
// MPI_X_c, which has large counts.
template <bool large, class Small, class Large>
using Form = std::conditional_t<large, Large, Small>;
template <bool large>
using Count = Form<large, int, int64_t>;

// A result that has 64 bits in the typed function and in MPI_X_c, but is an int in MPI_X.
template <bool large>
class CountResult {
public:
    explicit CountResult(Count<large> *place) : place_(place) {}

    // Takes over the program's value. Called if the typed function also reads it.
    void read() {
        if constexpr (!large) value_ = *place_;
    }
    int64_t *data() {
        if constexpr (large) return place_;
        else return &value_;
    }
    Error store(const char *name) {
        if constexpr (large) return {};
        else return narrow(name, value_, place_);
    }
    // Stores the result. A value that does not fit becomes MPI_UNDEFINED.
    void store_or_undefined() {
        if constexpr (!large) narrow_or_undefined(value_, place_);
    }

private:
    Count<large> *place_;
    int64_t value_ = 0;
};

// A result for which the ABI may have another number than the standard; `out` translates it. `place`
// may be nullptr if the MPI function allows that.
template <class Abi, auto out, class Value = int>
class Result {
public:
    explicit Result(Value *place) : place_(place) {}

    // Takes over the program's value. Called if the typed function also reads it.
    void read(Value (*in)(Value)) {
        if constexpr (!Abi::of_the_standard) value_ = in(*place_);
    }
    Value *data() {
        if constexpr (Abi::of_the_standard) return place_;
        else return place_ ? &value_ : nullptr;
    }
    void store() {
        if constexpr (!Abi::of_the_standard)
            if (place_) *place_ = out(value_);
    }

private:
    Value *place_;
    Value value_{};
};

// Translates an array of `count` results in place.
template <class Abi, auto out>
inline void translate(int *values, int64_t count) {
    if constexpr (!Abi::of_the_standard)
        for (int64_t i = 0; values && i < count; ++i) values[i] = out(values[i]);
}

// An array of numbers for which the ABI may have other values than the standard; `in` translates each of
// them to the standard's value. The translated array is in this object if it is short, otherwise in
// allocated memory.
template <class Abi, auto in>
class Translated {
public:
    Translated() = default;
    Translated(const Translated &) = delete;
    Translated &operator=(const Translated &) = delete;
    ~Translated() {
        if (all_ != few_) std::free(all_);
    }

    Error read(const char *name, const int *given, int64_t count) {
        Error error = check_array(name, given, count);
        if (error) return error;
        if (count > few) {
            auto *many = static_cast<int *>(std::malloc(static_cast<size_t>(count) * sizeof(int)));
            if (!many) return complaint::no_memory(name);
            all_ = many;
        }
        for (int64_t i = 0; i < count; ++i) all_[i] = in(given[i]);
        return {};
    }
    const int *data() const { return all_; }

private:
    static constexpr int64_t few = 64;

    int few_[few];
    int *all_ = few_;
};
template <class Abi, auto in>
    requires Abi::of_the_standard
class Translated<Abi, in> {
public:
    Error read(const char *name, const int *given, int64_t count) {
        given_ = given;
        return check_array(name, given, count);
    }
    const int *data() const { return given_; }

private:
    const int *given_ = nullptr;
};

// Copies a text into an array of `room` characters and cuts it off if it is too long.
inline void copy_text(const char *text, char *place, size_t room, int *length) {
    size_t whole = std::strlen(text), copied = whole < room ? whole : room - 1;
    std::memcpy(place, text, copied);
    place[copied] = 0;
    if (length) *length = static_cast<int>(copied);
}

// A text that is a result. The library writes up to `most` characters, and the program's array has
// `room` characters.
template <size_t most, size_t room>
class TextResult {
public:
    explicit TextResult(char *place) : place_(place) {}
    char *data() { return text_; }
    void store(int *length = nullptr) { copy_text(text_, place_, room, length); }

private:
    char *place_;
    char text_[most] = "";
};
template <size_t most, size_t room>
    requires(room >= most)
class TextResult<most, room> {
public:
    explicit TextResult(char *place) : place_(place) {}
    char *data() { return place_; }
    void store(int * = nullptr) {}

private:
    char *place_;
};

// Checks the length of a text that the program passes, if the ABI allows a shorter text (`room`) than the
// library (`most`). The library checks its own limit itself.
template <size_t most, size_t room>
inline Error check_room(const char *name, const char *text, ErrorClass error_class) {
    if constexpr (room < most) return check_text_length(name, text, room, error_class);
    else return {};
}

}  // namespace lanyard::doors
