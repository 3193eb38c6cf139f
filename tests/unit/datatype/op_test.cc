// Tests every predefined operation on every predefined datatype. If the standard allows the combination, the
// result is compared with a plain loop. If not, check_op() must report an error. Some of these combinations
// are computed all the same, and their results are compared too. The tables of the library are repeated here.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>

#include "base/abi_constants.h"
#include "datatype/element.h"
#include "datatype/op.h"
#include "datatype/predefined.h"
#include "reference.h"

namespace {

using namespace lanyard;
using namespace lanyard::abi;
using predefined::Element;
using predefined::ReductionGroup;

constexpr int ops[] = {op_sum,  op_min, op_max,  op_prod,   op_band,   op_bor,     op_bxor,
                       op_land, op_lor, op_lxor, op_minloc, op_maxloc, op_replace, op_no_op};

bool allowed(int op, ReductionGroup group) {
    bool arithmetic = op == op_sum || op == op_prod, order = op == op_min || op == op_max;
    bool bits = op == op_band || op == op_bor || op == op_bxor,
         logic = op == op_land || op == op_lor || op == op_lxor;
    bool place = op == op_minloc || op == op_maxloc;
    switch (group) {
    case ReductionGroup::c_integer: return arithmetic || order || bits || logic;
    case ReductionGroup::fortran_integer:
    case ReductionGroup::multi_language: return arithmetic || order || bits;
    case ReductionGroup::floating_point: return arithmetic || order;
    case ReductionGroup::complex: return arithmetic;
    case ReductionGroup::logical: return logic;
    case ReductionGroup::byte: return bits;
    case ReductionGroup::c_pair:
    case ReductionGroup::fortran_pair: return place;
    case ReductionGroup::none: return false;
    }
    return false;
}

// Combinations that the standard does not define but that this and other libraries compute.
bool accepted(int op, int type) {
    if (type == type_char) return allowed(op, ReductionGroup::c_integer);
    return (type == type_aint || type == type_offset || type == type_count) &&
           allowed(op, ReductionGroup::logical);
}

// The result of an operation on two numbers.
template <class T>
T plain(int op, T a, T b) {
    switch (op) {
    case op_sum: return static_cast<T>(a + b);
    case op_prod: return static_cast<T>(a * b);
    case op_min: return a < b ? a : b;
    case op_max: return b < a ? a : b;
    }
    if constexpr (std::is_integral_v<T>) {
        switch (op) {
        case op_band: return static_cast<T>(a & b);
        case op_bor: return static_cast<T>(a | b);
        case op_bxor: return static_cast<T>(a ^ b);
        case op_land: return static_cast<T>(a && b);
        case op_lor: return static_cast<T>(a || b);
        case op_lxor: return static_cast<T>(!a != !b);
        }
    }
    ADD_FAILURE() << "no plain form of operation " << op;
    return a;
}

// Small values, so that nothing overflows or is rounded.
template <class T>
T small(reference::Random &random, bool logical) {
    int least = std::is_same_v<T, decltype(T(0) - T(0))> && static_cast<T>(-1) < static_cast<T>(0) ? -3 : 0;
    if (logical) return static_cast<T>(reference::pick(random, 0, 1));
    return static_cast<T>(static_cast<int>(reference::pick(random, least, 7)));
}

constexpr int64_t count = 1003;  // a multiple of no vector length, so that vector loops have remainders

template <class T>
void check_numbers(const Op &op, const Datatype &type, reference::Random &random) {
    bool logical = type.basic->group == ReductionGroup::logical;
    int64_t values = is_complex(type.basic->element) ? 2 * count : count;
    std::vector<T> in(values), inout(values), expected(values);
    for (int64_t i = 0; i < values; ++i) {
        in[i] = small<T>(random, logical);
        inout[i] = small<T>(random, logical);
    }
    for (int64_t i = 0; i < values; ++i) {
        if (!is_complex(type.basic->element) || op.abi_value == op_sum) {
            expected[i] = plain<T>(op.abi_value, in[i], inout[i]);
        } else if (i % 2 == 0) {
            expected[i] = static_cast<T>(in[i] * inout[i] - in[i + 1] * inout[i + 1]);
            expected[i + 1] = static_cast<T>(in[i] * inout[i + 1] + in[i + 1] * inout[i]);
        }
        if (is_complex(type.basic->element) && op.abi_value == op_prod) i += 1;
    }
    reduce(op, in.data(), inout.data(), count, type);
    for (int64_t i = 0; i < values; ++i) ASSERT_TRUE(inout[i] == expected[i]) << "at " << i;
}

template <class Value, class Index>
void check_pairs(const Op &op, const Datatype &type, reference::Random &random) {
    struct Pair {
        Value value;
        Index index;
    };
    ASSERT_EQ(static_cast<int64_t>(sizeof(Pair)), type.extent);
    std::vector<Pair> in(count), inout(count), expected(count);
    for (int64_t i = 0; i < count; ++i) {
        in[i] = {small<Value>(random, false), small<Index>(random, false)};
        inout[i] = {small<Value>(random, false), small<Index>(random, false)};
        bool first = op.abi_value == op_maxloc ? in[i].value > inout[i].value : in[i].value < inout[i].value;
        expected[i] = first ? in[i] : inout[i];
        if (in[i].value == inout[i].value) expected[i].index = std::min(in[i].index, inout[i].index);
    }
    reduce(op, in.data(), inout.data(), count, type);
    for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(inout[i].value, expected[i].value) << "at " << i;
        ASSERT_EQ(inout[i].index, expected[i].index) << "at " << i;
    }
}

