// Builds the error messages about wrong arguments. These functions are the rarely executed halves of the
// checks in check.h.
#include "api/check.h"

#include <string>

#include "api/call.h"
#include "api/door.h"

namespace lanyard::complaint {

namespace {

std::string quoted_type(const Datatype &datatype) {
    if (const char *name = datatype.predefined() ? predefined_handle_name(datatype.abi_value) : nullptr)
        return name;
    std::string name = datatype.name.get();
    return name.empty() ? "this datatype" : "the datatype \"" + name + "\"";
}

struct HandleKind {
    int null_handle;
    const char *noun;
};

// Each kind of handle is identified by its null handle.
constexpr HandleKind handle_kinds[] = {
    {abi::comm_null, "communicator"}, {abi::group_null, "group"},           {abi::win_null, "window"},
    {abi::file_null, "file"},         {abi::session_null, "session"},       {abi::message_null, "message"},
    {abi::info_null, "info object"},  {abi::errhandler_null, "error handler"}, {abi::request_null, "request"},
    {abi::datatype_null, "datatype"}, {abi::op_null, "reduction operation"},
};

const char *noun_of(int null_handle) {
    for (const HandleKind &kind : handle_kinds)
        if (kind.null_handle == null_handle) return kind.noun;
    return "object";
}

std::string ranks_of(const Comm &comm) {
    if (comm.size == 0) return "it has no ranks";
    return comm.size == 1 ? "it has rank 0 only" : "it has ranks 0 to " + std::to_string(comm.size - 1);
}

}  // namespace

Error not_active(ProcessState state) {
    switch (state) {
    case ProcessState::before:
        return {ErrorClass::other,
                "MPI is not initialised; call MPI_Init, MPI_Init_thread or MPI_Session_init first"};
    case ProcessState::finalized:
        return {ErrorClass::other, "MPI is finalised; nothing but queries of its state may be called now"};
    case ProcessState::forked:
        return {
            ErrorClass::other,
            "this process was made by fork() and is not part of the MPI job; only its parent may call MPI"};
    case ProcessState::active:
    case ProcessState::timed: break;
    }
    return {};
}

Error not_implemented(const char *function, int code) {
    return {code, std::string(function) + " is not implemented in Lanyard " LANYARD_VERSION
                                          "; lanyard info --missing lists what is missing"};
}

Error bad_handle(const char *name, uint64_t handle, int null_handle, ErrorClass error_class) {
    std::string noun = noun_of(null_handle);
    const char *known = handle < 0x1000 ? predefined_handle_name(static_cast<int>(handle)) : nullptr;
    if (handle == static_cast<uint64_t>(null_handle))
        return {error_class, std::string(name) + " is " + known};
    if (known) return {error_class, std::string(name) + " is " + known + ", which is no " + noun};
    if (handle == 0) return {error_class, std::string(name) + " is 0, which is no " + noun};
    return {error_class, std::string(name) + " is no " + noun + ": it was freed or never made"};
}

Error foreign_handle(const char *name, const Door &called, ErrorClass error_class) {
    return {error_class, std::string(name) + " is no handle of " + called.abi +
                             ", to which this function belongs (" + called.library +
                             "): this program, or a part of it, was compiled with " + called.other_header +
                             "; " + called.advice};
}

Error bad_type(const char *name, const Datatype &datatype) {
    std::string type = quoted_type(datatype);
    if (!datatype.supported) return {ErrorClass::type, type + " is not supported on this machine"};
    return {ErrorClass::type,
            std::string(name) + ": " + type + " is not committed; call MPI_Type_commit first"};
}

Error negative(const char *name, int64_t value, ErrorClass error_class) {
    return {error_class, std::string(name) + " is " + std::to_string(value) + " but must not be negative"};
}

Error negative_count(const char *name, int64_t place, int64_t value) {
    return negative((std::string(name) + "[" + std::to_string(place) + "]").c_str(), value,
                    ErrorClass::count);
}

Error not_positive(const char *name, int64_t value, ErrorClass error_class) {
    return {error_class, std::string(name) + " is " + std::to_string(value) + " but must be at least 1"};
}

Error too_long(const char *name, size_t length, size_t most, ErrorClass error_class) {
    return {error_class, std::string(name) + " has " + std::to_string(length) + " characters; at most " +
                             std::to_string(most) + " are allowed"};
}

Error null_pointer(const char *name, ErrorClass error_class) {
    return {error_class, std::string(name) + " is a null pointer"};
}

Error doubtful_buffer(const char *name, const void *buffer, int64_t count, const Datatype &datatype) {
    int64_t bytes;
    if (__builtin_mul_overflow(count, datatype.size, &bytes))
        return {ErrorClass::count, std::string(name) + ": " + std::to_string(count) + " of " +
                                       quoted_type(datatype) + " with " + std::to_string(datatype.size) +
                                       " bytes each are more than 2^63 bytes"};
    if (buffer) return not_in_place(name);
    if (count <= 0 || datatype.size == 0 || !datatype.predefined()) return {};
    return {ErrorClass::buffer, std::string(name) + " is a null pointer but " + std::to_string(count) +
                                    " of " + quoted_type(datatype) + " are to be there"};
}

Error not_in_place(const char *name) {
    return {ErrorClass::buffer, std::string(name) + " may not be MPI_IN_PLACE here"};
}

Error bad_rank(const char *name, int rank, const Comm &comm, ErrorClass error_class) {
    std::string text = rank == abi::any_source  ? "MPI_ANY_SOURCE"
                       : rank == abi::proc_null ? "MPI_PROC_NULL"
                       : rank == abi::root      ? "MPI_ROOT"
                                                : std::to_string(rank);
    if (rank == abi::any_source && (comm.promised & promise::no_any_source))
        return {error_class,
                std::string(name) +
                    " is MPI_ANY_SOURCE, although mpi_assert_no_any_source was set on the communicator"};
    if (text[0] == 'M') return {error_class, std::string(name) + " may not be " + text + " here"};
    return {error_class, std::string(name) + " is " + text + ", which is not a rank of the communicator; " +
                             ranks_of(comm)};
}

Error bad_tag(const char *name, int tag) {
    if (tag == abi::any_tag) return {ErrorClass::tag, std::string(name) + " may not be MPI_ANY_TAG here"};
    return {ErrorClass::tag, std::string(name) + " is " + std::to_string(tag) + " but must be from 0 to " +
                                 std::to_string(tag_upper_bound)};
}

Error bad_recv_tag(const char *name, int tag) {
    if (tag == abi::any_tag)
        return {ErrorClass::tag,
                std::string(name) +
                    " is MPI_ANY_TAG, although mpi_assert_no_any_tag was set on the communicator"};
    return {ErrorClass::tag, std::string(name) + " is " + std::to_string(tag) + " but must be from 0 to " +
                                 std::to_string(tag_upper_bound) + ", or MPI_ANY_TAG"};
}

Error bad_color(int color) {
    return {ErrorClass::arg,
            "color is " + std::to_string(color) + " but must be at least 0, or MPI_UNDEFINED"};
}

Error too_large(const char *name, int64_t value) {
    return {ErrorClass::value_too_large,
            std::string(name) + " would be " + std::to_string(value) +
                ", which does not fit into an int; use the large-count form of the call"};
}

Error no_memory(const char *name) {
    return {ErrorClass::no_mem, std::string("no memory to convert the array ") + name};
}

}  // namespace lanyard::complaint
