// Maps the kinds in predefined::Element to C++ types, as far as this compiler has these types. An optional
// datatype whose C++ type is missing is listed but not supported.
// Tested by: tests/unit/datatype/op_test.cc, tests/unit/datatype/external32_test.cc.
#pragma once

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "datatype/generated/predefined.h"

namespace lanyard {

// Stands for a type that the compiler does not have.
struct NoType {};

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using Float16 = __fp16;  // the same type under the name that this compiler has in C++
#elif defined(__FLT16_MANT_DIG__)
using Float16 = _Float16;
#else
using Float16 = NoType;
#endif

#if LDBL_MANT_DIG == 113
using Float128 = long double;
#elif defined(__SIZEOF_FLOAT128__)
using Float128 = __float128;
#else
using Float128 = NoType;
#endif

using Int128 = __int128;

// Calls body(T{}), where T is the C++ type of the element. For a complex element, T is the type of its real
// and imaginary parts. For bytes, booleans and logicals, T is an unsigned integer of their size. For a
// character, T is char, which is signed on some machines.
template <class Body>
decltype(auto) with_element_type(predefined::Element element, Body body) {
    using predefined::Element;
    switch (element) {
    case Element::int8: return body(int8_t{});
    case Element::int16: return body(int16_t{});
    case Element::int32: return body(int32_t{});
    case Element::int64: return body(int64_t{});
    case Element::int128: return body(Int128{});
    case Element::uint16:
    case Element::logical16: return body(uint16_t{});
    case Element::uint32:
    case Element::logical32: return body(uint32_t{});
    case Element::uint64:
    case Element::logical64: return body(uint64_t{});
    case Element::logical128: return body(static_cast<unsigned __int128>(0));
    case Element::float16:
    case Element::complex_float16: return body(Float16{});
    case Element::float32:
    case Element::complex_float32: return body(float{});
    case Element::float64:
    case Element::complex_float64: return body(double{});
    case Element::float128:
    case Element::complex_float128: return body(Float128{});
    case Element::long_double:
    case Element::complex_long_double: return body(static_cast<long double>(0));
    case Element::character:
        return body(char{});
    case Element::none:
    case Element::uint8:
    case Element::logical8:
    case Element::boolean:
    case Element::byte:
        break;
    }
    return body(uint8_t{});
}

constexpr bool is_complex(predefined::Element element) {
    return element >= predefined::Element::complex_float16 &&
           element <= predefined::Element::complex_long_double;
}

inline bool element_supported(predefined::Element element) {
    return with_element_type(element, [](auto zero) { return !std::is_same_v<decltype(zero), NoType>; });
}

}  // namespace lanyard
