// Builds random datatypes for the program of random calls. Each datatype has a type map (5.1), a plain list
// from which the expected results are computed. Two datatypes that must have equal signatures are built from
// one signature.
#pragma once

#include <memory>
#include <vector>

#include "comm/check.h"
#include "net/sim/random.h"

namespace random_calls {

using lanyard::sim::Random;

template <class Limit>
int below(Random &random, Limit limit) {
    return static_cast<int>(random.below(static_cast<uint64_t>(limit)));
}
inline int between(Random &random, int64_t least, int64_t most) {
    return static_cast<int>(random.between(least, most));
}

// A predefined datatype whose bytes are moved unchanged.
struct Basic {
    MPI_Datatype handle;
    int bytes, alignment;
};
using Signature = std::vector<const Basic *>;

struct Entry {
    const Basic *basic;
    MPI_Aint at;
};

// A type map with its bounds. If a part has explicit bounds (MPI_Type_create_resized, arrays), the bounds of
// the map follow from the explicit bounds only.
struct Map {
    std::vector<Entry> entries;
    // The upper ends of the parts without explicit bounds. They include the padding that all libraries add.
    std::vector<MPI_Aint> part_ends;
    bool bounded = false;
    MPI_Aint given_low = 0, given_high = 0;

    void add(const Map &part, MPI_Aint at);
    void set_bounds(MPI_Aint low, MPI_Aint high) { bounded = true, given_low = low, given_high = high; }
    MPI_Aint true_low() const;
    MPI_Aint true_high() const;
    MPI_Aint low() const { return bounded ? given_low : true_low(); }
    MPI_Aint extent() const;
    MPI_Aint alignment() const;
};

// A committed datatype. It is freed with this object unless it is predefined.
class Type {
public:
    Type(MPI_Datatype made, Map its_map) : handle(made), map(std::move(its_map)) {}
    ~Type();
    Type(const Type &) = delete;
    Type &operator=(const Type &) = delete;

    const MPI_Datatype handle;
    const Map map;
};
using TypePointer = std::shared_ptr<Type>;

Signature random_signature(Random &random, int most);
// Returns a datatype of this signature, built by random constructors. Successive elements do not overlap.
// Checks the size and bounds that the library reports.
TypePointer random_type(Random &random, const Signature &signature);

// Generates bytes that depend on a key and on their position, so that data in a wrong position are detected.
struct Content {
    uint64_t key;
    void write(std::byte *to, size_t element, int bytes) const;
};

// Memory for blocks of typed elements, filled with noise, and a second copy with the contents that the memory
// must have, including the gaps.
class Area {
public:
    struct Block {
        MPI_Aint at;
        TypePointer type;
        int count;
    };
    Area(Random &random, std::vector<Block> blocks);
    Area(Random &random, const TypePointer &type, int count) : Area(random, {Block{0, type, count}}) {}

    void *address() { return memory_.data() + origin_; }
    // Writes the elements of a block, both in memory and in the expected contents. `first` is the index of
    // the block's first element in `content`.
    void put(size_t block, Content content, size_t first = 0);
    // Expects that this many basic elements of the block (all if -1) have changed to `content`, and that its
    // other elements are unchanged.
    void expect(size_t block, Content content, size_t first = 0, int64_t basic_elements = -1);
    void check_it(const std::string &what) const;
    size_t elements(size_t block) const {
        return static_cast<size_t>(blocks_[block].count) * blocks_[block].type->map.entries.size();
    }

private:
    void write(std::vector<std::byte> &bytes, size_t block, Content content, size_t first,
               int64_t basic_elements);

    std::vector<Block> blocks_;
    std::vector<std::byte> memory_, wanted_;
    MPI_Aint origin_ = 0;
};

}  // namespace random_calls
