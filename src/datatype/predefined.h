// The predefined datatypes as objects. They are in a table that is created at first use and lives until exit.
// Any thread.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// The datatype with this ABI value (0x201 to 0x2ff); nullptr for any other value, including
// MPI_DATATYPE_NULL.
Datatype *predefined_datatype(int abi_value);
// Stands for MPI_DATATYPE_NULL when nothing is transferred. Its elements have no bytes, and every reduction
// is defined on it, for a count of 0.
Datatype &null_datatype();

// Fills in a datatype with one of these elements.
void describe_basic(Datatype &datatype, const predefined::Type &type);

}  // namespace lanyard
