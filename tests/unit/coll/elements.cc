// See elements.h.
#include "elements.h"

#include <cstring>
#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "datatype/construct.h"
#include "datatype/predefined.h"

namespace lanyard::testing {

namespace {

// A datatype that is released when the program ends, so that leak checkers report nothing.
struct Kept {
    Datatype *type = nullptr;

    explicit Kept(Datatype *t) : type(t) { type->committed = true; }
    ~Kept() { release(*type); }
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;
};

Datatype *made(Error error, Datatype *&type) {
    EXPECT_FALSE(error);
    return type;
}

// Returns a resized datatype. The result keeps `inner` alive, so the reference to `inner` is
// released.
Datatype *resized(Datatype *inner, int64_t extent) {
    Datatype *outer = nullptr;
    made(make_resized(*inner, 0, extent, &outer), outer);
    release(*inner);
    return outer;
}

Datatype *two_numbers() {
    Datatype *pair = nullptr;
    return made(make_contiguous(2, *predefined_datatype(abi::type_uint32_t), &pair), pair);
}

Datatype *two_apart() {
    Datatype *pair = nullptr;
    return made(make_hindexed({1, 1}, {4, 12}, *predefined_datatype(abi::type_uint32_t), &pair), pair);
}

// Stores the offsets of the two numbers in an element of a datatype.
void offsets_of(const Datatype &type, int64_t &a, int64_t &b) {
    a = &type == &gappy_pair() ? 4 : 0;
    b = &type == &gappy_pair() ? 12 : 4;
}

void call(const Op &op, const void *in, void *inout, int64_t count, const Datatype &type) {
    int64_t at_a, at_b;
    offsets_of(type, at_a, at_b);
    for (int64_t i = 0; i < count; ++i) {
        const char *low_at = static_cast<const char *>(in) + i * type.extent;
        char *high_at = static_cast<char *>(inout) + i * type.extent;
        Pair low, high;
        std::memcpy(&low.a, low_at + at_a, 4);
        std::memcpy(&low.b, low_at + at_b, 4);
        std::memcpy(&high.a, high_at + at_a, 4);
        std::memcpy(&high.b, high_at + at_b, 4);
        Pair result = combine(op, low, high);
        std::memcpy(high_at + at_a, &result.a, 4);
        std::memcpy(high_at + at_b, &result.b, 4);
    }
}

void never_called() {}

const Op &make_op(bool commutative) {
    Op *op = op_pool().create();
    op->commutative = commutative;
    op->function = never_called;
    op->call = call;
    return *op;
}

}  // namespace

const Datatype &plain_pair() {
    static const Kept kept(two_numbers());
    return *kept.type;
}

const Datatype &gappy_pair() {
    static const Kept kept(resized(two_apart(), 20));
    return *kept.type;
}

const Datatype &back_pair() {
    static const Kept kept(resized(two_numbers(), -12));
    return *kept.type;
}

const Op &sum_op() {
    static const Op &op = make_op(true);
    return op;
}

const Op &compose_op() {
    static const Op &op = make_op(false);
    return op;
}

Pair combine(const Op &op, Pair low, Pair high) {
    if (op.commutative) return {low.a + high.a, low.b ^ high.b};
    return {low.a * high.a, low.a * high.b + low.b};
}

}  // namespace lanyard::testing
