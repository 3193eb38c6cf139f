// Defines the typed functions (types.h) that create, describe and free datatypes (MPI-5.0 section 5.1). For
// packing and counting see pack.cc. Any thread.
// Tested by: tests/mpi/datatype/layouts.cc, tests/mpi/datatype/spans.cc, tests/mpi/datatype/datatypes.c.
#include "datatype/datatype.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "api/generated/core.h"
#include "api/types.h"
#include "comm/attributes.h"
#include "datatype/construct.h"
#include "datatype/definition.h"

namespace lanyard {

namespace {

Integers values(const Counts &counts, int64_t count) {
    Integers all(static_cast<size_t>(std::max<int64_t>(count, 0)));
    for (size_t i = 0; i < all.size(); ++i) all[i] = counts[static_cast<int64_t>(i)];
    return all;
}

Error check_count(int64_t count) {
    if (count >= 0) return {};
    return Error(ErrorClass::count, "the count is " + std::to_string(count) + "; it must not be negative");
}

// Records which form of a constructor created the datatype.
Error noted(Error error, Datatype **made, bool large_count) {
    if (!error) (*made)->large_counts = large_count;
    return error;
}

Error check_derived(const Datatype &datatype, const char *what) {
    if (!datatype.basic) return {};
    std::string name = datatype.name.get();
    return Error(ErrorClass::type, (name.empty() ? "this" : name) + " is a predefined datatype: " + what);
}

}  // namespace

Error lanyard_type_contiguous(int64_t count, Datatype &oldtype, Datatype **newtype, bool large_count) {
    return noted(make_contiguous(count, oldtype, newtype), newtype, large_count);
}

Error lanyard_type_vector(int64_t count, int64_t blocklength, int64_t stride, Datatype &oldtype,
                          Datatype **newtype, bool large_count) {
    return noted(make_vector(count, blocklength, stride, oldtype, newtype), newtype, large_count);
}

Error lanyard_type_create_hvector(int64_t count, int64_t blocklength, int64_t stride, Datatype &oldtype,
                                  Datatype **newtype, bool large_count) {
    return noted(make_hvector(count, blocklength, stride, oldtype, newtype), newtype, large_count);
}

Error lanyard_type_indexed(int64_t count, Counts array_of_blocklengths, Counts array_of_displacements,
                           Datatype &oldtype, Datatype **newtype, bool large_count) {
    if (Error error = check_count(count)) return error;
    return noted(make_indexed(values(array_of_blocklengths, count), values(array_of_displacements, count),
                              oldtype, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_hindexed(int64_t count, Counts array_of_blocklengths, Counts array_of_displacements,
                                   Datatype &oldtype, Datatype **newtype, bool large_count) {
    if (Error error = check_count(count)) return error;
    return noted(make_hindexed(values(array_of_blocklengths, count), values(array_of_displacements, count),
                               oldtype, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_indexed_block(int64_t count, int64_t blocklength, Counts array_of_displacements,
                                        Datatype &oldtype, Datatype **newtype, bool large_count) {
    if (Error error = check_count(count)) return error;
    return noted(make_indexed_block(blocklength, values(array_of_displacements, count), oldtype, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_hindexed_block(int64_t count, int64_t blocklength, Counts array_of_displacements,
                                         Datatype &oldtype, Datatype **newtype, bool large_count) {
    if (Error error = check_count(count)) return error;
    return noted(make_hindexed_block(blocklength, values(array_of_displacements, count), oldtype, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_struct(int64_t count, Counts array_of_blocklengths, Counts array_of_displacements,
    Datatype *const *array_of_types, Datatype **newtype, bool large_count) {
    if (Error error = check_count(count)) return error;
    std::vector<Datatype *> types(array_of_types, array_of_types + count);
    return noted(make_struct(values(array_of_blocklengths, count), values(array_of_displacements, count),
                             types, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_subarray(int ndims, Counts array_of_sizes, Counts array_of_subsizes,
                                   Counts array_of_starts, int order, Datatype &oldtype, Datatype **newtype,
                                   bool large_count) {
    return noted(make_subarray(values(array_of_sizes, ndims), values(array_of_subsizes, ndims),
                               values(array_of_starts, ndims), order, oldtype, newtype),
                 newtype, large_count);
}

Error lanyard_type_create_darray(int size, int rank, int ndims, Counts array_of_gsizes,
                                 const int *array_of_distribs, const int *array_of_dargs,
                                 const int *array_of_psizes, int order, Datatype &oldtype, Datatype **newtype,
                                 bool large_count) {
    auto listed = [&](const int *array) { return std::vector<int>(array, array + ndims); };
    Distribution distribution{size,
                              rank,
                              values(array_of_gsizes, ndims),
                              listed(array_of_distribs),
                              listed(array_of_dargs),
                              listed(array_of_psizes),
                              order};
    return noted(make_darray(std::move(distribution), oldtype, newtype), newtype, large_count);
}

Error lanyard_type_create_resized(Datatype &oldtype, int64_t lb, int64_t extent, Datatype **newtype,
                                  bool large_count) {
    return noted(make_resized(oldtype, lb, extent, newtype), newtype, large_count);
}

Error lanyard_type_dup(Datatype &oldtype, Datatype **newtype) {
    Datatype *made = nullptr;
    if (Error error = make_dup(oldtype, &made)) return error;
    if (Error error = copy_attributes(oldtype.attributes, &oldtype, made->attributes, made)) {
        release(*made);
        return error;
    }
    *newtype = made;
    return {};
}

Error lanyard_type_commit(Datatype *&datatype) {
    datatype->committed = true;
    return {};
}

Error lanyard_type_free(Datatype *&datatype) {
    if (Error error = check_derived(*datatype, "it cannot be freed")) return error;
    if (Error error = delete_attributes(datatype->attributes, datatype)) return error;
    datatype->end_handle();
    release(*datatype);
    datatype = nullptr;
    return {};
}

Error lanyard_type_size(Datatype &datatype, int64_t *size) {
    *size = datatype.supported ? datatype.size : abi::undefined;
    return {};
}

Error lanyard_type_get_extent(Datatype &datatype, int64_t *lb, int64_t *extent) {
    *lb = datatype.lower_bound;
    *extent = datatype.extent;
    return {};
}

Error lanyard_type_get_true_extent(Datatype &datatype, int64_t *true_lb, int64_t *true_extent) {
    *true_lb = datatype.true_lower_bound;
    *true_extent = datatype.true_extent;
    return {};
}

Error lanyard_type_get_name(Datatype *datatype, char *type_name, int *resultlen) {
    std::string name = datatype ? datatype->name.get() : "MPI_DATATYPE_NULL";
    std::memcpy(type_name, name.c_str(), name.size() + 1);
    *resultlen = static_cast<int>(name.size());
    return {};
}

Error lanyard_type_set_name(Datatype &datatype, const char *type_name) {
    size_t room = static_cast<size_t>(abi::max_object_name) - 1;
    datatype.name.set({type_name, strnlen(type_name, room)});
    return {};
}

Error lanyard_type_get_envelope(Datatype &datatype, int64_t *num_integers, int64_t *num_addresses,
                                int64_t *num_large_counts, int64_t *num_datatypes, int *combiner) {
    *num_integers = *num_addresses = *num_datatypes = 0;
    if (num_large_counts) *num_large_counts = 0;
    *combiner = abi::combiner_named;
    if (!datatype.definition) return {};
    if (datatype.large_counts && !num_large_counts)
        return Error(ErrorClass::type,
                     "the datatype was made with large counts; ask MPI_Type_get_envelope_c");
    TypeContents contents = contents_of(datatype);
    *num_integers = static_cast<int64_t>(contents.integers.size());
    *num_addresses = static_cast<int64_t>(contents.addresses.size());
    if (num_large_counts) *num_large_counts = static_cast<int64_t>(contents.large_counts.size());
    *num_datatypes = static_cast<int64_t>(datatype.definition->datatypes.size());
    *combiner = datatype.definition->combiner;
    return {};
}

Error lanyard_type_get_contents(Datatype &datatype, int64_t max_integers, int64_t max_addresses,
                                int64_t max_large_counts, int64_t max_datatypes, int *array_of_integers,
                                int64_t *array_of_addresses, int64_t *array_of_large_counts,
                                Datatype **array_of_datatypes) {
    if (!datatype.definition) return check_derived(datatype, "it has no contents");
    if (datatype.large_counts && !array_of_large_counts)
        return Error(ErrorClass::type,
                     "the datatype was made with large counts; ask MPI_Type_get_contents_c");
    TypeContents contents = contents_of(datatype);
    const std::vector<Datatype *> &types = datatype.definition->datatypes;
    auto too_many = [](size_t there, int64_t room) { return static_cast<int64_t>(there) > room; };
    if (too_many(contents.integers.size(), max_integers) ||
        too_many(contents.addresses.size(), max_addresses) ||
        too_many(contents.large_counts.size(), max_large_counts) || too_many(types.size(), max_datatypes))
        return Error(ErrorClass::arg, "an array is shorter than MPI_Type_get_envelope says is needed");
    for (size_t i = 0; i < types.size(); ++i) {
        array_of_datatypes[i] = types[i];
        if (types[i]->basic) continue;
        if (Error error = make_copy(*types[i], &array_of_datatypes[i])) return error;
    }
    for (size_t i = 0; i < contents.integers.size(); ++i)
        array_of_integers[i] = static_cast<int>(contents.integers[i]);
    std::copy(contents.addresses.begin(), contents.addresses.end(), array_of_addresses);
    std::copy(contents.large_counts.begin(), contents.large_counts.end(), array_of_large_counts);
    return {};
}

}  // namespace lanyard
