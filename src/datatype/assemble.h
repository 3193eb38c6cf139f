// From a definition to a datatype; shared by the files that hold constructors.
#pragma once

#include <memory>

#include "datatype/definition.h"

namespace lanyard {

// Makes the datatype that `definition` describes.
Error assemble(std::shared_ptr<const TypeDefinition> definition, Datatype **made);
// Recomputes what depends on layout and extent, after a change of the bounds.
void settle(Datatype &datatype);

}  // namespace lanyard
