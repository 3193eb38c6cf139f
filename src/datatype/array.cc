// Creates the datatypes of parts of arrays: subarray and darray (construct.h, MPI-5.0 sections 5.1.3 and
// 5.1.4). Both are built one dimension at a time. The first dimension is the one in which elements with
// neighbouring indices are adjacent in memory, and the last is the one in which they are farthest apart. For
// each dimension, the datatype that results from the earlier dimensions is repeated at the chosen indices.
// The result is then resized to the extent of the whole dimension.
#include <algorithm>
#include <string>
#include <utility>

#include "base/abi_constants.h"
#include "datatype/assemble.h"
#include "datatype/construct.h"

namespace lanyard {

namespace {

// The indices that are chosen in one dimension: from `start` on, `count` blocks of `length` indices that are
// `stride` apart, followed by a shorter block of `rest` indices, which may be 0.
struct Slice {
    int64_t start, count, length, stride, rest;
};

// A datatype under construction. Each step replaces it by a datatype that is made from it.
class Growing {
public:
    explicit Growing(Datatype &old) : type_(&old) { old.hold(); }
    Growing(const Growing &) = delete;
    Growing &operator=(const Growing &) = delete;
    ~Growing() {
        if (type_) release(*type_);
    }
    // Adds a dimension of `size` indices, of which those of `slice` are chosen.
    Error take(const Slice &slice, int64_t size) {
        int64_t step = type_->extent;
        Datatype *blocks = nullptr, *all = nullptr, *whole = nullptr;
        if (Error error = make_vector(slice.count, slice.length, slice.stride, *type_, &blocks)) return error;
        Integers places{slice.start * step, (slice.start + slice.count * slice.stride) * step};
        Error error = make_struct({1, slice.rest}, places, {blocks, type_}, &all);
        if (!error) error = make_resized(*all, 0, size * step, &whole);
        for (Datatype *made : {blocks, all, whole})
            if (made) made->end_handle();  // the program has no handles for these datatypes
        release(*blocks);
        if (all) release(*all);
        if (!error) release(*std::exchange(type_, whole));
        return error;
    }
    Datatype *give() { return std::exchange(type_, nullptr); }

private:
    Datatype *type_;
};

Error bad(const char *what, size_t dimension, int64_t value, const std::string &need) {
    return Error(ErrorClass::arg, std::string(what) + " of dimension " + std::to_string(dimension) + " is " +
                                      std::to_string(value) + "; it must be " + need);
}

Error check_dimensions(const Integers &sizes) {
    return sizes.empty() ? Error(ErrorClass::arg, "the number of dimensions is 0; it must be positive")
                         : Error();
}

Error check_order(int order) {
    if (order == abi::order_c || order == abi::order_fortran) return {};
    return Error(ErrorClass::arg,
                 "the order is " + std::to_string(order) + "; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN");
}

Error check_extent(const Integers &sizes, const Datatype &old) {
    __int128 bytes = old.extent;
    for (int64_t size : sizes) {
        bytes *= size;
        if (bytes > __int128{1} << 62 || bytes < -(__int128{1} << 62))
            return Error(ErrorClass::arg, "the array is larger than 2^62 bytes");
    }
    return {};
}

// Builds the datatype of the part dimension by dimension. slice_of(i) returns the indices that are chosen in
// dimension i.
template <class SliceOf>
Error build(const Integers &sizes, int order, Datatype &old, SliceOf slice_of, TypeDefinition &definition) {
    Growing growing(old);
    size_t dimensions = sizes.size();
    for (size_t i = 0; i < dimensions; ++i) {
        size_t dimension = order == abi::order_c ? dimensions - 1 - i : i;
        if (Error error = growing.take(slice_of(dimension), sizes[dimension])) return error;
    }
    definition.inner = growing.give();
    return {};
}

std::shared_ptr<TypeDefinition> started(int combiner, Integers integers, Datatype &old) {
    auto definition = std::make_shared<TypeDefinition>();
    definition->combiner = combiner;
    definition->integers = std::move(integers);
    definition->use(old);
    return definition;
}

template <class Numbers>
void append(Integers &to, const Numbers &numbers) {
    to.insert(to.end(), numbers.begin(), numbers.end());
}

Error check_subarray(const Integers &sizes, const Integers &subsizes, const Integers &starts) {
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 1) return bad("the size", i, sizes[i], "at least 1");
        if (subsizes[i] < 1 || subsizes[i] > sizes[i])
            return bad("the part's size", i, subsizes[i],
                       "from 1 to the array's size " + std::to_string(sizes[i]));
        if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return bad("the part's start", i, starts[i],
                       "from 0 to " + std::to_string(sizes[i] - subsizes[i]));
    }
    return {};
}

