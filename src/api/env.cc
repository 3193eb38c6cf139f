// Defines the typed functions (types.h) of the environment (MPI-5.0 chapter 9 and section 20.2): versions,
// names, time, memory, facts about the ABI. Any thread.
// Tested by: tests/mpi/comm/environment.cc, tests/mpi/comm/queries.cc.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_set>

#include "api/generated/core.h"
#include "base/clock.h"
#include "base/locality.h"
#include "comm/info.h"
#include "datatype/predefined.h"
#include "path/shm/shm_path.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

Error no_memory() { return Error(ErrorClass::no_mem, "there is no memory left for another info object"); }

void copy_text(const std::string &text, char *to, size_t room, int *length) {
    size_t copied = std::min(text.size(), room - 1);
    std::memcpy(to, text.data(), copied);
    to[copied] = 0;
    *length = static_cast<int>(copied);
}

// What the Fortran binding of the program's compiler has reported to the library. It can report `info` only
// once, and the values of LOGICAL only once.
struct Fortran {
    std::mutex lock;
    Info *info = nullptr;  // nullptr: not reported
    int logical_size = 0;  // 0: not reported
    char true_value[16], false_value[16];
};

Fortran &fortran() {
    static auto &only = *new Fortran;
    return only;
}

Error check_logical_size(int size) {
    if (size >= 1 && size <= 16 && std::has_single_bit(static_cast<unsigned>(size))) return {};
    return Error(ErrorClass::arg,
                 "a LOGICAL of " + std::to_string(size) + " bytes is not known; 1, 2, 4, 8 and 16 are");
}

// Checks that the reported sizes of the Fortran types are those of the library's predefined datatypes.
// With any other sizes, messages would have wrong lengths.
Error check_fortran_sizes(const Info &info) {
    constexpr struct {
        const char *key;
        int abi_value;
    } sizes[] = {{"mpi_logical_size", abi::type_logical},
                 {"mpi_integer_size", abi::type_integer},
                 {"mpi_real_size", abi::type_real},
                 {"mpi_double_precision_size", abi::type_double_precision}};
    for (const auto &[key, abi_value] : sizes) {
        std::string told;
        bool found = false;
        info.get(key, told, found).discard();
        std::string own = std::to_string(predefined_datatype(abi_value)->size);
        if (found && told != own)
            return Error(ErrorClass::abi, std::string(key) + " is " + told +
                                              ", but this library's datatype has " + own + " bytes");
    }
    return {};
}

// Checks the reported values of .TRUE. and .FALSE. The library's logical operations treat every value
// except 0 as true and return 1 for true. Every compiler whose .FALSE. is 0 takes 1 for true.
Error check_fortran_values(int size, const void *logical_true, const void *logical_false) {
    constexpr char zero[16] = {};
    auto bytes = static_cast<size_t>(size);
    if (std::memcmp(logical_true, zero, bytes) != 0 && std::memcmp(logical_false, zero, bytes) == 0)
        return {};
    return Error(ErrorClass::abi,
                 "this library's logical operations need a .FALSE. of 0 and a .TRUE. that is not 0");
}

// The addresses that MPI_Alloc_mem has returned and that MPI_Free_mem has not freed yet. MPI_Free_mem
// refuses any other address, because free() would crash on it.
class Allocations {
public:
    void add(void *memory) {
        std::lock_guard guard(lock_);
        known_.insert(memory);
    }
    bool remove(void *memory) {
        std::lock_guard guard(lock_);
        return known_.erase(memory) > 0;
    }

private:
    std::mutex lock_;
    std::unordered_set<void *> known_;
};

// Returns memory that the other processes of the node can map too. Returns nullptr if there are no other
// processes, if the block is too small to be worth it, if the alignment is too large, or if no such memory is
// available.
void *shared_memory(size_t bytes, size_t alignment) {
    const Runtime *here = runtime();
    if (!here || !here->shm_path || bytes < SharedBlocks::least_bytes || alignment > SharedBlocks::alignment)
        return nullptr;
    return here->shm_path->blocks().allocate(bytes, Segment::Need::convenience);
}

Allocations &allocations() {
    static auto &only = *new Allocations;
    return only;
}

constexpr size_t usual_alignment = 64, largest_alignment = size_t{1} << 30;

// Returns the alignment of allocated memory: the size of a cache line, or more if the hint
// mpi_minimum_memory_alignment requests more and the library can provide it.
size_t alignment_wanted(const Info *info) {
    std::string value;
    bool found = false;
    if (info) info->get("mpi_minimum_memory_alignment", value, found).discard();
    size_t wanted = found ? std::strtoull(value.c_str(), nullptr, 10) : 0;
    return std::has_single_bit(wanted) && wanted <= largest_alignment ? std::max(wanted, usual_alignment)
                                                                      : usual_alignment;
}

}  // namespace

