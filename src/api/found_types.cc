// Defines the typed functions (types.h) that find predefined datatypes by their contents (MPI-5.0 sections
// 6.9.4 and 19.1.9). Any thread.
// Tested by: tests/mpi/datatype/fortran.cc.
#include "datatype/unnamed.h"

#include <string>

#include "api/generated/core.h"
#include "datatype/predefined.h"

namespace lanyard {

Error lanyard_type_create_f90_integer(int r, Datatype **newtype) { return f90_integer(r, newtype); }

Error lanyard_type_create_f90_real(int p, int r, Datatype **newtype) { return f90_real(p, r, newtype); }

Error lanyard_type_create_f90_complex(int p, int r, Datatype **newtype) { return f90_complex(p, r, newtype); }

// Finds only the pair types that the standard predefines. A library need not offer others (MPI-5.0
// 6.9.4).
Error lanyard_type_get_value_index(Datatype &value_type, Datatype &index_type, Datatype **pair_type) {
    struct Pair {
        int value, index, pair;
    };
    constexpr Pair pairs[] = {
        {abi::type_float, abi::type_int, abi::type_float_int},
        {abi::type_double, abi::type_int, abi::type_double_int},
        {abi::type_long, abi::type_int, abi::type_long_int},
        {abi::type_int, abi::type_int, abi::type_2int},
        {abi::type_short, abi::type_int, abi::type_short_int},
        {abi::type_long_double, abi::type_int, abi::type_long_double_int},
        {abi::type_real, abi::type_real, abi::type_2real},
        {abi::type_double_precision, abi::type_double_precision, abi::type_2double_precision},
        {abi::type_integer, abi::type_integer, abi::type_2integer},
    };
    *pair_type = nullptr;
    for (const Pair &pair : pairs)
        if (pair.value == value_type.abi_value && pair.index == index_type.abi_value)
            *pair_type = predefined_datatype(pair.pair);
    return {};
}

Error lanyard_type_match_size(int typeclass, int size, Datatype **datatype) {
    struct Sized {
        int typeclass, size, value;
    };
    constexpr Sized all[] = {
        {abi::typeclass_integer, 1, abi::type_integer1},  {abi::typeclass_integer, 2, abi::type_integer2},
        {abi::typeclass_integer, 4, abi::type_integer4},  {abi::typeclass_integer, 8, abi::type_integer8},
        {abi::typeclass_integer, 16, abi::type_integer16}, {abi::typeclass_real, 2, abi::type_real2},
        {abi::typeclass_real, 4, abi::type_real4},        {abi::typeclass_real, 8, abi::type_real8},
        {abi::typeclass_real, 16, abi::type_real16},      {abi::typeclass_complex, 4, abi::type_complex4},
        {abi::typeclass_complex, 8, abi::type_complex8},  {abi::typeclass_complex, 16, abi::type_complex16},
        {abi::typeclass_complex, 32, abi::type_complex32},
    };
    bool known = false;
    for (const Sized &entry : all) {
        if (entry.typeclass != typeclass) continue;
        known = true;
        Datatype *found = predefined_datatype(entry.value);
        if (entry.size != size || !found->supported) continue;
        *datatype = found;
        return {};
    }
    if (!known)
        return Error(
            ErrorClass::arg,
            "the type class is none of MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER and MPI_TYPECLASS_COMPLEX");
    return Error(ErrorClass::arg, "no datatype of this class has " + std::to_string(size) + " bytes");
}

}  // namespace lanyard
