// The contents of a datatype must suffice to make it again. This is tested for random datatypes, with int
// counts and with large counts. Also tests the predefined datatypes without names.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/abi_constants.h"
#include "datatype/cursor.h"
#include "datatype/definition.h"
#include "datatype/unnamed.h"
#include "reference.h"

namespace lanyard {
namespace {

Integers part(const Integers &all, size_t from, size_t count) {
    return {all.begin() + static_cast<std::ptrdiff_t>(from),
            all.begin() + static_cast<std::ptrdiff_t>(from + count)};
}
std::vector<int> ints(const Integers &all, size_t from, size_t count) {
    Integers some = part(all, from, count);
    return {some.begin(), some.end()};
}

// Makes a datatype from the three lists of MPI_Type_get_contents alone, in the order of the standard's
// table.
Error rebuild(int combiner, const TypeContents &contents, bool large, const std::vector<Datatype *> &types,
              Datatype **made) {
    const Integers &counts = large ? contents.large_counts : contents.integers, &in = contents.integers;
    size_t n = counts.empty() ? 0 : static_cast<size_t>(counts[0]), dimensions;
    Integers places = contents.addresses;  // in bytes; with large counts, places are in `counts`
    auto bytes_from = [&](size_t from) { return large ? part(counts, from, counts.size() - from) : places; };
    switch (combiner) {
    case abi::combiner_dup: return make_dup(*types[0], made);
    case abi::combiner_contiguous: return make_contiguous(counts[0], *types[0], made);
    case abi::combiner_vector: return make_vector(counts[0], counts[1], counts[2], *types[0], made);
    case abi::combiner_hvector: return make_hvector(counts[0], counts[1], bytes_from(2)[0], *types[0], made);
    case abi::combiner_indexed:
        return make_indexed(part(counts, 1, n), part(counts, 1 + n, n), *types[0], made);
    case abi::combiner_hindexed: return make_hindexed(part(counts, 1, n), bytes_from(1 + n), *types[0], made);
    case abi::combiner_indexed_block:
        return make_indexed_block(counts[1], part(counts, 2, n), *types[0], made);
    case abi::combiner_hindexed_block: return make_hindexed_block(counts[1], bytes_from(2), *types[0], made);
    case abi::combiner_struct: return make_struct(part(counts, 1, n), bytes_from(1 + n), types, made);
    case abi::combiner_resized: return make_resized(*types[0], bytes_from(0)[0], bytes_from(0)[1], made);
    case abi::combiner_subarray:
        dimensions = static_cast<size_t>(in[0]);
        return make_subarray(part(counts, large ? 0 : 1, dimensions),
                             part(counts, (large ? 0 : 1) + dimensions, dimensions),
                             part(counts, (large ? 0 : 1) + 2 * dimensions, dimensions),
                             static_cast<int>(in.back()), *types[0], made);
    case abi::combiner_darray: {
        dimensions = static_cast<size_t>(in[2]);
        size_t rest = large ? 3 : 3 + dimensions;
        return make_darray({in[0], in[1], part(large ? counts : in, large ? 0 : 3, dimensions),
                            ints(in, rest, dimensions), ints(in, rest + dimensions, dimensions),
                            ints(in, rest + 2 * dimensions, dimensions), static_cast<int>(in.back())},
                           *types[0], made);
    }
    }
    return Error(ErrorClass::intern, "no such combiner");
}

// Returns the runs of contiguous bytes of two elements. No memory exists at their addresses.
std::vector<std::pair<intptr_t, size_t>> runs(const Datatype &type) {
    std::vector<std::pair<intptr_t, size_t>> all;
    Cursor cursor({reinterpret_cast<std::byte *>(intptr_t{1} << 40), 2, &type});
    iovec some[100];
    while (int listed = cursor.runs(some, 100, SIZE_MAX / 2))
        for (int i = 0; i < listed; ++i)
            all.emplace_back(reinterpret_cast<intptr_t>(some[i].iov_base), some[i].iov_len);
    return all;
}

TEST(Contents, SufficeToMakeTheSameDatatypeAgain) {
    std::set<int> seen;
    for (uint64_t seed : reference::seeds(3000)) {
        reference::Random random(seed);
        reference::Made made = reference::random_type(random, 1 + static_cast<int>(seed % 3));
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed) + " repeats this: " + made.text);
        if (!made.real->definition) continue;
        const TypeDefinition &definition = *made.real->definition;
        seen.insert(definition.combiner);
        for (bool large : {false, true}) {
            made.real->large_counts = large;
            Datatype *again = nullptr;
            Error error =
                rebuild(definition.combiner, contents_of(*made.real), large, definition.datatypes, &again);
            ASSERT_FALSE(error) << error.take().sentence;
            EXPECT_EQ(again->size, made.real->size);
            EXPECT_EQ(again->extent, made.real->extent);
            EXPECT_EQ(again->lower_bound, made.real->lower_bound);
            EXPECT_EQ(again->true_lower_bound, made.real->true_lower_bound);
            EXPECT_EQ(again->true_extent, made.real->true_extent);
            EXPECT_EQ(again->elements, made.real->elements);
            ASSERT_EQ(runs(*again), runs(*made.real));
            release(*again);
        }
        release(*made.real);
    }
    EXPECT_EQ(seen.size(), 12u) << "not every constructor was tried";
}

