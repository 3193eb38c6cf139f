// Creates a datatype from a definition. Only the files with the constructors use this header.
// Tested by: tests/unit/datatype/predefined_test.cc, tests/unit/datatype/array_test.cc.
#pragma once

#include <memory>

#include "datatype/definition.h"

namespace lanyard {

// Creates the datatype that `definition` describes.
Error assemble(std::shared_ptr<const TypeDefinition> definition, Datatype **made);
// Recomputes `contiguous`, which depends on layout and extent, after the bounds have changed.
void settle(Datatype &datatype);

}  // namespace lanyard
