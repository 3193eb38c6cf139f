// Defines a check for the programs of this folder, in addition to comm/check.h. Uses MPI functions only.
#pragma once

#include "comm/check.h"

// Checks that the call failed with this error class and that its message contains these words.
inline void check_error(int code, int wanted, const std::string &words,
                        const std::source_location &where = std::source_location::current()) {
    check_class(code, wanted, where);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    check(std::string(text).find(words) != std::string::npos,
          std::string(text) + " (does not say: " + words + ")", where);
}
