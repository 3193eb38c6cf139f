// See signature.h.
#include "datatype/signature.h"

#include <iterator>

#include "datatype/elements.h"

namespace lanyard {

namespace {

using predefined::Element;

// If all elements are of one kind, the upper bits of a signature contain the number of that kind, from 1 on.
// Otherwise the upper bits contain `mixed`, and the lower bits contain a digest of the sequence of kinds.
constexpr int digest_bits = 26;
constexpr uint32_t mixed = 63;

uint32_t code_of(Element element) { return static_cast<uint32_t>(element) + 1; }
uint32_t kind_in(uint32_t word) { return word >> digest_bits; }

const char *name_of(uint32_t code) {
    constexpr const char *names[] = {
        "none", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64", "float128", "long double", "complex float16", "complex float32",
        "complex float64", "complex float128", "complex long double", "logical8", "logical16", "logical32",
        "logical64", "logical128", "boolean", "bytes", "characters"};
    static_assert(std::size(names) == static_cast<size_t>(Element::character) + 1);
    return code == mixed ? "a mixture" : code <= std::size(names) ? names[code - 1] : "unknown";
}

struct Visitor {
    int64_t bytes_left;
    uint32_t only = 0;    // the code of all elements so far, or `mixed`
    uint64_t digest = 0;
    bool has_bytes = false;

    bool add(Element element) {
        has_bytes |= element == Element::byte;
        uint32_t code = code_of(element);
        only = only == 0 || only == code ? code : mixed;
        digest = (digest ^ code) * 0x100000001b3u;
        return !has_bytes;
    }
    bool operator()(const predefined::Type &type, int64_t, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            if (bytes_left <= 0) return false;
            if (!add(type.element) || (type.index != Element::none && !add(type.index))) return false;
            bytes_left -= type.size;
        }
        return true;
    }
};

}  // namespace

uint32_t type_signature(const Buffer &buffer, int64_t bytes) {
    const predefined::Type *basic = buffer.datatype->basic;
    bool without_elements = !basic && !buffer.datatype->definition;  // packed data of the library itself
    if (bytes == 0 || buffer.datatype->size == 0 || without_elements) return 0;
    if (basic && basic->index == Element::none)
        return basic->element == Element::byte ? 0 : code_of(basic->element) << digest_bits;
    Visitor visitor{bytes};
    each_element(*buffer.datatype, 0, buffer.count, visitor);
    if (visitor.has_bytes) return 0;
    return visitor.only << digest_bits |
           (visitor.only == mixed ? static_cast<uint32_t>(visitor.digest >> 20) & ((1u << digest_bits) - 1)
                                  : 0);
}

std::string signature_difference(uint32_t receiver, uint32_t sender) {
    if (receiver == sender || receiver == 0 || sender == 0) return "";
    if (kind_in(receiver) == mixed && kind_in(sender) == mixed)
        return "both are mixtures of elements, in another order or of other kinds";
    return std::string("the sender's elements are ") + name_of(kind_in(sender)) + ", the receiver's " +
           name_of(kind_in(receiver));
}

}  // namespace lanyard
