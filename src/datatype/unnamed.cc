// See unnamed.h.
#include "datatype/unnamed.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/abi_constants.h"
#include "base/spin_lock.h"
#include "datatype/definition.h"
#include "datatype/element.h"
#include "datatype/predefined.h"

namespace lanyard {

namespace {

// A combiner and the arguments of the call: precision and range for real and complex types; range and 0 for
// an integer.
using Question = std::tuple<int, int, int>;

struct Known {
    SpinLock lock;
    std::map<Question, Datatype *> types;
};

Known &known() {
    static Known &all = *new Known;
    return all;
}

// Finds the datatype that was created for this question before, or creates one with the elements of `same`.
Error answer(const Question &question, const Datatype &same, std::vector<int64_t> arguments,
    Datatype **found) {
    SpinGuard guard(known().lock);
    Datatype *&type = known().types[question];
    if (!type) {
        type = datatype_pool().create();
        if (!type)
            return Error(ErrorClass::no_mem,
                         "no memory for another datatype; free datatypes that are no longer used");
        describe_basic(*type, *same.basic);
        type->abi_value = 0;
        type->name.set("");
        auto definition = std::make_shared<TypeDefinition>();
        definition->combiner = std::get<0>(question);
        definition->integers = std::move(arguments);
        type->definition = std::move(definition);
    }
    *found = type;
    return {};
}

struct Kind {
    int precision, range;  // the number of decimal digits, and the greatest power of ten
    int real, complex;     // the ABI values of the datatypes
};

// The floating-point kinds of Fortran compilers that belong to C compilers like this one. The 80-bit format
// is one of these kinds if long double has this format.
constexpr Kind kinds[] = {
    {6, 37, abi::type_real4, abi::type_complex8},
    {15, 307, abi::type_real8, abi::type_complex16},
#if LDBL_MANT_DIG == 64
    {18, 4931, abi::type_long_double, abi::type_c_long_double_complex},
#endif
    {33, 4931, abi::type_real16, abi::type_complex32},
};

Error f90_floating(int combiner, int precision, int range, Datatype **found) {
    if (precision == abi::undefined && range == abi::undefined)
        return Error(ErrorClass::arg, "precision and range are both MPI_UNDEFINED; one of them must be said");
    auto at_least = [](int wanted) { return wanted == abi::undefined ? 0 : wanted; };
    for (const Kind &kind : kinds) {
        if (at_least(precision) > kind.precision || at_least(range) > kind.range) continue;
        Datatype &same = *predefined_datatype(combiner == abi::combiner_f90_real ? kind.real : kind.complex);
        if (!same.supported) continue;
        return answer({combiner, precision, range}, same, {precision, range}, found);
    }
    auto told = [](int value) {
        return value == abi::undefined ? std::string("any") : std::to_string(value);
    };
    return Error(ErrorClass::arg, "no Fortran kind has the precision " + told(precision) + " and the range " +
                                      told(range) + "; at most 33 digits and a range of 4931 are there");
}

}  // namespace

Error f90_integer(int range, Datatype **found) {
    struct Sized {
        int range, value;
    };
    constexpr Sized all[] = {{2, abi::type_integer1}, {4, abi::type_integer2}, {9, abi::type_integer4},
                             {18, abi::type_integer8}, {38, abi::type_integer16}};
    if (range == abi::undefined)
        return Error(ErrorClass::arg, "the range of an integer must be said; it is MPI_UNDEFINED");
    for (const Sized &kind : all) {
        if (range > kind.range) continue;
        return answer({abi::combiner_f90_integer, range, 0}, *predefined_datatype(kind.value), {range},
                      found);
    }
    return Error(ErrorClass::arg, "no Fortran integer has the range " + std::to_string(range) +
                                      "; at most 38 digits are there");
}

Error f90_real(int precision, int range, Datatype **found) {
    return f90_floating(abi::combiner_f90_real, precision, range, found);
}

Error f90_complex(int precision, int range, Datatype **found) {
    return f90_floating(abi::combiner_f90_complex, precision, range, found);
}

}  // namespace lanyard
