// Declares how an error reaches the program. raise() itself is declared in call.h, beside the class Call,
// because raise() shows the Call in the error message.
// Tested by: tests/mpi/errors/handlers.cc, tests/failures/test_arguments.py, tests/mpi/errors/thrown.cc.
#pragma once

#include <string>

#include "api/call.h"
#include "base/error.h"
#include "comm/errhandler.h"

namespace lanyard {

// The code that the program receives for an error. If the error class is one of the standard's,
// MPI_Error_string returns `text` for this code.
int code_of(const ErrorRecord &record, const std::string &text);

// " on rank 2 (host name)", or " (host name)" while the rank is not known.
std::string here();

// Does what the error handler prescribes: ends the job or the process, calls a function of the program, or
// does nothing. `on` is the object that the error is about. The program's function may change `code`.
void call_handler(const Errhandler &handler, RaiseOn on, int &code, const std::string &text);

// The handler for errors that belong to no object, used before MPI_Init and after MPI_Finalize. It is also
// the first handler of the predefined communicators. The user chooses it when the program is started (mpirun
// --initial-errhandler, LANYARD_INITIAL_ERRHANDLER).
Errhandler &initial_errhandler();

// The handler of a file. For nullptr (MPI_FILE_NULL), the handler that new files begin with. `file` must be
// nullptr, because there are no files yet.
Errhandler *&handler_of(File *file);

}  // namespace lanyard
