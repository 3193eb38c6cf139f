// From an error to what the program sees of it. raise() itself is declared in call.h, beside what it shows.
#pragma once

#include <string>

#include "api/call.h"
#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

// The code the program gets for an error whose MPI_Error_string is `text`.
int code_of(const ErrorRecord &record, const std::string &text);

// Does what the handler says; does not return if that is to end the job. A function of the program may change the code.
void call_handler(const Errhandler &handler, void *object, int &code, const std::string &text);

}  // namespace lanyard
