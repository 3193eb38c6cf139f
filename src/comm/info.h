// An info object contains ordered (key, value) pairs of strings (MPI-5.0 chapter 10). Info objects belong to
// the process, not to a runtime, and may exist before MPI_Init. Thread-safe: each object has a short lock.
// Keys keep the order in which they were first set. Lengths count characters without the terminating zero
// byte. A string that is too long causes an Error and is never truncated. Where a function of the library
// takes a `const Info *`, nullptr stands for MPI_INFO_NULL.
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

    Error set(std::string_view key, std::string_view value);
    Error remove(std::string_view key);  // Error of class info_nokey: the key is absent
    // `found` becomes false, and `value` does not change, if the key is absent.
    Error get(std::string_view key, std::string &value, bool &found) const;
    int keys() const;
    Error nth_key(int n, std::string &key) const;
    std::vector<Entry> entries() const;

private:
    mutable SpinLock lock_;
    std::vector<Entry> entries_;
};

ObjectPool<Info> &info_pool();
// new_info() and duplicate() return nullptr if memory is exhausted.
Info *new_info();
Info *duplicate(const Info &info);
void release_info(Info *info);  // `info` may be nullptr

// States what the library knows about how this process was started. fill_environment() combines this with
// what the kernel reports. The result is the contents of MPI_INFO_ENV, and what MPI_Info_create_env returns.
struct Startup {
    int maxprocs = 0;       // 0: unknown
    int thread_level = -1;  // the level granted, an abi::thread_ value; -1: unknown
    std::string soft;       // as passed to the launcher; empty: not passed
    std::string alloc_kinds = "system,mpi";
};
// Fills `info` with the entries of MPI-5.0 11.2.1: command, argv, maxprocs, soft, host, arch, wdir,
// thread_level, mpi_memory_alloc_kinds. Entries whose value is unknown or too long are omitted, and so is
// `file`, which is never known.
void fill_environment(Info &info, const Startup &startup);

}  // namespace lanyard
