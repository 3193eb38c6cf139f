// Checks arguments. An ABI front end makes these checks before it calls a typed function (types.h). The tests
// are cheap and inline. The error messages are built out of line, in the core (check.cc). The generated entry
// points of every ABI call these checks, on any thread. Each check returns success or an error with the class
// that the standard prescribes. `name` is the argument's name in the standard.
// Tested by: tests/failures/test_arguments.py, tests/api/door_test.cc.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "api/state.h"
#include "api/timed_call.h"
#include "api/types.h"
#include "base/error.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "p2p/promises.h"

namespace lanyard {

// The rarely executed halves of the checks, which build the errors.
namespace complaint {
#pragma GCC visibility push(default)
[[gnu::cold]] Error not_active(ProcessState state);
[[gnu::cold]] Error not_implemented(const char *function, int code);
[[gnu::cold]] Error bad_handle(const char *name, uint64_t handle, int null_handle, ErrorClass error_class);
// For a handle that belongs to an ABI other than that of the front end `called`.
[[gnu::cold]] Error foreign_handle(const char *name, const Door &called, ErrorClass error_class);
[[gnu::cold]] Error bad_type(const char *name, const Datatype &datatype);
[[gnu::cold]] Error negative(const char *name, int64_t value, ErrorClass error_class);
[[gnu::cold]] Error negative_count(const char *name, int64_t place, int64_t value);
[[gnu::cold]] Error not_positive(const char *name, int64_t value, ErrorClass error_class);
[[gnu::cold]] Error too_long(const char *name, size_t length, size_t most, ErrorClass error_class);
[[gnu::cold]] Error null_pointer(const char *name, ErrorClass error_class);
// For a buffer that is a null pointer or MPI_IN_PLACE, or whose data is too large. Returns no error if
// a null pointer is allowed here.
[[gnu::cold]] Error doubtful_buffer(const char *name, const void *buffer, int64_t count,
                                    const Datatype &datatype);
[[gnu::cold]] Error not_in_place(const char *name);
[[gnu::cold]] Error bad_rank(const char *name, int rank, const Comm &comm, ErrorClass error_class);
[[gnu::cold]] Error bad_tag(const char *name, int tag);
[[gnu::cold]] Error bad_recv_tag(const char *name, int tag);
[[gnu::cold]] Error bad_color(int color);
[[gnu::cold]] Error too_large(const char *name, int64_t value);
[[gnu::cold]] Error no_memory(const char *name);
#pragma GCC visibility pop
}  // namespace complaint

inline Error check_active(ProcessState state = process_state()) {
    return state == ProcessState::active ? Error() : complaint::not_active(state);
}

// Checks that the core defines the typed function. If it does not, the address is 0, because the
// front ends declare every typed function weak.
template <class Typed>
inline Error check_available(Typed *function, const char *name, int code = abi::err_unsupported_operation) {
    return function ? Error() : complaint::not_implemented(name, code);
}

inline Error check_committed(const char *name, const Datatype &datatype) {
    return datatype.committed && datatype.supported ? Error() : complaint::bad_type(name, datatype);
}
inline Error check_count(const char *name, int64_t count) {
    return count >= 0 ? Error() : complaint::negative(name, count, ErrorClass::count);
}
inline Error check_size(const char *name, int64_t size) {
    return size >= 0 ? Error() : complaint::negative(name, size, ErrorClass::size);
}
inline Error check_length(const char *name, int64_t length, ErrorClass error_class = ErrorClass::arg) {
    return length >= 0 ? Error() : complaint::negative(name, length, error_class);
}
inline Error check_unit(const char *name, int64_t unit) {
    return unit > 0 ? Error() : complaint::not_positive(name, unit, ErrorClass::disp);
}
inline Error check_color(const char *, int color) {
    return color >= 0 || color == abi::undefined ? Error() : complaint::bad_color(color);
}
inline Error check_string(const char *name, const char *text) {
    return text ? Error() : complaint::null_pointer(name, ErrorClass::arg);
}
// Checks that the text and its zero byte fit into `room` characters.
inline Error check_text_length(const char *name, const char *text, size_t room, ErrorClass error_class) {
    size_t length = __builtin_strlen(text);
    return length < room ? Error() : complaint::too_long(name, length, room - 1, error_class);
}
// Checks the address at which a result is to be stored.
inline Error check_out(const char *name, const void *address) {
    return address ? Error() : complaint::null_pointer(name, ErrorClass::arg);
}
// Checks an array of `length` values that the call reads or writes.
inline Error check_array(const char *name, const void *array, int64_t length) {
    return array || length <= 0 ? Error() : complaint::null_pointer(name, ErrorClass::arg);
}
// Checks an array of `length` counts, none of which may be negative.
template <class Count>
[[gnu::always_inline]] inline Error check_counts(const char *name, const Count *counts, int64_t length) {
    if (!counts) return check_array(name, counts, length);
    for (int64_t i = 0; i < length; ++i)
        if (counts[i] < 0) return complaint::negative_count(name, i, counts[i]);
    return {};
}

// True if all counts are 0, so that nothing is to be transferred. The counts need not have been
// checked before.
template <class Count>
inline bool all_zero(const Count *counts, int64_t length) {
    if (!counts) return false;
    for (int64_t i = 0; i < length; ++i)
        if (counts[i] != 0) return false;
    return true;
}

inline int value_or_0(const int *place) { return place ? *place : 0; }

inline bool in_group(int rank, const Comm &comm) {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(comm.size);
}

inline Error check_dest(const char *name, int rank, const Comm &comm) {
    return in_group(rank, comm) || rank == abi::proc_null
               ? Error()
               : complaint::bad_rank(name, rank, comm, ErrorClass::rank);
}
inline Error check_source(const char *name, int rank, const Comm &comm) {
    return in_group(rank, comm) || rank == abi::proc_null ||
                   (rank == abi::any_source && !(comm.promised & promise::no_any_source))
               ? Error()
               : complaint::bad_rank(name, rank, comm, ErrorClass::rank);
}
// On an intercommunicator, processes in the root's group pass MPI_ROOT or MPI_PROC_NULL, and processes in
// the other group pass the root's rank.
inline Error check_root(const char *name, int root, const Comm &comm) {
    return in_group(root, comm) || (comm.remote_group && (root == abi::root || root == abi::proc_null))
               ? Error()
               : complaint::bad_rank(name, root, comm, ErrorClass::root);
}
inline Error check_tag(const char *name, int tag) {
    return tag >= 0 ? Error() : complaint::bad_tag(name, tag);
}
inline Error check_recv_tag(const char *name, int tag, const Comm &comm) {
    return tag >= 0 || (tag == abi::any_tag && !(comm.promised & promise::no_any_tag))
               ? Error()
               : complaint::bad_recv_tag(name, tag);
}

// at_root(): is this process the root of a rooted collective? at_leaf(): is it one of the processes
// whose data the root collects or distributes? On an intracommunicator, both hold for the root.
inline bool at_root(int root, const Comm &comm) {
    return comm.remote_group ? root == abi::root : root == comm.rank;
}
inline bool at_leaf(int root, const Comm &comm) { return !comm.remote_group || root >= 0; }
// A process that takes no part belongs to the root's group of an intercommunicator and passes
// MPI_PROC_NULL.
inline bool takes_part(int root, const Comm &) { return root != abi::proc_null; }

// How many neighbours this process has in the communicator's topology: those from which it receives (`in`)
// and those to which it sends (`out`). 0 if there is no topology, or the core does not implement topologies.
struct Neighbors {
    int in = 0, out = 0;
};
extern "C" [[gnu::weak, gnu::visibility("default")]] Neighbors lanyard_neighbors(const Comm &comm);
inline Neighbors neighbors(const Comm &comm) {
    return lanyard_neighbors ? lanyard_neighbors(comm) : Neighbors();
}

// A null buffer is valid only if nothing is transferred, or if it is MPI_BOTTOM and the datatype itself may
// contain addresses. The multiplication can overflow, because a derived datatype that uses the same bytes
// repeatedly can describe more data than 64 bits can count.
inline Error check_buffer(const char *name, const void *buffer, int64_t count, const Datatype &datatype) {
    int64_t bytes;
    bool doubtful = __builtin_mul_overflow(count, datatype.size, &bytes) ||
                    reinterpret_cast<uintptr_t>(buffer) <= abi::in_place;
    return doubtful ? complaint::doubtful_buffer(name, buffer, count, datatype) : Error();
}
// For a buffer about which the front end can check nothing else, because it does not know the
// extent.
inline Error check_not_in_place(const char *name, const void *buffer) {
    return in_place(buffer) ? complaint::not_in_place(name) : Error();
}
// For buffers that may be MPI_IN_PLACE. The first function allows it only at the root of an
// intracommunicator, the second on any intracommunicator.
inline Error check_in_place_at_root(const char *name, const void *buffer, int root, const Comm &comm) {
    return in_place(buffer) && (comm.remote_group || root != comm.rank) ? complaint::not_in_place(name)
                                                                        : Error();
}
inline Error check_in_place(const char *name, const void *buffer, const Comm &comm) {
    return in_place(buffer) && comm.remote_group ? complaint::not_in_place(name) : Error();
}

// Stores a 64-bit result in an int of the program. Returns an error if the value does not fit.
inline Error narrow(const char *name, int64_t value, int *result) {
    if (value < INT_MIN || value > INT_MAX) return complaint::too_large(name, value);
    *result = static_cast<int>(value);
    return {};
}
// Like narrow(), for results for which the standard requires MPI_UNDEFINED if the value does not fit.
inline void narrow_or_undefined(int64_t value, int *result) {
    *result = value < INT_MIN || value > INT_MAX ? abi::undefined : static_cast<int>(value);
}

inline Counts counts(const int *values) { return {values, sizeof(int)}; }
inline Counts counts(const int64_t *values) { return {values, sizeof(int64_t)}; }

}  // namespace lanyard
