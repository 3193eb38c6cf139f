// From an error to what the program sees of it. raise() itself is declared in call.h, beside what it shows.
#pragma once

#include <string>

#include "api/call.h"
#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

// The code the program gets for an error whose MPI_Error_string is `text`.
int code_of(const ErrorRecord &record, const std::string &text);

// " on rank 2 (its host)", the rank where it is known.
std::string here();

// Does what the handler of `on` says; does not return if that is to end the job. A function of the program may change the code.
void call_handler(const Errhandler &handler, RaiseOn on, int &code, const std::string &text);

// What errors meet that belong to no object while there is no MPI_COMM_SELF, and what the predefined communicators begin with: chosen
// when the program is started (mpirun --initial-errhandler, LANYARD_INITIAL_ERRHANDLER).
Errhandler &initial_errhandler();

// The handler of a file, of nullptr the one that files begin with (MPI_FILE_NULL).
Errhandler *&handler_of(File *file);

}  // namespace lanyard
