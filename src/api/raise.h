// The way from an error to what the program sees of it. raise() itself is declared in call.h, beside the Call
// that it shows.
#pragma once

#include <string>

#include "api/call.h"
#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

// The code that the program receives for an error. `text` becomes its MPI_Error_string.
int code_of(const ErrorRecord &record, const std::string &text);

// " on rank 2 (its host)", with the rank if it is known.
std::string here();

// Does what the handler of `on` prescribes. Does not return if that ends the job. A function of the program
// may change the code.
void call_handler(const Errhandler &handler, RaiseOn on, int &code, const std::string &text);

// The handler for errors that belong to no object while there is no MPI_COMM_SELF. The predefined
// communicators also begin with it. It is chosen when the program is started (mpirun --initial-errhandler,
// LANYARD_INITIAL_ERRHANDLER).
Errhandler &initial_errhandler();

// The handler of a file; for nullptr, the one that new files begin with (MPI_FILE_NULL).
Errhandler *&handler_of(File *file);

}  // namespace lanyard
