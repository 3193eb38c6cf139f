// Provides the data of the tests of collectives: pairs of numbers, datatypes of such pairs without and with
// gaps, and two operations on pairs. One operation commutes, and the other does not. The tests compute the
// expected results on std::vector<Pair>.
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
const Datatype &gappy_pair();  // a at offset 4, b at offset 12, extent 20
const Datatype &back_pair();   // one element is contiguous; extent -12

const Op &sum_op();      // commutes
const Op &compose_op();  // composes maps x -> a x + b; does not commute

Pair combine(const Op &op, Pair low, Pair high);

}  // namespace lanyard::testing
