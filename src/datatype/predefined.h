// The predefined datatypes as objects. They exist for the whole process, in a table that is made at first use.
#pragma once

#include "datatype/datatype.h"

namespace lanyard {

// The datatype with this ABI value (0x201 to 0x2ff); nullptr when there is none, MPI_DATATYPE_NULL included.
Datatype *predefined_datatype(int abi_value);
// Stands for MPI_DATATYPE_NULL where nothing is transferred: its elements have no bytes, and every reduction
// is defined on none of them.
Datatype &null_datatype();

// Fills in a datatype of one of these elements.
void describe_basic(Datatype &datatype, const predefined::Type &type);

}  // namespace lanyard
