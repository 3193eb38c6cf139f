// Finds the objects of the predefined datatypes. These objects are in a table that is created at first use
// and exists until exit. Any thread.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// The datatype with this ABI value (0x201 to 0x2ff); nullptr for any other value, including
// MPI_DATATYPE_NULL.
Datatype *predefined_datatype(int abi_value);
// The datatype that is used for MPI_DATATYPE_NULL where the count is 0. Its elements have no bytes, and every
// reduction is allowed on it.
Datatype &null_datatype();

// Fills in the fields of a datatype that consists of one element of the predefined type `type`.
void describe_basic(Datatype &datatype, const predefined::Type &type);

}  // namespace lanyard
