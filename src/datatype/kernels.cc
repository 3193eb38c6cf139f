// Contains one plain loop for each operation and element type. The loops are simple enough for the compiler
// to vectorise them (this file is compiled with -O3). Integers are added and multiplied as unsigned numbers,
// so that overflow wraps as in other libraries. If two values are equal, MINLOC and MAXLOC keep the smaller
// index (MPI-5.0 6.9.4).
#include "datatype/kernels.h"

#include <algorithm>
#include <type_traits>

#include "base/abi_constants.h"
#include "datatype/element.h"

namespace lanyard {

namespace {

using predefined::Element;

template <class T>
constexpr bool is_integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, unsigned __int128>;

// The unsigned type in which numbers of the type T are added and multiplied. It is at least as wide as T and
// as int.
template <class T>
using Modular =
    std::conditional_t<(sizeof(T) < sizeof(int)), unsigned,
                       std::conditional_t<sizeof(T) == 16, unsigned __int128,
                                          std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>>;

struct Sum {
    template <class T>
    static T apply(T a, T b) {
        if constexpr (is_integer<T>)
            return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
        else return a + b;
    }
};
struct Product {
    template <class T>
    static T apply(T a, T b) {
        if constexpr (is_integer<T>)
            return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
        else return a * b;
    }
};
struct Minimum {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};
struct Maximum {
    template <class T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};

// The bitwise and logical operations are for integers only.
struct BitAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct BitOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct BitXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
struct LogicalAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) & (b != 0));
    }
};
struct LogicalOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) | (b != 0));
    }
};
struct LogicalXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) != (b != 0));
    }
};

template <class Operation, class T>
void loop(const void *in, void *inout, int64_t count) {
    const T *__restrict from = static_cast<const T *>(in);
    T *__restrict to = static_cast<T *>(inout);
    for (int64_t i = 0; i < count; ++i) to[i] = Operation::template apply<T>(from[i], to[i]);
}

template <class T>
void complex_sum(const void *in, void *inout, int64_t count) {
    loop<Sum, T>(in, inout, 2 * count);
}

template <class T>
void complex_product(const void *in, void *inout, int64_t count) {
    const T *__restrict from = static_cast<const T *>(in);
    T *__restrict to = static_cast<T *>(inout);
    for (int64_t i = 0; i < 2 * count; i += 2) {
        T real = from[i] * to[i] - from[i + 1] * to[i + 1];
        T imaginary = from[i] * to[i + 1] + from[i + 1] * to[i];
        to[i] = real;
        to[i + 1] = imaginary;
    }
}

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

template <class P, bool greatest>
void locate(const void *in, void *inout, int64_t count) {
    const P *__restrict from = static_cast<const P *>(in);
    P *__restrict to = static_cast<P *>(inout);
    for (int64_t i = 0; i < count; ++i) {
        bool better = greatest ? from[i].value > to[i].value : from[i].value < to[i].value;
        if (better) {
            to[i].value = from[i].value;
            to[i].index = from[i].index;
        } else if (from[i].value == to[i].value) {
            to[i].index = std::min(from[i].index, to[i].index);
        }
    }
}

template <class Operation>
ReductionKernel for_numbers(Element element) {
    return with_element_type(element, [](auto zero) -> ReductionKernel {
        using T = decltype(zero);
        if constexpr (std::is_same_v<T, NoType>) return nullptr;
        else return loop<Operation, T>;
    });
}

template <class Operation>
ReductionKernel for_integers(Element element) {
    return with_element_type(element, [](auto zero) -> ReductionKernel {
        using T = decltype(zero);
        if constexpr (is_integer<T>) return loop<Operation, T>;
        else return nullptr;
    });
}

ReductionKernel for_complex(Element element, bool product) {
    return with_element_type(element, [&](auto zero) -> ReductionKernel {
        using T = decltype(zero);
        if constexpr (is_integer<T> || std::is_same_v<T, NoType>) return nullptr;
        else return product ? complex_product<T> : complex_sum<T>;
    });
}

template <class Value, class Index>
ReductionKernel for_pair(bool greatest) {
    return greatest ? locate<Pair<Value, Index>, true> : locate<Pair<Value, Index>, false>;
}

ReductionKernel for_pairs(const predefined::Type &type, bool greatest) {
    switch (type.value) {
    case abi::type_float_int: return for_pair<float, int>(greatest);
    case abi::type_double_int: return for_pair<double, int>(greatest);
    case abi::type_long_int: return for_pair<long, int>(greatest);
    case abi::type_2int:
    case abi::type_2integer: return for_pair<int, int>(greatest);
    case abi::type_short_int: return for_pair<short, int>(greatest);
    case abi::type_long_double_int: return for_pair<long double, int>(greatest);
    case abi::type_2real: return for_pair<float, float>(greatest);
    case abi::type_2double_precision: return for_pair<double, double>(greatest);
    }
    return nullptr;
}

}  // namespace

ReductionKernel reduction_kernel(int op_value, const predefined::Type &type) {
    uint64_t computed =
        predefined::allowed_operations(type.group) | predefined::accepted_operations(type.value);
    if ((computed & predefined::operation_bit(op_value)) == 0) return nullptr;
    bool complex = is_complex(type.element);
    switch (op_value) {
    case abi::op_sum: return complex ? for_complex(type.element, false) : for_numbers<Sum>(type.element);
    case abi::op_prod: return complex ? for_complex(type.element, true) : for_numbers<Product>(type.element);
    case abi::op_min: return for_numbers<Minimum>(type.element);
    case abi::op_max: return for_numbers<Maximum>(type.element);
    case abi::op_band: return for_integers<BitAnd>(type.element);
    case abi::op_bor: return for_integers<BitOr>(type.element);
    case abi::op_bxor: return for_integers<BitXor>(type.element);
    case abi::op_land: return for_integers<LogicalAnd>(type.element);
    case abi::op_lor: return for_integers<LogicalOr>(type.element);
    case abi::op_lxor: return for_integers<LogicalXor>(type.element);
    case abi::op_minloc: return for_pairs(type, false);
    case abi::op_maxloc: return for_pairs(type, true);
    }
    return nullptr;
}

}  // namespace lanyard
