// Info objects: ordered (key, value) pairs of strings. They belong to the process, not to a runtime, and exist before
// MPI_Init. Thread-safe: each has a short lock. Keys keep the order in which they first came. MPI-5.0 chapter 10.
// Lengths count characters without the terminating null; what is too long is an Error, never cut.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/abi_constants.h"
#include "base/error.h"
#include "base/object.h"
#include "base/pool.h"
#include "base/spin_lock.h"

namespace lanyard {

constexpr size_t max_info_key_length = abi::max_info_key - 1;
constexpr size_t max_info_value_length = abi::max_info_val - 1;

struct Info : Object {
    using Entry = std::pair<std::string, std::string>;

    // nullptr for MPI_INFO_NULL is allowed wherever a function takes an Info to read.
    Error set(std::string_view key, std::string_view value);
    Error remove(std::string_view key);  // of class info_nokey when it is not there
    // False when the key is not there.
    Error get(std::string_view key, std::string &value, bool &found) const;
    int keys() const;
    Error nth_key(int n, std::string &key) const;
    std::vector<Entry> entries() const;

private:
    mutable SpinLock lock_;
    std::vector<Entry> entries_;
};

ObjectPool<Info> &info_pool();
Info *new_info();  // nullptr when memory is exhausted
Info *duplicate(const Info &info);
void release_info(Info *info);  // nullptr is allowed

// How this process was started, as far as anybody knows: what MPI_INFO_ENV and MPI_Info_create_env answer.
struct Startup {
    int maxprocs = 0;       // 0: not known
    int thread_level = -1;  // granted, an abi::thread_ value; -1: not known
    std::string soft;       // as given to the launcher; empty: not given
    std::string alloc_kinds = "system,mpi";
};
// Fills `info` with the entries of MPI-5.0 11.5: command, argv, maxprocs, soft, host, arch, wdir, file, thread_level,
// mpi_memory_alloc_kinds. What is not known is left out.
void fill_environment(Info &info, const Startup &startup);

}  // namespace lanyard
