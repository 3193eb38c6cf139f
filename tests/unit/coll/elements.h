// What the tests of collectives compute with: pairs of numbers, in a datatype without and one with gaps, and operations on
// them that do and do not commute. The plain reference works on std::vector<Pair>.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.h"
#include "datatype/op.h"

namespace lanyard::testing {

struct Pair {
    uint32_t a = 0, b = 0;
    bool operator==(const Pair &) const = default;
};

const Datatype &plain_pair();  // 8 bytes, contiguous
const Datatype &gappy_pair();  // a at 4, b at 12, extent 20
const Datatype &back_pair();   // contiguous inside, extent -12

const Op &sum_op();      // commutes
const Op &compose_op();  // x -> a x + b, one after the other: does not commute

Pair combine(const Op &op, Pair low, Pair high);

}  // namespace lanyard::testing