Error check_darray(const Distribution &d) {
    int64_t product = 1;
    for (size_t i = 0; i < d.sizes.size(); ++i) {
        if (d.sizes[i] < 1) return bad("the size", i, d.sizes[i], "at least 1");
        if (d.grid[i] < 1) return bad("the process count", i, d.grid[i], "at least 1");
        product *= d.grid[i];
        if (product > d.processes) break;
        // If this is true, the argument is not used.
        bool automatic = d.arguments[i] == abi::distribute_dflt_darg || d.kinds[i] == abi::distribute_none;
        if (!automatic && d.arguments[i] < 1)
            return bad("the distribution argument", i, d.arguments[i], "at least 1");
        switch (d.kinds[i]) {
        case abi::distribute_none:
            if (d.grid[i] != 1)
                return bad("the process count", i, d.grid[i], "1, as the dimension is not distributed");
            break;
        case abi::distribute_block:
            if (!automatic && int64_t{d.arguments[i]} * d.grid[i] < d.sizes[i])
                return bad("the block size", i, d.arguments[i],
                           "large enough for all processes' blocks to hold the array");
            break;
        case abi::distribute_cyclic: break;
        default:
            return bad("the distribution", i, d.kinds[i],
                       "MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE");
        }
    }
    if (product != d.processes)
        return Error(ErrorClass::arg,
                     "the process grid does not have as many places as there are processes, " +
                         std::to_string(d.processes));
    if (d.rank < 0 || d.rank >= d.processes)
        return Error(ErrorClass::arg, "the rank is " + std::to_string(d.rank) + "; it must be from 0 to " +
                                          std::to_string(d.processes - 1));
    return {};
}

// The indices of the process at `place` in a dimension of the grid. `size` indices are dealt out to the
// `places` processes of the dimension in turn, in blocks of `block` indices.
Slice dealt(int64_t size, int64_t block, int64_t place, int64_t places) {
    block = std::min(block, size);  // a longer block has the same effect
    int64_t start = place * block, round = places * block;
    if (start >= size) return {0, 0, block, block, 0};
    int64_t left = size - start;
    int64_t rest = std::min(left % round, block);
    int64_t full = left / round;
    if (rest == block) return {start, full + 1, block, round, 0};
    return {start, full, block, round, rest};
}

}  // namespace

Error make_subarray(const Integers &sizes, Integers subsizes, Integers starts, int order, Datatype &old,
                    Datatype **made) {
    if (Error error = check_dimensions(sizes)) return error;
    if (Error error = check_order(order)) return error;
    if (Error error = check_subarray(sizes, subsizes, starts)) return error;
    if (Error error = check_extent(sizes, old)) return error;
    Integers integers{static_cast<int64_t>(sizes.size())};
    append(integers, sizes);
    append(integers, subsizes);
    append(integers, starts);
    integers.push_back(order);
    auto definition = started(abi::combiner_subarray, std::move(integers), old);
    auto slice_of = [&](size_t i) { return Slice{starts[i], 1, subsizes[i], subsizes[i], 0}; };
    if (Error error = build(sizes, order, old, slice_of, *definition)) return error;
    return assemble(std::move(definition), made);
}

Error make_darray(Distribution d, Datatype &old, Datatype **made) {
    if (Error error = check_dimensions(d.sizes)) return error;
    if (Error error = check_order(d.order)) return error;
    if (Error error = check_darray(d)) return error;
    if (Error error = check_extent(d.sizes, old)) return error;
    Integers integers{d.processes, d.rank, static_cast<int64_t>(d.sizes.size())};
    append(integers, d.sizes);
    append(integers, d.kinds);
    append(integers, d.arguments);
    append(integers, d.grid);
    integers.push_back(d.order);
    auto definition = started(abi::combiner_darray, std::move(integers), old);
    // The process's place in each dimension of the grid. The last dimension varies fastest, whatever the
    // order of the array.
    Integers places(d.sizes.size());
    int64_t rank = d.rank;
    for (size_t i = d.sizes.size(); i-- > 0; rank /= d.grid[i]) places[i] = rank % d.grid[i];
    auto slice_of = [&](size_t i) {
        bool automatic = d.arguments[i] == abi::distribute_dflt_darg;
        int64_t block = d.arguments[i];
        if (d.kinds[i] == abi::distribute_none) block = d.sizes[i];
        else if (automatic)
            block = d.kinds[i] == abi::distribute_cyclic ? 1 : (d.sizes[i] + d.grid[i] - 1) / d.grid[i];
        return dealt(d.sizes[i], block, places[i], d.grid[i]);
    };
    if (Error error = build(d.sizes, d.order, old, slice_of, *definition)) return error;
    return assemble(std::move(definition), made);
}

}  // namespace lanyard
