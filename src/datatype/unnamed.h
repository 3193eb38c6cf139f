// Predefined datatypes without names: those of Fortran kinds. They are made when first asked for, the same one for the same question,
// and live as long as the process. Thread-safe. MPI-5.0 section 19.1.5.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// What selected_int_kind(range), selected_real_kind(precision, range) name. Of a real or complex type one of the two may be
// abi::undefined. An error where no kind has so much.
Error f90_integer(int range, Datatype **found);
Error f90_real(int precision, int range, Datatype **found);
Error f90_complex(int precision, int range, Datatype **found);

}  // namespace lanyard
