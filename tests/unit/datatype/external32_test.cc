// Tests external32: known bytes, and conversions there and back for random values and layouts.
#include <gtest/gtest.h>

#include <cstring>

#include "base/abi_constants.h"
#include "datatype/construct.h"
#include "datatype/element.h"
#include "datatype/external32.h"
#include "datatype/predefined.h"
#include "reference.h"

namespace lanyard {
namespace {

using Bytes = std::vector<int>;

template <class T>
Bytes external(int type, const T &value) {
    Datatype &datatype = *predefined_datatype(type);
    std::vector<std::byte> out(static_cast<size_t>(external32_size(datatype)));
    T copy = value;
    to_external32({reinterpret_cast<std::byte *>(&copy), 1, &datatype}, out.data());
    T back;
    std::memset(&back, 0xee, sizeof back);
    from_external32(out.data(), {reinterpret_cast<std::byte *>(&back), 1, &datatype});
    EXPECT_EQ(back, value) << datatype.name.get();
    Bytes bytes;
    for (std::byte b : out) bytes.push_back(static_cast<int>(b));
    return bytes;
}

TEST(External32, KnownBytes) {
    EXPECT_EQ(external<int>(abi::type_int, -2), (Bytes{0xff, 0xff, 0xff, 0xfe}));
    EXPECT_EQ(external<short>(abi::type_short, 0x0102), (Bytes{1, 2}));
    EXPECT_EQ(external<long>(abi::type_long, -3), (Bytes{0xff, 0xff, 0xff, 0xfd}));
    EXPECT_EQ(external<unsigned long>(abi::type_unsigned_long, 0xfffffffdu), (Bytes{0xff, 0xff, 0xff, 0xfd}));
    EXPECT_EQ(external<long long>(abi::type_long_long, 1), (Bytes{0, 0, 0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(external<wchar_t>(abi::type_wchar, L'\u20ac'), (Bytes{0x20, 0xac}));
    EXPECT_EQ(external<char>(abi::type_char, 'A'), (Bytes{0x41}));
    EXPECT_EQ(external<float>(abi::type_float, 1.0f), (Bytes{0x3f, 0x80, 0, 0}));
    EXPECT_EQ(external<double>(abi::type_double, -2.0), (Bytes{0xc0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(external<bool>(abi::type_c_bool, true), (Bytes{1}));
    EXPECT_EQ(external<int>(abi::type_logical, 1), (Bytes{0, 0, 0, 1}));
}

// 1.5 in IEEE binary128: exponent 0x3fff, first fraction bit set. Memory holds another format on x86-64.
TEST(External32, LongDouble) {
    EXPECT_EQ(external<long double>(abi::type_long_double, 1.5L),
              (Bytes{0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(external<long double>(abi::type_long_double, -0.1L).size(), 16u);
}

TEST(External32, ComplexNumbersAndPairs) {
    struct Complex {
        float parts[2];
        bool operator==(const Complex &other) const {
            return parts[0] == other.parts[0] && parts[1] == other.parts[1];
        }
    };
    EXPECT_EQ(external<Complex>(abi::type_c_float_complex, {{1, -1}}),
              (Bytes{0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0}));
    struct Pair {
        short value;
        int index;
        bool operator==(const Pair &other) const { return value == other.value && index == other.index; }
    };
    EXPECT_EQ(external<Pair>(abi::type_short_int, {0x0102, 0x03040506}), (Bytes{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(external32_size(*predefined_datatype(abi::type_long_int)), 8);
    EXPECT_EQ(external32_size(*predefined_datatype(abi::type_long_double_int)), 20);
}

// One number of every predefined datatype, including the optional ones: converted, checked as a big-endian
// number if it is an integer, and converted back.
TEST(External32, EveryPredefinedDatatypeThereAndBack) {
    int tried = 0;
    for (const predefined::Type &type : predefined::types) {
        Datatype &datatype = *predefined_datatype(type.value);
        if (!datatype.supported) continue;
        SCOPED_TRACE(type.name);
        ++tried;
        std::vector<std::byte> memory(type.extent, std::byte{0}), back(type.extent, std::byte{0}),
            out(type.external32_size);
        auto put = [&](predefined::Element element, int64_t offset, int number) {
            return with_element_type(element, [&](auto zero) {
                using T = decltype(zero);
                if constexpr (!std::is_same_v<T, NoType>) {
                    T value = static_cast<T>(number);
                    // Padding may hold anything.
                    constexpr bool padded = std::is_same_v<T, long double> && LDBL_MANT_DIG == 64;
                    size_t bytes = padded ? 10 : sizeof value;
                    std::memcpy(memory.data() + offset, &value,
                                std::min(bytes, memory.size() - static_cast<size_t>(offset)));
                }
                return static_cast<int64_t>(sizeof(T));
            });
        };
        int64_t first = put(type.element, 0, 107);
        if (is_complex(type.element)) put(type.element, first, -23);
        if (type.index != predefined::Element::none) put(type.index, type.index_offset, 77);
        to_external32({memory.data(), 1, &datatype}, out.data());
        from_external32(out.data(), {back.data(), 1, &datatype});
        EXPECT_EQ(back, memory);
        bool integer = type.element < predefined::Element::float16 && type.index == predefined::Element::none;
        for (size_t i = 0; integer && i < out.size(); ++i)
            EXPECT_EQ(static_cast<int>(out[i]), i + 1 == out.size() ? 107 : 0);
    }
    EXPECT_GE(tried, 68);  // of 70; a compiler may lack two of the optional floating-point kinds
}

TEST(External32, ThereAndBackThroughLayouts) {
    for (uint64_t seed : reference::seeds(1000)) {
        reference::Random random(seed);
        reference::Made made = reference::random_type(random, 1 + static_cast<int>(seed % 3));
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed) + " repeats this: " + made.text);
        const int64_t count = 2;
        std::vector<int64_t> offsets = reference::byte_offsets(made.expected, count);
        int64_t least = 0, most = 0;
        for (int64_t offset : offsets) {
            least = std::min(least, offset);
            most = std::max(most, offset + 1);
        }
        std::vector<std::byte> memory(static_cast<size_t>(most - least)), back(memory.size());
        for (std::byte &b : memory) b = static_cast<std::byte>(random());
        std::vector<std::byte> out(static_cast<size_t>(count * external32_size(*made.real)));
        ASSERT_EQ(out.size(), offsets.size());  // no random leaf has another size in external32
        to_external32({memory.data() - least, count, made.real}, out.data());
        from_external32(out.data(), {back.data() - least, count, made.real});
        for (int64_t offset : offsets) {
            size_t at = static_cast<size_t>(offset - least);
            ASSERT_EQ(back[at], memory[at]);
        }
        if (!made.real->predefined()) release(*made.real);
    }
}

}  // namespace
}  // namespace lanyard
