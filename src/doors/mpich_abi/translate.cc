// The rarer translations of the MPICH ABI; see translate.h.
#include "doors/mpich_abi/translate.h"

#include <algorithm>
#include <cstring>

#include "doors/mpich_abi/convert.h"

namespace lanyard::mpich_abi {

namespace {

// The predefined attributes whose value needs translation, with the place of the translated one: MPI hands out its address.
struct TranslatedAttribute {
    int keyval;
    int (*translate)(int);
    std::atomic<int> value;
};
TranslatedAttribute translated_attributes[] = {
    {abi::host, rank_out, 0},
    {abi::io, rank_out, 0},
    {abi::lastusedcode, error_code_out, 0},
    {abi::win_create_flavor, win_flavor_out, 0},
    {abi::win_model, win_model_out, 0},
};
static_assert(sizeof(std::atomic<int>) == sizeof(int));

}  // namespace

void attribute_out(void *value, int keyval, int found) {
    if (!found) return;
    auto *place = static_cast<int **>(value);
    for (TranslatedAttribute &attribute : translated_attributes)
        if (attribute.keyval == keyval) {
            attribute.value.store(attribute.translate(**place), std::memory_order_relaxed);
            *place = reinterpret_cast<int *>(&attribute.value);
        }
}

void type_arguments_out(int *integers, Datatype &datatype, int64_t count) {
    int64_t integer_count = 0, addresses = 0, large_counts = 0, datatypes = 0;
    int combiner = abi::combiner_named;
    if (Error error = lanyard_type_get_envelope(datatype, &integer_count, &addresses, &large_counts, &datatypes, &combiner)) {
        fail(error, RaiseOn(), "MPI_Type_get_contents", {});  // cannot be: the contents have just been given
        return;
    }
    if (count < integer_count || integer_count < 1) return;
    if (combiner == abi::combiner_subarray) integers[integer_count - 1] = order_out(integers[integer_count - 1]);
    if (combiner != abi::combiner_darray) return;
    // size, rank, number of dimensions; then, unless counts are large, the sizes; distributions, arguments, processes; the order.
    int64_t dimensions = integers[2];
    int *distributions = integers + 3 + (large_counts ? 0 : dimensions);
    translate<distribution_out>(distributions, dimensions);
    translate<distribution_argument_out>(distributions + dimensions, dimensions);
    integers[integer_count - 1] = order_out(integers[integer_count - 1]);
}

void copy_text(const char *text, char *place, int room, int *length) {
    size_t copied = std::min(std::strlen(text), static_cast<size_t>(room) - 1);
    std::memcpy(place, text, copied);
    place[copied] = 0;
    if (length) *length = static_cast<int>(copied);
}

}  // namespace lanyard::mpich_abi
