// Provides a datatype with gaps, for tests. Its extent is 8 bytes, of which the first three are data.
#pragma once

#include "base/abi_constants.h"
#include "datatype/construct.h"
#include "datatype/predefined.h"

namespace lanyard::sim {

inline const Datatype &spread_type() {
    // Released when the program ends, so that leak checkers report nothing.
    static const struct Spread {
        Datatype *block = nullptr, *made = nullptr;
        Spread() {
            make_contiguous(3, *predefined_datatype(abi::type_byte), &block).discard();
            make_resized(*block, 0, 8, &made).discard();
        }
        ~Spread() {
            release(*made);
            release(*block);
        }
    } spread;
    return *spread.made;
}

}  // namespace lanyard::sim
