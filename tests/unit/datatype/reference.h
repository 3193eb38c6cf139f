// Defines a slow, obvious datatype: a list of (offset, basic element), as the standard defines type maps
// (MPI-5.0 section 5.1). The bounds of the datatype are computed from that list and from the padding of the
// parts, which all libraries count. Random nested datatypes are made twice: as this reference and as the
// library's datatype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "datatype/construct.h"
#include "datatype/predefined.h"

namespace reference {

struct Entry {
    int64_t offset;
    int64_t bytes;
    int64_t alignment;
};

struct Type {
    std::vector<Entry> map;
    std::vector<int64_t> lower_markers, upper_markers;  // bounds that were set explicitly
    std::vector<int64_t> ends;                          // where the parts end, with their padding

    int64_t size() const;
    int64_t lower_bound() const;
    int64_t upper_bound() const;
    int64_t extent() const { return upper_bound() - lower_bound(); }
    int64_t true_lower_bound() const;
    int64_t true_extent() const;
    // Adds `count` copies of `other`, each one extent behind the previous one.
    void add(const Type &other, int64_t count, int64_t offset);
};

Type basic(int abi_value);

// A datatype made twice: the reference, and the library's.
struct Made {
    Type expected;
    lanyard::Datatype *real = nullptr;
    std::string text;  // how it was made, for messages
};

using Random = std::mt19937_64;
int64_t pick(Random &random, int64_t least, int64_t most);

// A random datatype, nested up to `depth` levels, that spans at most about 100 KiB.
Made random_type(Random &random, int depth);

// Returns `cases` consecutive seeds. LANYARD_TEST_SEED sets the first one. If it is set to the seed of a
// failed case, that case runs first.
std::vector<uint64_t> seeds(int cases);

// The stream of `count` elements, as offsets of its bytes from the buffer's address.
std::vector<int64_t> byte_offsets(const Type &type, int64_t count);

}  // namespace reference
