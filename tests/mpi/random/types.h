// Random datatypes, each beside what it is by definition: its type map (5.1), a plain list, from which everything else follows.
// Whoever wants two datatypes with equal signatures makes both from one signature. Used by the program of random calls.
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
inline int between(Random &random, int64_t least, int64_t most) { return static_cast<int>(random.between(least, most)); }

// A predefined datatype whose bytes are moved as they are.
struct Basic {
    MPI_Datatype handle;
    int bytes, alignment;
};
using Signature = std::vector<const Basic *>;

struct Entry {
    const Basic *basic;
    MPI_Aint at;
};

// A type map with its bounds: those that a part of it was given (MPI_Type_create_resized, arrays) rule alone.
struct Map {
    std::vector<Entry> entries;
    std::vector<MPI_Aint> part_ends;  // of parts without such bounds, with their padding, which all libraries count
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

// A committed datatype that is freed with this object, where it is not predefined.
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
// Of this signature, built by constructors drawn at random; elements one behind the other do not overlap. The library's size and
// bounds are compared with the definition's.
TypePointer random_type(Random &random, const Signature &signature);

// Bytes that depend on a key and their place, so that what arrives tells where it belongs.
struct Content {
    uint64_t key;
    void write(std::byte *to, size_t element, int bytes) const;
};

// Memory for blocks of typed elements: filled with noise, and a copy beside it of what it must hold, gaps included.
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
    // The elements of a block, both in memory and in what it must hold; the first is number `first` of the content.
    void put(size_t block, Content content, size_t first = 0);
    // The block will hold this many basic elements of the content (all: -1), the others stay.
    void expect(size_t block, Content content, size_t first = 0, int64_t basic_elements = -1);
    void check_it(const std::string &what) const;
    size_t elements(size_t block) const { return static_cast<size_t>(blocks_[block].count) * blocks_[block].type->map.entries.size(); }

private:
    void write(std::vector<std::byte> &bytes, size_t block, Content content, size_t first, int64_t basic_elements);

    std::vector<Block> blocks_;
    std::vector<std::byte> memory_, wanted_;
    MPI_Aint origin_ = 0;
};

}  // namespace random_calls
