// Defines the typed functions (types.h) of error codes, classes and strings (MPI-5.0 sections 9.4 and 9.5).
// Any thread.
// Tested by: tests/mpi/errors/handlers.cc, tests/mpi/comm/queries.cc.
#include <algorithm>
#include <cstring>
#include <string>

#include "api/generated/core.h"
#include "api/generated/error_text.h"
#include "comm/error_codes.h"

namespace lanyard {

namespace {

std::string text_of_class(int error_class) {
    if (const ErrorText *text = find_error_text(error_class))
        return std::string(text->name) + ": " + text->sentence;
    return "error class " + std::to_string(error_class);
}

}  // namespace

extern "C" {

Error lanyard_error_class(int errorcode, int *errorclass) {
    CodeMeaning meaning = meaning_of(errorcode);
    *errorclass = meaning.known ? meaning.error_class : abi::err_unknown;
    return {};
}

Error lanyard_error_string(int errorcode, char *string, int *resultlen) {
    CodeMeaning meaning = meaning_of(errorcode);
    if (!meaning.known)
        return Error(ErrorClass::arg, std::to_string(errorcode) + " is not an error code, or was removed");
    std::string text = meaning.has_text ? meaning.text : text_of_class(meaning.error_class);
    size_t length = std::min(text.size(), static_cast<size_t>(abi::max_error_string) - 1);
    std::memcpy(string, text.data(), length);
    string[length] = 0;
    *resultlen = static_cast<int>(length);
    return {};
}

Error lanyard_add_error_class(int *errorclass) {
    *errorclass = add_error_class();
    return {};
}

Error lanyard_add_error_code(int errorclass, int *errorcode) {
    return add_error_code(errorclass, *errorcode);
}
Error lanyard_add_error_string(int errorcode, const char *string) {
    return add_error_string(errorcode, string);
}
Error lanyard_remove_error_class(int errorclass) { return remove_error_class(errorclass); }
Error lanyard_remove_error_code(int errorcode) { return remove_error_code(errorcode); }
Error lanyard_remove_error_string(int errorcode) { return remove_error_string(errorcode); }

}  // extern "C"

}  // namespace lanyard
