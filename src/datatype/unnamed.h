// Predefined datatypes without names: those of Fortran kinds (MPI-5.0 section 19.1.5). They are created when
// first requested, once for each set of arguments, and live until exit.
// Thread rule: any thread.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// The datatypes that selected_int_kind(range) and selected_real_kind(precision, range) name. For a real or
// complex type, one of the two arguments may be abi::undefined. An error if no kind is large enough.
Error f90_integer(int range, Datatype **found);
Error f90_real(int precision, int range, Datatype **found);
Error f90_complex(int precision, int range, Datatype **found);

}  // namespace lanyard
