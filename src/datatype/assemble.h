// Makes a datatype from a definition. For the files with the constructors.
#pragma once

#include <memory>

#include "datatype/definition.h"

namespace lanyard {

// Creates the datatype that `definition` describes.
Error assemble(std::shared_ptr<const TypeDefinition> definition, Datatype **made);
// Recomputes what depends on layout and extent, after a change of the bounds.
void settle(Datatype &datatype);

}  // namespace lanyard