extern "C" {

Error lanyard_get_version(int *version, int *subversion) {
    *version = abi::version;
    *subversion = abi::subversion;
    return {};
}

Error lanyard_get_library_version(char *version, int *resultlen) {
    copy_text("Lanyard " LANYARD_VERSION, version, abi::max_library_version_string, resultlen);
    return {};
}

Error lanyard_get_processor_name(char *name, int *resultlen) {
    char host[abi::max_processor_name] = "";
    gethostname(host, sizeof host - 1);
    copy_text(host, name, abi::max_processor_name, resultlen);
    return {};
}

double lanyard_wtime() { return static_cast<double>(clock_ns()) * 1e-9; }

double lanyard_wtick() {
    timespec resolution{0, 1};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}

Error lanyard_alloc_mem(int64_t size, Info *info, void **baseptr) {
    size_t alignment = alignment_wanted(info);
    auto bytes = static_cast<size_t>(std::max<int64_t>(size, 1));
    void *memory = shared_memory(bytes, alignment);
    int failure = memory ? 0 : posix_memalign(&memory, alignment, bytes);
    if (failure)
        return Error(ErrorClass::no_mem,
                     "memory for " + std::to_string(size) + " bytes cannot be had: " + system_text(failure));
    allocations().add(memory);
    *baseptr = memory;
    return {};
}

Error lanyard_free_mem(void *base) {
    if (base && !allocations().remove(base))
        return Error(ErrorClass::base, "base is no address that MPI_Alloc_mem gave, or was freed");
    const Runtime *here = runtime();
    if (base && here && here->shm_path && here->shm_path->blocks().free(base)) return {};
    std::free(base);
    return {};
}

// The resource types of MPI_Comm_split_type. The value "true" means that this process is restricted to one
// resource of that type.
Error lanyard_get_hw_resource_info(Info **hw_info) {
    *hw_info = new_info();
    if (!*hw_info) return no_memory();
    Locality here = own_locality();
    for (int i = 0; i < resources; ++i)
        if (here.instance[i] != Locality::unknown)
            (*hw_info)
                ->set(name_of(static_cast<Resource>(i)), here.instance[i] >= 0 ? "true" : "false")
                .discard();
    return (*hw_info)->set("mpi_shared_memory", "true");
}

// MPI_Pcontrol is meant for tools that intercept calls between program and library. The library itself
// has nothing to control.
Error lanyard_pcontrol(int) { return {}; }

Error lanyard_abi_get_version(int *abi_major, int *abi_minor) {
    *abi_major = abi::abi_version;
    *abi_minor = abi::abi_subversion;
    return {};
}

Error lanyard_abi_get_info(Info **info) {
    *info = new_info();
    if (!*info) return no_memory();
    for (const char *key : {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"})
        (*info)->set(key, std::to_string(sizeof(int64_t))).discard();
    return {};
}

Error lanyard_abi_get_fortran_info(Info **info) {
    std::lock_guard guard(fortran().lock);
    *info = fortran().info ? duplicate(*fortran().info) : nullptr;
    return fortran().info && !*info ? no_memory() : Error();
}

Error lanyard_abi_set_fortran_info(Info &info) {
    std::lock_guard guard(fortran().lock);
    if (fortran().info)
        return Error(ErrorClass::abi, "the facts about Fortran have been set already; that can be done once");
    if (Error error = check_fortran_sizes(info)) return error;
    fortran().info = duplicate(info);
    return fortran().info ? Error() : no_memory();
}

Error lanyard_abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                       int *is_set) {
    if (Error error = check_logical_size(logical_size)) return error;
    std::lock_guard guard(fortran().lock);
    *is_set = fortran().logical_size == logical_size;
    if (!*is_set) return {};
    std::memcpy(logical_true, fortran().true_value, static_cast<size_t>(logical_size));
    std::memcpy(logical_false, fortran().false_value, static_cast<size_t>(logical_size));
    return {};
}

Error lanyard_abi_set_fortran_booleans(int logical_size, const void *logical_true,
                                       const void *logical_false) {
    if (Error error = check_logical_size(logical_size)) return error;
    std::lock_guard guard(fortran().lock);
    if (fortran().logical_size)
        return Error(ErrorClass::abi, "the values of LOGICAL have been set already; that can be done once");
    if (Error error = check_fortran_values(logical_size, logical_true, logical_false)) return error;
    fortran().logical_size = logical_size;
    std::memcpy(fortran().true_value, logical_true, static_cast<size_t>(logical_size));
    std::memcpy(fortran().false_value, logical_false, static_cast<size_t>(logical_size));
    return {};
}

}  // extern "C"

}  // namespace lanyard
