// Finds the predefined datatypes without names, which belong to Fortran kinds (MPI-5.0 section 19.1.9). A
// datatype is created when its arguments are first requested, and exists until exit. The caller gets no
// reference.
// Thread rule: any thread.
// Tested by: tests/unit/datatype/contents_test.cc, tests/mpi/datatype/fortran.cc.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// Find the datatypes of the kinds that selected_int_kind(range) and selected_real_kind(precision, range)
// return in Fortran. For a real or complex type, one of the two arguments may be abi::undefined. If no kind
// is large enough, the result is an error.
Error f90_integer(int range, Datatype **found);
Error f90_real(int precision, int range, Datatype **found);
Error f90_complex(int precision, int range, Datatype **found);

}  // namespace lanyard
