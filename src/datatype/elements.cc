// Counts basic elements (elements.h). The basic elements in whole elements of a datatype are counted by
// division. Those in an incomplete last element are counted block by block.
#include "datatype/elements.h"

#include "datatype/element.h"

namespace lanyard {

namespace {

// The size of a pair's value, which precedes the index in the stream: the size of the pair minus the size of
// the index.
int64_t value_bytes(const predefined::Type &pair) {
    return pair.size -
           with_element_type(pair.index, [](auto zero) { return static_cast<int64_t>(sizeof zero); });
}

bool is_pair(const Datatype &datatype) {
    return datatype.basic && datatype.basic->index != predefined::Element::none;
}

}  // namespace

int64_t basic_elements(const Datatype &datatype, int64_t bytes) {
    if (datatype.size == 0) return bytes == 0 ? 0 : abi::undefined;
    int64_t elements = bytes / datatype.size * datatype.elements, rest = bytes % datatype.size;
    if (rest == 0) return elements;
    if (datatype.basic)
        return is_pair(datatype) && rest == value_bytes(*datatype.basic) ? elements + 1 : abi::undefined;
    const TypeDefinition &definition = *datatype.definition;
    for (int64_t i = 0;; ++i) {
        TypeBlock block = definition.block(i);
        int64_t size = block.count * block.type->size;
        if (rest < size) {
            int64_t more = basic_elements(*block.type, rest);
            return more == abi::undefined ? more : elements + more;
        }
        if (definition.regular()) {  // all blocks are equal: skip many at once
            elements += rest / size * block.count * block.type->elements;
            rest %= size;
        } else {
            elements += block.count * block.type->elements;
            rest -= size;
        }
        if (rest == 0) return elements;
    }
}

int64_t bytes_of_elements(const Datatype &datatype, int64_t elements) {
    if (datatype.elements == 0) return 0;
    int64_t bytes = elements / datatype.elements * datatype.size, rest = elements % datatype.elements;
    if (rest == 0) return bytes;
    if (datatype.basic) return bytes + value_bytes(*datatype.basic);
    const TypeDefinition &definition = *datatype.definition;
    for (int64_t i = 0; rest > 0; ++i) {
        TypeBlock block = definition.block(i);
        int64_t in_block = block.count * block.type->elements;
        if (rest < in_block) return bytes + bytes_of_elements(*block.type, rest);
        int64_t times = definition.regular() ? rest / in_block : 1;
        bytes += times * block.count * block.type->size;
        rest -= times * in_block;
    }
    return bytes;
}

}  // namespace lanyard
