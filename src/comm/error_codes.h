// Manages the error codes that a program sees (MPI-5.0 sections 9.4 and 9.5): the standard's classes;
// classes, codes and strings that the program adds; and codes that each stand for one failure and its
// sentence. All of these belong to the process. Thread-safe.
//
// A failure's code is 1 << 29 | generation << 16 | slot << 8 | class. The last 256 sentences are kept. The
// generation shows whether a code is older than the sentence in its slot; such a code still yields its class.
// Generations repeat after 2^21 failures.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace lanyard {

// Returns the code for a failure of a standard class. MPI_Error_string then returns the sentence.
int code_of_failure(ErrorClass error_class, std::string_view sentence);

struct CodeMeaning {
    bool known = false;
    int error_class = 0;
    // The sentence of a recent failure, or the string that the program has added, which is empty until then.
    // If has_text is false, the text of the class applies, which is one of the standard's.
    std::string text;
    bool has_text = false;
};
CodeMeaning meaning_of(int code);

int add_error_class();
Error add_error_code(int error_class, int &code);
Error add_error_string(int code, std::string_view text);
Error remove_error_class(int error_class);
Error remove_error_code(int code);
Error remove_error_string(int code);

// The value of the attribute MPI_LASTUSEDCODE. Its address stays valid.
int *last_used_code();

}  // namespace lanyard