constexpr int any = abi::undefined;

// A datatype made from an optional datatype that the compiler lacks is unsupported as well.
TEST(Contents, OfUnsupportedDatatypesAreUnsupported) {
    Datatype &real = *predefined_datatype(abi::type_real16),
             *types[] = {predefined_datatype(abi::type_int), &real};
    bool supported = std::exchange(real.supported, false);
    Datatype *vector = nullptr, *structure = nullptr, *copy = nullptr, *found = nullptr, *without = nullptr;
    ASSERT_FALSE(make_vector(2, 1, 3, real, &vector));
    ASSERT_FALSE(make_struct({1, 1}, {0, 16}, {types[0], types[1]}, &structure));
    ASSERT_FALSE(make_dup(*vector, &copy));
    ASSERT_FALSE(make_struct({1, 0}, {0, 16}, {types[0], types[1]}, &without));
    Error error = f90_real(30, any, &found);
    real.supported = supported;
    EXPECT_FALSE(vector->supported || structure->supported || copy->supported);
    EXPECT_TRUE(without->supported);
    EXPECT_TRUE(error);
    if (error) error.discard();
    for (Datatype *made : {vector, structure, copy, without}) release(*made);
}

struct Asked {
    int precision, range, bytes;  // 0: there is no such datatype
};

TEST(Unnamed, AreFoundByPrecisionAndRange) {
    for (auto [precision, range, bytes] :
         {Asked{6, 37, 4}, {0, 0, 4}, {6, any, 4}, {any, 37, 4}, {7, any, 8}, {any, 38, 8}, {15, 307, 8},
          {16, any, 16}, {any, 308, 16}, {18, 4931, 16}, {33, 4931, 16}, {34, any, 0}, {any, 4932, 0},
          {any, any, 0}}) {
        SCOPED_TRACE(std::to_string(precision) + ", " + std::to_string(range));
        Datatype *real = nullptr, *complex = nullptr, *again = nullptr;
        Error error = f90_real(precision, range, &real), other = f90_complex(precision, range, &complex);
        ASSERT_EQ(!error, bytes > 0);
        ASSERT_EQ(!other, bytes > 0);
        if (error) {
            EXPECT_EQ(error.code(), static_cast<int>(ErrorClass::arg));
            error.discard();
            other.discard();
            continue;
        }
        EXPECT_EQ(real->size, bytes);
        EXPECT_EQ(complex->size, 2 * bytes);
        EXPECT_TRUE(real->committed && real->supported && real->contiguous && !real->predefined());
        EXPECT_EQ(real->definition->combiner, abi::combiner_f90_real);
        EXPECT_EQ(complex->definition->combiner, abi::combiner_f90_complex);
        EXPECT_EQ(contents_of(*real).integers, (Integers{precision, range}));
        EXPECT_EQ(contents_of(*complex).integers, (Integers{precision, range}));
        EXPECT_TRUE(real->definition->datatypes.empty());
        ASSERT_FALSE(f90_real(precision, range, &again));
        EXPECT_EQ(again, real);
    }
    for (auto [range, bytes] : {std::pair(0, 1), {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8},
                                {19, 16}, {38, 16}, {39, 0}, {any, 0}}) {
        Datatype *type = nullptr, *again = nullptr;
        Error error = f90_integer(range, &type);
        ASSERT_EQ(!error, bytes > 0) << range;
        if (error) {
            error.discard();
            continue;
        }
        EXPECT_EQ(type->size, bytes);
        EXPECT_EQ(contents_of(*type).integers, (Integers{range}));
        ASSERT_FALSE(f90_integer(range, &again));
        EXPECT_EQ(again, type);
    }
}

}  // namespace
}  // namespace lanyard
