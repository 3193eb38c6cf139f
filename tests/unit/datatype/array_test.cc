// Compares datatypes that select parts of arrays with plain loops over indices. Also tests that
// MPI_Type_get_contents returns the arguments from which a datatype was made.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/abi_constants.h"
#include "datatype/cursor.h"
#include "datatype/definition.h"
#include "reference.h"

namespace lanyard {
namespace {

using reference::pick;
using reference::Random;

struct Shape {
    Integers sizes;
    int order;

    int64_t elements() const {
        return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
    }
    // Returns the indices, one for each dimension, of element number `place` of the array in memory.
    Integers indices(int64_t place) const {
        Integers all(sizes.size());
        for (size_t k = 0; k < sizes.size(); ++k) {
            size_t dimension = order == abi::order_c ? sizes.size() - 1 - k : k;
            all[dimension] = place % sizes[dimension];
            place /= sizes[dimension];
        }
        return all;
    }
};

// Returns which places of an array of ints belong to the datatype, in the order in which they are packed.
std::vector<int64_t> taken(Datatype &type, int64_t elements) {
    std::vector<int32_t> memory(static_cast<size_t>(elements)), packed(static_cast<size_t>(type.size / 4));
    std::iota(memory.begin(), memory.end(), 0);
    Buffer buffer{reinterpret_cast<std::byte *>(memory.data()), 1, &type};
    Cursor(buffer).pack(packed.data(), packed.size() * 4);
    return {packed.begin(), packed.end()};
}

template <class Wanted>
std::vector<int64_t> expected(const Shape &shape, Wanted wanted) {
    std::vector<int64_t> places;
    for (int64_t place = 0; place < shape.elements(); ++place)
        if (wanted(shape.indices(place))) places.push_back(place);
    return places;
}

Shape random_shape(Random &random) {
    Shape shape{{}, pick(random, 0, 1) ? abi::order_c : abi::order_fortran};
    for (int64_t d = pick(random, 1, 4); d > 0; --d) shape.sizes.push_back(pick(random, 1, 9));
    return shape;
}

TEST(Array, Subarrays) {
    for (uint64_t seed : reference::seeds(500)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        Random random(seed);
        Shape shape = random_shape(random);
        Integers subsizes, starts;
        for (int64_t size : shape.sizes) {
            subsizes.push_back(pick(random, 1, size));
            starts.push_back(pick(random, 0, size - subsizes.back()));
        }
        Datatype *type = nullptr;
        ASSERT_FALSE(make_subarray(shape.sizes, subsizes, starts, shape.order,
                                   *predefined_datatype(abi::type_int), &type));
        EXPECT_EQ(type->lower_bound, 0);
        EXPECT_EQ(type->extent, shape.elements() * 4);
        EXPECT_EQ(taken(*type, shape.elements()), expected(shape, [&](const Integers &indices) {
                      for (size_t i = 0; i < indices.size(); ++i)
                          if (indices[i] < starts[i] || indices[i] >= starts[i] + subsizes[i]) return false;
                      return true;
                  }));
        release(*type);
    }
}

TEST(Array, DistributedArrays) {
    for (uint64_t seed : reference::seeds(500)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        Random random(seed);
        Shape shape = random_shape(random);
        Distribution d{1, 0, shape.sizes, {}, {}, {}, shape.order};
        Integers blocks;
        for (int64_t size : shape.sizes) {
            int kind = static_cast<int>(pick(random, abi::distribute_none, abi::distribute_cyclic));
            int grid = kind == abi::distribute_none ? 1 : static_cast<int>(pick(random, 1, 3));
            int64_t block = kind == abi::distribute_none ? size : (size + grid - 1) / grid;
            int argument = abi::distribute_dflt_darg;
            if (kind == abi::distribute_cyclic) block = 1;
            // The argument has no meaning for MPI_DISTRIBUTE_NONE.
            if (kind == abi::distribute_none) argument = static_cast<int>(pick(random, -2, 2));
            if (kind != abi::distribute_none && pick(random, 0, 1)) {
                block = kind == abi::distribute_block ? block + pick(random, 0, 2) : pick(random, 1, 3);
                argument = static_cast<int>(block);
            }
            d.kinds.push_back(kind);
            d.arguments.push_back(argument);
            d.grid.push_back(grid);
            d.processes *= grid;
            blocks.push_back(block);
        }
        std::vector<int64_t> all;
        for (d.rank = 0; d.rank < d.processes; ++d.rank) {
            Datatype *type = nullptr;
            ASSERT_FALSE(make_darray(d, *predefined_datatype(abi::type_int), &type));
            EXPECT_EQ(type->extent, shape.elements() * 4);
            std::vector<int64_t> mine = expected(shape, [&](const Integers &indices) {
                int64_t owner = 0;  // in the grid, row by row
                for (size_t i = 0; i < indices.size(); ++i)
                    owner = owner * d.grid[i] + indices[i] / blocks[i] % d.grid[i];
                return owner == d.rank;
            });
            EXPECT_EQ(taken(*type, shape.elements()), mine);
            all.insert(all.end(), mine.begin(), mine.end());
            release(*type);
        }
        EXPECT_EQ(all.size(), static_cast<size_t>(shape.elements()));
    }
}

TEST(Array, RefuseBadArguments) {
    Datatype *type = nullptr;
    Datatype &old = *predefined_datatype(abi::type_int);
    Error errors[] = {
        make_subarray({4}, {5}, {0}, abi::order_c, old, &type),
        make_subarray({4}, {2}, {3}, abi::order_c, old, &type),
        make_subarray({4}, {2}, {0}, 99, old, &type),
        make_darray({4, 0, {8}, {abi::distribute_block}, {abi::distribute_dflt_darg}, {3}, abi::order_c}, old,
                    &type),
        make_darray({2, 0, {8}, {abi::distribute_block}, {3}, {2}, abi::order_c}, old, &type),
        make_darray({2, 2, {8}, {abi::distribute_block}, {4}, {2}, abi::order_c}, old, &type)};
    for (Error &error : errors) {
        EXPECT_TRUE(error);
        if (error) error.discard();
    }
    EXPECT_EQ(type, nullptr);
}

TEST(Contents, AreTheArguments) {
    Datatype &old = *predefined_datatype(abi::type_int);
    Datatype *type = nullptr;
    ASSERT_FALSE(make_hindexed({1, 2}, {16, 4}, old, &type));
    EXPECT_EQ(type->definition->combiner, abi::combiner_hindexed);
    TypeContents contents = contents_of(*type);
    EXPECT_EQ(contents.integers, (Integers{2, 1, 2}));
    EXPECT_EQ(contents.addresses, (Integers{16, 4}));
    type->large_counts = true;
    contents = contents_of(*type);
    EXPECT_EQ(contents.large_counts, (Integers{2, 1, 2, 16, 4}));
    EXPECT_TRUE(contents.integers.empty() && contents.addresses.empty());
    release(*type);
    ASSERT_FALSE(make_subarray({4, 5}, {2, 3}, {1, 1}, abi::order_c, old, &type));
    EXPECT_EQ(contents_of(*type).integers, (Integers{2, 4, 5, 2, 3, 1, 1, abi::order_c}));
    type->large_counts = true;
    EXPECT_EQ(contents_of(*type).integers, (Integers{2, abi::order_c}));
    EXPECT_EQ(contents_of(*type).large_counts, (Integers{4, 5, 2, 3, 1, 1}));
    Datatype *copy = nullptr;
    ASSERT_FALSE(make_copy(*type, &copy));
    release(*type);
    EXPECT_EQ(copy->definition->combiner, abi::combiner_subarray);
    EXPECT_EQ(copy->extent, 80);
    release(*copy);
}

}  // namespace
}  // namespace lanyard
