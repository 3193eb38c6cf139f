// Defines the typed functions (types.h) that pack, unpack and count (MPI-5.0 sections 5.2, 5.3 and 3.2.5).
// The library's packed form is the bytes of the data without gaps. Any thread.
// Tested by: tests/mpi/datatype/layouts.cc, tests/mpi/datatype/datatypes.c, tests/mpi/datatype/spans.cc.
#include <algorithm>
#include <cstring>
#include <string>

#include "api/generated/core.h"
#include "api/types.h"
#include "datatype/cursor.h"
#include "datatype/elements.h"
#include "datatype/external32.h"

namespace lanyard {

namespace {

Buffer buffer_at(const void *address, int64_t count, Datatype &datatype) {
    return {static_cast<std::byte *>(const_cast<void *>(address)), count, &datatype};
}

// Checks that `count` elements of `size` bytes fit into a packed buffer of `room` bytes behind
// `position`.
Error check_room(int64_t count, int64_t size, int64_t room, int64_t position) {
    __int128 bytes = static_cast<__int128>(count) * size;
    if (position < 0)
        return Error(ErrorClass::arg,
                     "the position is " + std::to_string(position) + "; it must not be negative");
    if (bytes <= static_cast<__int128>(room) - position) return {};
    return Error(ErrorClass::truncate, std::to_string(count) + " elements of " + std::to_string(size) +
                                           " packed bytes do not fit between position " +
                                           std::to_string(position) + " and the end at " +
                                           std::to_string(room));
}

Error packed_size(int64_t count, int64_t size, int64_t *result) {
    __int128 bytes = static_cast<__int128>(count) * size;
    if (bytes > INT64_MAX) return Error(ErrorClass::count, "the packed data would be larger than 2^63 bytes");
    *result = static_cast<int64_t>(bytes);
    return {};
}

Error check_representation(const char *datarep) {
    if (std::strcmp(datarep, "external32") == 0) return {};
    return Error(ErrorClass::arg, std::string("the data representation is \"") + datarep +
                                      "\"; only \"external32\" is defined");
}

}  // namespace

Error lanyard_pack(const void *inbuf, int64_t incount, Datatype &datatype, void *outbuf, int64_t outsize,
                   int64_t *position, Comm &) {
    if (Error error = check_room(incount, datatype.size, outsize, *position)) return error;
    Cursor cursor(buffer_at(inbuf, incount, datatype));
    *position += static_cast<int64_t>(
        cursor.pack(static_cast<std::byte *>(outbuf) + *position, static_cast<size_t>(cursor.remaining())));
    return {};
}

Error lanyard_unpack(const void *inbuf, int64_t insize, int64_t *position, void *outbuf, int64_t outcount,
                     Datatype &datatype, Comm &) {
    if (Error error = check_room(outcount, datatype.size, insize, *position)) return error;
    Cursor cursor(buffer_at(outbuf, outcount, datatype));
    const std::byte *from = static_cast<const std::byte *>(inbuf) + *position;
    *position += static_cast<int64_t>(cursor.unpack(from, static_cast<size_t>(cursor.remaining())));
    return {};
}

Error lanyard_pack_size(int64_t incount, Datatype &datatype, Comm &, int64_t *size) {
    return packed_size(incount, datatype.size, size);
}

Error lanyard_pack_external(const char *datarep, const void *inbuf, int64_t incount, Datatype &datatype,
                            void *outbuf, int64_t outsize, int64_t *position) {
    if (Error error = check_representation(datarep)) return error;
    int64_t size = external32_size(datatype);
    if (Error error = check_room(incount, size, outsize, *position)) return error;
    to_external32(buffer_at(inbuf, incount, datatype), static_cast<std::byte *>(outbuf) + *position);
    *position += incount * size;
    return {};
}

Error lanyard_unpack_external(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                              void *outbuf, int64_t outcount, Datatype &datatype) {
    if (Error error = check_representation(datarep)) return error;
    int64_t size = external32_size(datatype);
    if (Error error = check_room(outcount, size, insize, *position)) return error;
    from_external32(static_cast<const std::byte *>(inbuf) + *position, buffer_at(outbuf, outcount, datatype));
    *position += outcount * size;
    return {};
}

Error lanyard_pack_external_size(const char *datarep, int64_t incount, Datatype &datatype, int64_t *size) {
    if (Error error = check_representation(datarep)) return error;
    return packed_size(incount, external32_size(datatype), size);
}

Error lanyard_get_address(const void *location, int64_t *address) {
    *address = static_cast<int64_t>(reinterpret_cast<intptr_t>(location));
    return {};
}

Error lanyard_get_count(const Status &status, Datatype &datatype, int64_t *count) {
    *count = whole_count(datatype, status.count());
    return {};
}

Error lanyard_get_elements(const Status &status, Datatype &datatype, int64_t *count) {
    *count = basic_elements(datatype, status.count());
    return {};
}

Error lanyard_status_set_elements(Status &status, Datatype &datatype, int64_t count) {
    if (count < 0)
        return Error(ErrorClass::count,
                     "the count is " + std::to_string(count) + "; it must not be negative");
    __int128 most =
        (static_cast<__int128>(count / std::max<int64_t>(datatype.elements, 1)) + 1) * datatype.size;
    if (most > INT64_MAX)
        return Error(ErrorClass::count, std::to_string(count) + " elements would be more than 2^63 bytes");
    status.set_count(bytes_of_elements(datatype, count));
    return {};
}

}  // namespace lanyard
