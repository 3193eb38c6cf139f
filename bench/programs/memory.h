// Allocates the buffers that a benchmark sends from or receives into. They are memory of the program or, with
// --alloc-mem, memory of MPI_Alloc_mem, with which messages may be faster. One thread, between MPI_Init and
// MPI_Finalize.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include <mpi.h>

#include "bench/programs/settings.h"

namespace lanyard::bench {

class Memory {
public:
    Memory(const Settings& settings, std::size_t bytes) : size_(bytes) {
        if (settings.alloc_mem) MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &allocated_);
        else own_ = std::make_unique_for_overwrite<char[]>(bytes);
        fill(0);
    }
    ~Memory() {
        if (allocated_) MPI_Free_mem(allocated_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    char* data() const { return allocated_ ? static_cast<char*>(allocated_) : own_.get(); }
    std::size_t size() const { return size_; }
    char* begin() const { return data(); }
    char* end() const { return data() + size_; }
    void fill(char byte) { std::fill(begin(), end(), byte); }

private:
    std::size_t size_;
    void* allocated_ = nullptr;
    std::unique_ptr<char[]> own_;
};

}  // namespace lanyard::bench
