// Defines what libmpi.so.12 has beside the bodies in doors/functions: variables that programs read, and
// functions that this front end implements itself (api/mpich_abi). MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY and
// MPI_T_PVAR_ALL_HANDLES have the standard's values, so they need no translation.
// Tested by: tests/mpich_abi/beyond.cc, tests/mpich_abi/test_library.py.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "api/check.h"
#include "api/generated/core.h"
#include "doors/mpich_abi/abi.h"
#include "doors/numbers.h"

#pragma GCC visibility push(default)
extern "C" {

extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;
extern void *const MPI_T_PVAR_ALL_HANDLES;
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

int *const MPI_UNWEIGHTED = reinterpret_cast<int *>(lanyard::abi::unweighted);
int *const MPI_WEIGHTS_EMPTY = reinterpret_cast<int *>(lanyard::abi::weights_empty);
void *const MPI_T_PVAR_ALL_HANDLES = reinterpret_cast<void *>(uintptr_t{lanyard::abi::t_pvar_all_handles});

// Each of these pointers initially has an address of its own. A Fortran library may replace it by
// the address of its variable.
namespace {
struct FortranStatus {
    int word[5];
} ignore, ignore_all, ignore_08, ignore_all_08;
}  // namespace
int *MPI_F_STATUS_IGNORE = ignore.word;
int *MPI_F_STATUSES_IGNORE = ignore_all.word;
int *MPI_F08_STATUS_IGNORE = ignore_08.word;
int *MPI_F08_STATUSES_IGNORE = ignore_all_08.word;

// MPI_COMM_DUP_FN and its counterparts all stand for this function, which is an ordinary function
// in this ABI.
int MPIR_Dup_fn(int, int, void *, void *value, void *copy, int *flag) {
    *static_cast<void **>(copy) = value;
    *flag = 1;
    return 0;
}

}  // extern "C"

namespace lanyard::mpich_abi {

// Entry points of this front end that the functions below call.
extern "C" {
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
int PMPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[],
                            const MPI_Datatype types[], MPI_Datatype *newtype);
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype);
int PMPI_Type_free(MPI_Datatype *datatype);
}
#pragma GCC visibility pop

namespace {

bool ignored(const int *status) {
    return !status || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ||
           status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

// A status has the same five words in C, Fortran and Fortran 2008. It is an error if `from` or `to` is
// MPI_STATUS_IGNORE or a similar constant.
int copy_words(const void *from, void *to, bool either_ignored) {
    if (either_ignored) return Abi::error_class_out(abi::err_arg);
    std::memcpy(to, from, sizeof(FortranStatus));
    return abi::success;
}

}  // namespace

int Abi::no_standard_abi(int *major, int *minor) {
    if (!major || !minor) return error_class_out(abi::err_arg);
    *major = *minor = -1;
    return abi::success;
}

// mpi4py's wheel, MPI.jl and other programs recognise libraries of this ABI by the beginning of the version
// text. MPI.jl also derives the ABI from this text. The text therefore begins like that of MPICH, with the
// MPICH release whose functions and constants this front end has (api/mpich_abi/values.toml).
int Abi::library_version(char *version, int *resultlen) {
    constexpr int room = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING in MPICH's ABI
    char own[abi::max_library_version_string];
    int length = 0;
    Error error = check_out("version", version);
    if (!error) error = check_out("resultlen", resultlen);
    if (!error) error = lanyard_get_library_version(own, &length);
    if (error)
        return fail(error, RaiseOn(), "MPI_Get_library_version",
                               {shown("version", version), shown("resultlen", resultlen)});
    std::string text = "MPICH Version:\t5.0.2\n";
    text.append(own).append("\nby libmpi.so.12, which has the ABI of MPICH and Intel MPI\n");
    doors::copy_text(text.c_str(), version, room, resultlen);
    return abi::success;
}

int Abi::copy_status(const MPI_Status *from, int *to) {
    return copy_words(from, to, !status_in(from) || ignored(to));
}
int Abi::copy_status(const int *from, MPI_Status *to) {
    return copy_words(from, to, ignored(from) || !status_in(to));
}
int Abi::copy_status(const int *from, int *to) { return copy_words(from, to, ignored(from) || ignored(to)); }

int Abi::type_extent(MPI_Datatype datatype, MPI_Aint *extent) {
    MPI_Aint lower = 0;
    return PMPI_Type_get_extent(datatype, &lower, extent);
}
int Abi::type_lower_bound(MPI_Datatype datatype, MPI_Aint *displacement) {
    MPI_Aint extent = 0;
    return PMPI_Type_get_extent(datatype, displacement, &extent);
}
int Abi::type_upper_bound(MPI_Datatype datatype, MPI_Aint *displacement) {
    MPI_Aint extent = 0;
    int code = PMPI_Type_get_extent(datatype, displacement, &extent);
    if (code == abi::success) *displacement += extent;
    return code;
}

bool Abi::has_markers(int count, const MPI_Datatype types[]) {
    for (int i = 0; types && i < count; ++i)
        if (types[i] == MPI_LB || types[i] == MPI_UB) return true;
    return false;
}

// Does the work of MPI_Type_create_struct if some entries are the markers MPI_LB or MPI_UB. Creates a struct
// from the other entries and gives it the bounds that the markers state: the lowest MPI_LB and the highest
// MPI_UB.
int Abi::struct_with_markers(int count, const int lengths[], const MPI_Aint displacements[],
                             const MPI_Datatype types[], MPI_Datatype *newtype) {
    // this call reports the missing array as an error
    if (!lengths || !displacements)
        return PMPI_Type_create_struct(count, lengths, displacements, nullptr, newtype);
    std::vector<int> data_lengths;
    std::vector<MPI_Aint> data_displacements;
    std::vector<MPI_Datatype> data_types;
    MPI_Aint low = PTRDIFF_MAX, high = PTRDIFF_MIN;
    for (int i = 0; i < count; ++i) {
        if (types[i] == MPI_LB) low = std::min(low, displacements[i]);
        else if (types[i] == MPI_UB) high = std::max(high, displacements[i]);
        else {
            data_lengths.push_back(lengths[i]);
            data_displacements.push_back(displacements[i]);
            data_types.push_back(types[i]);
        }
    }
    MPI_Datatype data;
    int code = PMPI_Type_create_struct(static_cast<int>(data_types.size()), data_lengths.data(),
                                       data_displacements.data(), data_types.data(), &data);
    if (code != abi::success) return code;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(data, &lower, &extent);
    MPI_Aint upper = high == PTRDIFF_MIN ? lower + extent : high;
    if (low != PTRDIFF_MAX) lower = low;
    code = PMPI_Type_create_resized(data, lower, upper - lower, newtype);
    PMPI_Type_free(&data);
    return code;
}

}  // namespace lanyard::mpich_abi
