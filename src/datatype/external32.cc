// See external32.h. A basic element has one field, or two if it is a complex number or a pair. Each field is
// converted separately: its bytes are reversed. A long double has the IEEE 128-bit format in external32. An
// integer that is shorter in external32 than in memory is truncated by to_external32(), and extended by
// from_external32().
#include "datatype/external32.h"

#include <algorithm>
#include <cstring>

#include "datatype/element.h"
#include "datatype/elements.h"

namespace lanyard {

namespace {

using predefined::Element;

struct Field {
    int64_t offset;  // the offset in memory
    int64_t bytes;   // the number of bytes in memory
    int64_t external_bytes;
    bool is_signed;
    bool long_double;
};

struct Fields {
    Field field[2];
    int count;
};

// The bytes of a long double that have a meaning. The other bytes are padding with any content.
constexpr size_t long_double_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);

int64_t bytes_of(Element element) {
    return with_element_type(element, [](auto zero) { return static_cast<int64_t>(sizeof zero); });
}

bool is_signed(Element element) { return element >= Element::int8 && element <= Element::int128; }

Fields fields_of(const predefined::Type &type) {
    Element element = type.element;
    bool wide = element == Element::long_double || element == Element::complex_long_double;
    if (is_complex(element)) {
        int64_t bytes = type.size / 2;
        Field real{0, bytes, type.external32_size / 2, true, wide};
        Field imaginary = real;
        imaginary.offset = bytes;
        return {{real, imaginary}, 2};
    }
    if (type.index == Element::none)
        return {{{0, type.size, type.external32_size, is_signed(element), wide}, {}}, 1};
    int64_t index_bytes = bytes_of(type.index);
    Field value{0, type.size - index_bytes, type.external32_size - index_bytes, is_signed(element), wide};
    Field index{type.index_offset, index_bytes, index_bytes, is_signed(type.index), false};
    return {{value, index}, 2};
}

// Converts the number at `from`, which has field.bytes bytes in little-endian order, to field.external_bytes
// bytes in big-endian order. load_field() does the reverse.
void store_field(const std::byte *from, const Field &field, std::byte *to) {
    std::byte raw[16];
    std::memcpy(raw, from, static_cast<size_t>(field.bytes));
    if constexpr (!std::is_same_v<Float128, NoType>) {
        if (field.long_double) {
            long double number;
            std::memcpy(&number, from, sizeof number);
            auto converted = static_cast<Float128>(number);
            std::memcpy(raw, &converted, sizeof converted);
        }
    }
    std::reverse_copy(raw, raw + field.external_bytes, to);  // takes the low bytes, which are first in `raw`
}

void load_field(const std::byte *from, const Field &field, std::byte *to) {
    std::byte raw[16];
    std::reverse_copy(from, from + field.external_bytes, raw);
    if (field.external_bytes < field.bytes) {
        bool negative = field.is_signed && (raw[field.external_bytes - 1] & std::byte{0x80}) != std::byte{0};
        std::memset(raw + field.external_bytes, negative ? 0xff : 0,
                    static_cast<size_t>(field.bytes - field.external_bytes));
    }
    if constexpr (!std::is_same_v<Float128, NoType>) {
        if (field.long_double) {
            Float128 number;
            std::memcpy(&number, raw, sizeof number);
            auto converted = static_cast<long double>(number);
            std::memset(raw, 0, sizeof raw);
            std::memcpy(raw, &converted, long_double_bytes);
        }
    }
    std::memcpy(to, raw, static_cast<size_t>(field.bytes));
}

}  // namespace

int64_t external32_size(const Datatype &datatype) {
    if (datatype.basic) return datatype.basic->external32_size;
    const TypeDefinition &definition = *datatype.definition;
    int64_t blocks = definition.blocks();
    if (blocks == 0) return 0;
    auto size_of = [](const TypeBlock &block) {
        return block.count == 0 ? 0 : block.count * external32_size(*block.type);
    };
    if (definition.regular()) return blocks * size_of(definition.block(0));
    int64_t sum = 0;
    for (int64_t i = 0; i < blocks; ++i) sum += size_of(definition.block(i));
    return sum;
}

void to_external32(const Buffer &from, std::byte *to) {
    auto store = [&](const predefined::Type &type, int64_t offset, int64_t count) {
        const std::byte *at = from.base + offset;
        if (type.external32_size == 1) {
            std::memcpy(to, at, static_cast<size_t>(count));
            to += count;
            return true;
        }
        Fields fields = fields_of(type);
        for (int64_t i = 0; i < count; ++i, at += type.extent) {
            for (int f = 0; f < fields.count; ++f) {
                store_field(at + fields.field[f].offset, fields.field[f], to);
                to += fields.field[f].external_bytes;
            }
        }
        return true;
    };
    each_element(*from.datatype, 0, from.count, store);
}

void from_external32(const std::byte *from, const Buffer &to) {
    auto load = [&](const predefined::Type &type, int64_t offset, int64_t count) {
        std::byte *at = to.base + offset;
        if (type.external32_size == 1) {
            std::memcpy(at, from, static_cast<size_t>(count));
            from += count;
            return true;
        }
        Fields fields = fields_of(type);
        for (int64_t i = 0; i < count; ++i, at += type.extent) {
            for (int f = 0; f < fields.count; ++f) {
                load_field(from, fields.field[f], at + fields.field[f].offset);
                from += fields.field[f].external_bytes;
            }
        }
        return true;
    };
    each_element(*to.datatype, 0, to.count, load);
}

}  // namespace lanyard
