// Declares the types of the interface between the ABI front ends and the typed functions. A typed function is
// the function in the core library behind an MPI function (generated/core.h). It works with objects instead
// of handles, 64-bit counts, a status and callbacks. Included by every front end and by every file that
// defines typed functions. Plain values, so no thread rule.
// Tested by: tests/api/door_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/abi_constants.h"

namespace lanyard {

struct Comm;
struct Datatype;
struct Door;  // door.h
struct Errhandler;
struct File;
struct Group;
struct Info;
struct Message;  // NOLINT(bugprone-forward-declaration-namespace): GoogleTest has another Message
struct Op;
struct Request;
struct Session;
struct Win;

// Objects of the tool information interface.
struct ToolEnum;
struct CvarHandle;
struct PvarHandle;
struct PvarSession;
struct EventRegistration;
struct EventInstance;

// A status. It consists of 8 int, as in the standard's ABI, so that the front end of that ABI can pass the
// program's pointer unchanged. Other front ends convert.
struct Status {
    int32_t source;
    int32_t tag;
    int32_t error;
    // the bytes received, or the bytes of the elements that the program has set; two halves, because the
    // struct has the alignment of int
    uint32_t count_low, count_high;
    int32_t cancelled;
    int32_t reserved[2];

    int64_t count() const { return static_cast<int64_t>(uint64_t{count_high} << 32 | count_low); }
    void set_count(int64_t count) {
        count_low = static_cast<uint32_t>(count);
        count_high = static_cast<uint32_t>(static_cast<uint64_t>(count) >> 32);
    }
};
static_assert(sizeof(Status) == 32 && alignof(Status) == 4);

// An array of counts or displacements of either width, read as 64-bit values. The array may be absent.
struct Counts {
    const void *data = nullptr;
    int width = 8;  // bytes of one value: 4 or 8

    explicit operator bool() const { return data != nullptr; }
    int64_t operator[](int64_t i) const {
        return width == 4 ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
    }
};

// A function of the program and the front end through which the program passed it; only that front end
// can call it correctly. The value of `function` may also be one of the ABI's constants (0: none, 1:
// duplicate).
struct Callback {
    void (*function)() = nullptr;
    const Door *door = nullptr;
    // passed through a large-count form: the function takes MPI_Count instead of int
    bool large_count = false;

    bool is(uintptr_t constant) const { return reinterpret_cast<uintptr_t>(function) == constant; }
};

// The object to which a variable or event of the tool information interface is bound: the address of the
// program's handle, and the front end that can read it.
struct ToolObject {
    const void *handle = nullptr;
    const Door *door = nullptr;
};

// Special values that the program may pass instead of the address of a buffer or array.
inline bool in_place(const void *buffer) { return reinterpret_cast<uintptr_t>(buffer) == abi::in_place; }
inline bool unweighted(const int *weights) { return reinterpret_cast<uintptr_t>(weights) == abi::unweighted; }
inline bool no_weights(const int *weights) {
    return reinterpret_cast<uintptr_t>(weights) == abi::weights_empty;
}

// The program's tags range from 0 to this value, which is the attribute MPI_TAG_UB.
inline constexpr int tag_upper_bound = 0x7fffffff;

}  // namespace lanyard
