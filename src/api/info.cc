// Defines the typed functions (types.h) of info objects (MPI-5.0 chapter 10). The program may call them at
// any time, even before MPI_Init, on any thread.
// Tested by: tests/mpi/comm/info.cc, tests/mpi/random/locals.cc.
#include "comm/info.h"

#include <algorithm>
#include <cstring>

#include "api/activity.h"
#include "api/generated/core.h"

namespace lanyard {

namespace {

Error no_memory() { return Error(ErrorClass::no_mem, "there is no memory left for another info object"); }

Error check_changeable(const Info &info) {
    if (!info.predefined()) return {};
    return Error(ErrorClass::info, "MPI_INFO_ENV can only be read; make a copy with MPI_Info_dup");
}

Error give(Info *made, Info **info) {
    *info = made;
    return made ? Error() : no_memory();
}

// Copies at most `room` characters and adds the zero byte.
void copy_value(const std::string &value, char *to, size_t room) {
    size_t length = std::min(value.size(), room);
    std::memcpy(to, value.data(), length);
    to[length] = 0;
}

}  // namespace

extern "C" {

Error lanyard_info_create(Info **info) { return give(new_info(), info); }

Error lanyard_info_create_env(int, char **, Info **info) {
    if (Error error = give(new_info(), info)) return error;
    fill_environment(**info, startup_facts());
    return {};
}

Error lanyard_info_dup(Info &info, Info **newinfo) { return give(duplicate(info), newinfo); }

Error lanyard_info_free(Info *&info) {
    if (Error error = check_changeable(*info)) return error;
    release_info(info);
    info = nullptr;
    return {};
}

Error lanyard_info_set(Info &info, const char *key, const char *value) {
    if (Error error = check_changeable(info)) return error;
    return info.set(key, value);
}

Error lanyard_info_delete(Info &info, const char *key) {
    if (Error error = check_changeable(info)) return error;
    return info.remove(key);
}

Error lanyard_info_get(Info &info, const char *key, int valuelen, char *value, int *flag) {
    std::string kept;
    bool found = false;
    if (Error error = info.get(key, kept, found)) return error;
    *flag = found;
    if (found) copy_value(kept, value, static_cast<size_t>(std::max(valuelen, 0)));
    return {};
}

Error lanyard_info_get_valuelen(Info &info, const char *key, int *valuelen, int *flag) {
    std::string kept;
    bool found = false;
    if (Error error = info.get(key, kept, found)) return error;
    *flag = found;
    if (found) *valuelen = static_cast<int>(kept.size());
    return {};
}

// On entry, `buflen` is the size of the array `value`, including the zero byte. On return, it is the size
// that the complete value needs. If `buflen` is 0 on entry, the program wants to know only this size, and
// `value` may be NULL.
Error lanyard_info_get_string(Info &info, const char *key, int *buflen, char *value, int *flag) {
    if (*buflen > 0 && !value)
        return Error(ErrorClass::arg, "value is a null pointer, though buflen is " + std::to_string(*buflen));
    std::string kept;
    bool found = false;
    if (Error error = info.get(key, kept, found)) return error;
    *flag = found;
    if (!found) return {};
    if (*buflen > 0) copy_value(kept, value, static_cast<size_t>(*buflen) - 1);
    *buflen = static_cast<int>(kept.size()) + 1;
    return {};
}

Error lanyard_info_get_nkeys(Info &info, int *nkeys) {
    *nkeys = info.keys();
    return {};
}

Error lanyard_info_get_nthkey(Info &info, int n, char *key) {
    std::string kept;
    if (Error error = info.nth_key(n, kept)) return error;
    copy_value(kept, key, max_info_key_length);
    return {};
}

}  // extern "C"

}  // namespace lanyard
