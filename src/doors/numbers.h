// Numbers and texts of the program on their way to a typed function and back, for the bodies in functions/.
// If the ABI has the standard's values, they pass unchanged, and the compiled code contains nothing of this.
// Each object belongs to one call and is on its stack.
#pragma once

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "api/check.h"

namespace lanyard::doors {

// A type of one of the two forms of a function: MPI_X, or MPI_X_c with large counts.
template <bool large, class Small, class Large>
using Form = std::conditional_t<large, Large, Small>;
template <bool large>
using Count = Form<large, int, int64_t>;

// A 64-bit result, for which MPI_X has only an int.
template <bool large>
class CountResult {
public:
    explicit CountResult(Count<large> *place) : place_(place) {}

    // Takes the program's value, for a typed function that also reads it.
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
    // The same, but a value that does not fit becomes MPI_UNDEFINED.
    void store_or_undefined() {
        if constexpr (!large) narrow_or_undefined(value_, place_);
    }

private:
    Count<large> *place_;
    int64_t value_ = 0;
};

// A result that may have another value in the ABI, which `out` computes. The address may be null if the
// function allows it.
template <class Abi, auto out, class Value = int>
class Result {
public:
    explicit Result(Value *place) : place_(place) {}

    // Takes the program's value, for a typed function that also reads it.
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

// Translates an array of `count` results.
template <class Abi, auto out>
inline void translate(int *values, int64_t count) {
    if constexpr (!Abi::of_the_standard)
        for (int64_t i = 0; values && i < count; ++i) values[i] = out(values[i]);
}

// An array of numbers that may have other values in the ABI; `in` computes the standard's. A short array is
// on the stack.
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

// Copies a string into an array that may be shorter than the library's.
inline void copy_text(const char *text, char *place, size_t room, int *length) {
    size_t whole = std::strlen(text), copied = whole < room ? whole : room - 1;
    std::memcpy(place, text, copied);
    place[copied] = 0;
    if (length) *length = static_cast<int>(copied);
}

// A text that is a result. The library fills up to `most` characters, and the program has `room`.
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

// A text may be as long as the library allows, which the library checks itself. This checks it if the ABI
// allows less.
template <size_t most, size_t room>
inline Error check_room(const char *name, const char *text, ErrorClass error_class) {
    if constexpr (room < most) return check_text_length(name, text, room, error_class);
    else return {};
}

}  // namespace lanyard::doors
