// Contains the translations of the MPICH ABI that are rarely needed. See translate.h.
#include "doors/mpich_abi/translate.h"

#include <atomic>

#include "api/call.h"
#include "api/generated/core.h"
#include "doors/numbers.h"
#include "doors/mpich_abi/abi.h"

namespace lanyard::mpich_abi {

namespace {

// The predefined attributes whose values need translation. Each has memory for the translated value, because
// MPI_X_get_attr returns the address of the value.
struct TranslatedAttribute {
    int keyval;
    int (*translate)(int);
    std::atomic<int> value;
};
TranslatedAttribute translated_attributes[] = {
    {abi::host, Values::rank_out, 0},
    {abi::io, Values::rank_out, 0},
    {abi::lastusedcode, Translations::error_code_out, 0},
    {abi::win_create_flavor, Values::win_flavor_out, 0},
    {abi::win_model, Values::win_model_out, 0},
};
static_assert(sizeof(std::atomic<int>) == sizeof(int));

}  // namespace

void Translations::attribute_out(void *value, int keyval, int found) {
    if (!found) return;
    auto *place = static_cast<int **>(value);
    for (TranslatedAttribute &attribute : translated_attributes)
        if (attribute.keyval == keyval) {
            attribute.value.store(attribute.translate(**place), std::memory_order_relaxed);
            *place = reinterpret_cast<int *>(&attribute.value);
        }
}

void Translations::type_arguments_out(int *integers, Datatype &datatype, int64_t count) {
    int64_t integer_count = 0, addresses = 0, large_counts = 0, datatypes = 0;
    int combiner = abi::combiner_named;
    if (Error error = lanyard_type_get_envelope(datatype, &integer_count, &addresses, &large_counts,
                                                &datatypes, &combiner)) {
        // cannot happen, because MPI_Type_get_contents has just succeeded for this datatype
        fail(error, RaiseOn(), "MPI_Type_get_contents", {});
        return;
    }
    if (count < integer_count || integer_count < 1) return;
    if (combiner == abi::combiner_subarray)
        integers[integer_count - 1] = order_out(integers[integer_count - 1]);
    if (combiner != abi::combiner_darray) return;
    // The order of the integers of a darray: size, rank, number of dimensions; the sizes, unless they are
    // large counts and so not among the integers; the distributions; their arguments; the processes; the
    // storage order.
    int64_t dimensions = integers[2];
    int *distributions = integers + 3 + (large_counts ? 0 : dimensions);
    doors::translate<Abi, distribution_out>(distributions, dimensions);
    doors::translate<Abi, distribution_argument_out>(distributions + dimensions, dimensions);
    integers[integer_count - 1] = order_out(integers[integer_count - 1]);
}

}  // namespace lanyard::mpich_abi
