// Creates derived datatypes: the constructors (construct.h) fill in definitions, from which bounds and layout
// are computed. Bounds are computed in 128 bits and must fit into 62 bits, so that no later computation with
// them overflows.
#include "datatype/construct.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/abi_constants.h"
#include "datatype/assemble.h"
#include "datatype/layout.h"

namespace lanyard {

namespace {

using Wide = __int128;

struct Bounds {
    Wide lower = 0, upper = 0;
    bool any = false;

    void include(Wide low, Wide high) {
        lower = any ? std::min(lower, low) : low;
        upper = any ? std::max(upper, high) : high;
        any = true;
    }
    // Includes `count` copies of [low, high) that are `step` apart, from `offset` on. The first and the last
    // copy determine the bounds.
    void include(Wide offset, Wide count, Wide step, Wide low, Wide high) {
        include(offset + low, offset + high);
        include(offset + (count - 1) * step + low, offset + (count - 1) * step + high);
    }
};

Error out_of_datatypes() {
    return Error(ErrorClass::no_mem,
                 "no memory for another datatype; free datatypes that are no longer used");
}

// The most levels of nesting. This limits the recursion of functions that destroy datatypes, walk layouts or
// answer some queries.
constexpr int32_t most_depth = 1'000;

bool representable(Wide value) {
    constexpr Wide limit = Wide{1} << 62;
    return value > -limit && value < limit;
}

// Returns the value, or 2^62 if it is not representable. Sums and products that continue from 2^62 are not
// representable either, and do not overflow.
Wide capped(Wide value) { return representable(value) ? value : Wide{1} << 62; }

Error too_large() {
    return Error(
        ErrorClass::arg,
        "the datatype would span more than 2^62 bytes; a count, a displacement or a stride is too large");
}

// A Summary collects the properties of a datatype block by block. If MPI_Type_create_resized has set the
// bounds of a part, only such bounds count (MPI-5.0 5.1.7). Otherwise the bounds of all parts that have data
// count, including their padding as in other libraries, and the extent is rounded up to the strictest
// alignment.
class Summary {
public:
    void add(const TypeBlock &block) {
        if (block.count == 0) return;
        const Datatype &type = *block.type;
        size = capped(size + Wide{block.count} * type.size);
        elements = capped(elements + Wide{block.count} * type.elements);
        alignment = std::max(alignment, type.alignment);
        supported &= type.supported;
        Wide lower = type.lower_bound, upper = lower + type.extent;
        if (type.explicit_bounds)
            explicit_bounds.include(block.offset, block.count, type.extent, lower, upper);
        else if (type.size > 0) bounds_of_parts.include(block.offset, block.count, type.extent, lower, upper);
        if (type.size > 0) {
            Wide low = type.true_lower_bound;
            true_bounds.include(block.offset, block.count, type.extent, low, low + type.true_extent);
        }
    }
    // Adds all `count` blocks of a regular definition, computed from the first and the last block.
    void add_regular(const TypeBlock &first, const TypeBlock &last, int64_t count) {
        add(first);
        size = capped(size * count);
        elements = capped(elements * count);
        Wide all_bytes = size, all_elements = elements;
        add(last);
        size = all_bytes;
        elements = all_elements;
    }
    Error store(Datatype &made) const {
        const Bounds &bounds = explicit_bounds.any ? explicit_bounds : bounds_of_parts;
        Wide extent = bounds.upper - bounds.lower;
        if (!explicit_bounds.any) extent = (extent + alignment - 1) / alignment * alignment;
        Wide true_extent = true_bounds.upper - true_bounds.lower;
        for (Wide value : {size, elements, bounds.lower, extent, true_bounds.lower, true_extent})
            if (!representable(value)) return too_large();
        made.size = static_cast<int64_t>(size);
        made.elements = static_cast<int64_t>(elements);
        made.lower_bound = static_cast<int64_t>(bounds.lower);
        made.extent = static_cast<int64_t>(extent);
        made.true_lower_bound = static_cast<int64_t>(true_bounds.lower);
        made.true_extent = static_cast<int64_t>(true_extent);
        made.alignment = alignment;
        made.explicit_bounds = explicit_bounds.any;
        made.supported = supported;
        return {};
    }

private:
    Wide size = 0, elements = 0;
    int32_t alignment = 1;
    bool supported = true;
    Bounds explicit_bounds, bounds_of_parts, true_bounds;
};

Error summarize(const TypeDefinition &definition, Datatype &made) {
    Summary summary;
    int64_t blocks = definition.blocks();
    if (definition.regular() && blocks > 0) {
        summary.add_regular(definition.block(0), definition.block(blocks - 1), blocks);
    } else {
        for (int64_t i = 0; i < blocks; ++i) summary.add(definition.block(i));
    }
    return summary.store(made);
}

PlacedLayout layout_of(const TypeBlock &block) {
    const Datatype &type = *block.type;
    PlacedLayout layout = repeated({type.origin, type.layout}, block.count, type.extent);
    layout.origin += block.offset;
    return layout;
}

// The layout of a definition whose blocks are not regular. Blocks that continue the previous block are merged
// with it first. Blocks of the same type and count share one layout.
PlacedLayout layout_of_blocks(const TypeDefinition &definition) {
    std::vector<PlacedLayout> pieces;
    std::map<std::pair<const Datatype *, int64_t>, PlacedLayout> known;
    auto add = [&](const TypeBlock &block) {
        PlacedLayout &layout = known[{block.type, block.count}];
        if (!layout.layout) layout = layout_of({0, block.count, block.type});
        pieces.push_back({layout.origin + block.offset, layout.layout});
    };
    TypeBlock open{0, 0, nullptr};
    for (int64_t i = 0, blocks = definition.blocks(); i < blocks; ++i) {
        TypeBlock block = definition.block(i);
        if (block.count == 0 || block.type->size == 0) continue;
        if (block.type == open.type && block.offset == open.offset + open.count * block.type->extent) {
            open.count += block.count;
        } else {
            if (open.type) add(open);
            open = block;
        }
    }
    if (open.type) add(open);
    return joined(pieces);
}

PlacedLayout layout_of(const TypeDefinition &definition) {
    int64_t blocks = definition.blocks();
    if (blocks == 0) return {};
    if (blocks == 1) return layout_of(definition.block(0));
    if (!definition.regular()) return layout_of_blocks(definition);
    return repeated(layout_of(definition.block(0)), blocks,
                    definition.block(1).offset - definition.block(0).offset);
}

std::shared_ptr<TypeDefinition> defined(int combiner, Datatype &old) {
    auto definition = std::make_shared<TypeDefinition>();
    definition->combiner = combiner;
    definition->use(old);
    return definition;
}

Error negative(const char *what, int64_t value) {
    return Error(ErrorClass::arg,
                 std::string(what) + " is " + std::to_string(value) + "; it must not be negative");
}

Error check_lengths(const Integers &blocklengths) {
    for (size_t i = 0; i < blocklengths.size(); ++i)
        if (blocklengths[i] < 0)
            return negative(("block length " + std::to_string(i)).c_str(), blocklengths[i]);
    return {};
}

// True if a product can be computed in 64 bits, as TypeDefinition::block() does, without overflow.
bool product_fits(int64_t a, int64_t b, int64_t c = 1) {
    return representable(Wide{a} * b) && representable(Wide{a} * b * c);
}

Error check_displacements(const Integers &displacements, const Datatype &old) {
    for (int64_t displacement : displacements)
        if (!product_fits(displacement, old.extent)) return too_large();
    return {};
}

Integers listed(std::initializer_list<int64_t> head, const Integers &tail, const Integers &more = {}) {
    Integers all(head);
    all.insert(all.end(), tail.begin(), tail.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

Error assemble(std::shared_ptr<const TypeDefinition> definition, Datatype **made) {
    int32_t depth = definition->inner ? definition->inner->depth : 0;
    for (const Datatype *part : definition->datatypes) depth = std::max(depth, part->depth);
    if (++depth > most_depth)
        return Error(ErrorClass::no_mem, "datatypes would be nested more than " + std::to_string(most_depth) +
                                             " deep; make it of simpler ones");
    Datatype *datatype = datatype_pool().create();
    if (!datatype) return out_of_datatypes();
    datatype->depth = depth;
    Error error = summarize(*definition, *datatype);
    if (error) {
        release(*datatype);
        return error;
    }
    PlacedLayout layout = layout_of(*definition);
    datatype->origin = layout.origin;
    datatype->layout = std::move(layout.layout);
    settle(*datatype);
    datatype->definition = std::move(definition);
    *made = datatype;
    return {};
}

void settle(Datatype &datatype) {
    datatype.contiguous = datatype.size == 0 || (datatype.origin == 0 && datatype.layout->is_run() &&
                                                 datatype.extent == datatype.size);
}

Error make_contiguous(int64_t count, Datatype &old, Datatype **made) {
    if (count < 0) return negative("the count", count);
    auto definition = defined(abi::combiner_contiguous, old);
    definition->integers = {count};
    return assemble(std::move(definition), made);
}

Error make_vector(int64_t count, int64_t blocklength, int64_t stride, Datatype &old, Datatype **made) {
    if (count < 0) return negative("the count", count);
    if (blocklength < 0) return negative("the block length", blocklength);
    if (count > 1 && !product_fits(stride, old.extent, count)) return too_large();
    auto definition = defined(abi::combiner_vector, old);
    definition->integers = {count, blocklength, stride};
    return assemble(std::move(definition), made);
}

Error make_hvector(int64_t count, int64_t blocklength, int64_t stride, Datatype &old, Datatype **made) {
    if (count < 0) return negative("the count", count);
    if (blocklength < 0) return negative("the block length", blocklength);
    if (count > 1 && !product_fits(stride, count)) return too_large();
    auto definition = defined(abi::combiner_hvector, old);
    definition->integers = {count, blocklength};
    definition->addresses = {stride};
    return assemble(std::move(definition), made);
}

Error make_indexed(const Integers &blocklengths, const Integers &displacements, Datatype &old,
                   Datatype **made) {
    if (Error error = check_lengths(blocklengths)) return error;
    if (Error error = check_displacements(displacements, old)) return error;
    auto definition = defined(abi::combiner_indexed, old);
    definition->integers = listed({static_cast<int64_t>(blocklengths.size())}, blocklengths, displacements);
    return assemble(std::move(definition), made);
}

Error make_hindexed(const Integers &blocklengths, Integers displacements, Datatype &old, Datatype **made) {
    if (Error error = check_lengths(blocklengths)) return error;
    auto definition = defined(abi::combiner_hindexed, old);
    definition->integers = listed({static_cast<int64_t>(blocklengths.size())}, blocklengths);
    definition->addresses = std::move(displacements);
    return assemble(std::move(definition), made);
}

Error make_indexed_block(int64_t blocklength, const Integers &displacements, Datatype &old, Datatype **made) {
    if (blocklength < 0) return negative("the block length", blocklength);
    if (Error error = check_displacements(displacements, old)) return error;
    auto definition = defined(abi::combiner_indexed_block, old);
    definition->integers = listed({static_cast<int64_t>(displacements.size()), blocklength}, displacements);
    return assemble(std::move(definition), made);
}

Error make_hindexed_block(int64_t blocklength, Integers displacements, Datatype &old, Datatype **made) {
    if (blocklength < 0) return negative("the block length", blocklength);
    auto definition = defined(abi::combiner_hindexed_block, old);
    definition->integers = {static_cast<int64_t>(displacements.size()), blocklength};
    definition->addresses = std::move(displacements);
    return assemble(std::move(definition), made);
}

Error make_struct(const Integers &blocklengths, Integers displacements, const std::vector<Datatype *> &types,
                  Datatype **made) {
    if (Error error = check_lengths(blocklengths)) return error;
    auto definition = std::make_shared<TypeDefinition>();
    definition->combiner = abi::combiner_struct;
    definition->integers = listed({static_cast<int64_t>(blocklengths.size())}, blocklengths);
    definition->addresses = std::move(displacements);
    for (Datatype *type : types) definition->use(*type);
    return assemble(std::move(definition), made);
}

Error make_resized(Datatype &old, int64_t lower_bound, int64_t extent, Datatype **made) {
    if (!representable(lower_bound) || !representable(extent)) return too_large();
    auto definition = defined(abi::combiner_resized, old);
    definition->addresses = {lower_bound, extent};
    if (Error error = assemble(std::move(definition), made)) return error;
    (*made)->lower_bound = lower_bound;
    (*made)->extent = extent;
    (*made)->explicit_bounds = true;
    settle(**made);
    return {};
}

Error make_dup(Datatype &old, Datatype **made) {
    if (Error error = assemble(defined(abi::combiner_dup, old), made)) return error;
    (*made)->committed = old.committed;
    return {};
}

Error make_copy(const Datatype &old, Datatype **made) {
    Datatype *copy = datatype_pool().create();
    if (!copy) return out_of_datatypes();
    copy->size = old.size;
    copy->lower_bound = old.lower_bound;
    copy->extent = old.extent;
    copy->true_lower_bound = old.true_lower_bound;
    copy->true_extent = old.true_extent;
    copy->elements = old.elements;
    copy->alignment = old.alignment;
    copy->depth = old.depth;
    copy->contiguous = old.contiguous;
    copy->explicit_bounds = old.explicit_bounds;
    copy->committed = old.committed;
    copy->large_counts = old.large_counts;
    copy->supported = old.supported;
    copy->origin = old.origin;
    copy->layout = old.layout;
    copy->definition = old.definition;
    *made = copy;
    return {};
}

}  // namespace lanyard