void check(const Op &op, const Datatype &type, reference::Random &random) {
    switch (type.abi_value) {
    case type_float_int: return check_pairs<float, int>(op, type, random);
    case type_double_int: return check_pairs<double, int>(op, type, random);
    case type_long_int: return check_pairs<long, int>(op, type, random);
    case type_2int:
    case type_2integer: return check_pairs<int, int>(op, type, random);
    case type_short_int: return check_pairs<short, int>(op, type, random);
    case type_long_double_int: return check_pairs<long double, int>(op, type, random);
    case type_2real: return check_pairs<float, float>(op, type, random);
    case type_2double_precision: return check_pairs<double, double>(op, type, random);
    }
    with_element_type(type.basic->element, [&](auto zero) {
        if constexpr (!std::is_same_v<decltype(zero), NoType>)
            check_numbers<decltype(zero)>(op, type, random);
    });
}

TEST(Op, EveryOperationOnEveryDatatype) {
    int checked = 0;
    for (uint64_t seed : reference::seeds(3)) {
        reference::Random random(seed);
        for (int value : ops) {
            const Op &op = *predefined_op(value);
            for (const predefined::Type &row : predefined::types) {
                const Datatype &type = *predefined_datatype(row.value);
                SCOPED_TRACE("op " + std::to_string(value) + " on " + row.name +
                             ", LANYARD_TEST_SEED=" + std::to_string(seed));
                Error error = check_op(op, type);
                ASSERT_EQ(static_cast<bool>(error), !allowed(value, row.group) || !type.supported);
                if (error) {
                    EXPECT_EQ(error.code(), type.supported || !allowed(value, row.group) ? err_op : err_type);
                    error.discard();
                    ASSERT_EQ(accepted_on(op, type), accepted(value, row.value));
                    if (!accepted_on(op, type)) continue;
                }
                check(op, type, random);
                ++checked;
            }
        }
    }
    EXPECT_GE(checked, 300);
}

TEST(Op, OverflowWraps) {
    int in = 0x7fffffff, inout = 1;
    reduce(*predefined_op(op_sum), &in, &inout, 1, *predefined_datatype(type_int));
    EXPECT_EQ(inout, INT32_MIN);
}

TEST(Op, LogicalsAreOneOrZero) {
    int in[] = {2, 0, 4, 0}, inout[] = {4, 8, 0, 0};
    reduce(*predefined_op(op_land), in, inout, 4, *predefined_datatype(type_int));
    EXPECT_EQ(std::vector<int>(inout, inout + 4), (std::vector<int>{1, 0, 0, 0}));
    int again[] = {4, 8, 0, 0};
    reduce(*predefined_op(op_lxor), in, again, 4, *predefined_datatype(type_int));
    EXPECT_EQ(std::vector<int>(again, again + 4), (std::vector<int>{0, 1, 1, 0}));
}

TEST(Op, DerivedDatatypesNeedTheProgramsOperation) {
    Datatype *derived = nullptr;
    ASSERT_FALSE(make_contiguous(2, *predefined_datatype(type_int), &derived));
    Error error = check_op(*predefined_op(op_sum), *derived);
    ASSERT_TRUE(error);
    EXPECT_NE(error.take().sentence.find("MPI_Op_create"), std::string::npos);
    Op own;
    own.function = [] {};
    EXPECT_FALSE(check_op(own, *derived));
    release(*derived);
}

TEST(Op, CharactersHaveTheSignOfChar) {
    char in[] = {static_cast<char>(-3), 5}, inout[] = {4, static_cast<char>(-6)};
    reduce(*predefined_op(op_min), in, inout, 2, *predefined_datatype(type_char));
    EXPECT_EQ(inout[0], CHAR_MIN < 0 ? -3 : 4);
    EXPECT_EQ(inout[1], CHAR_MIN < 0 ? -6 : 5);
}

TEST(Op, EveryPredefinedReductionIsDefinedOnNothing) {
    for (int value : ops)
        EXPECT_EQ(defined_on(*predefined_op(value), null_datatype()),
                  value != op_replace && value != op_no_op)
            << value;
    reduce(*predefined_op(op_sum), nullptr, nullptr, 0, null_datatype());
}

TEST(Op, OneSidedOnly) {
    int in[] = {1, 2}, inout[] = {3, 4};
    const Datatype &type = *predefined_datatype(type_int);
    EXPECT_FALSE(check_op(*predefined_op(op_replace), type, true));
    EXPECT_FALSE(check_op(*predefined_op(op_no_op), type, true));
    reduce(*predefined_op(op_no_op), in, inout, 2, type);
    EXPECT_EQ(inout[0], 3);
    reduce(*predefined_op(op_replace), in, inout, 2, type);
    EXPECT_EQ(inout[1], 2);
}

// The program's function is called through `call`. A function with int counts never gets more than an int
// holds.
TEST(Op, LargeCountsComeInPieces) {
    static std::vector<std::pair<const char *, int64_t>> calls;
    calls.clear();
    Op op;
    op.function = [] {};
    op.call = [](const Op &, const void *in, void *, int64_t piece, const Datatype &) {
        calls.push_back({static_cast<const char *>(in), piece});
    };
    const Datatype &type = *predefined_datatype(type_double);
    const int64_t five_billion = 5'000'000'000;
    reduce(op, nullptr, nullptr, five_billion, type);
    int64_t sum = 0;
    for (auto [in, piece] : calls) {
        EXPECT_EQ(reinterpret_cast<intptr_t>(in), sum * 8);
        EXPECT_LE(piece, INT32_MAX);
        sum += piece;
    }
    EXPECT_EQ(sum, five_billion);
    calls.clear();
    op.large_count = true;
    reduce(op, nullptr, nullptr, five_billion, type);
    EXPECT_EQ(calls.size(), 1u);
}

}  // namespace
