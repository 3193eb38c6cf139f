// One entry point of a front end: the strong name with P and, for tools that intercept calls, the weak name
// without it. What follows the parameters is the value that it returns. There, `entry` is the entry point
// itself, which is passed to the body. This is a macro because no template can have a C name, and an alias
// needs its definition in the same file.
#pragma once

#include "api/timed_call.h"

#define LANYARD_ENTRY(mpi_name, result, parameters, ...)                         \
    [[gnu::visibility("default")]] result P##mpi_name parameters {               \
        [[maybe_unused]] constexpr lanyard::EntryPoint<P##mpi_name> entry{#mpi_name}; \
        return __VA_ARGS__;                                                      \
    }                                                                            \
    [[gnu::visibility("default"), gnu::weak, gnu::alias("P" #mpi_name)]] decltype(P##mpi_name) mpi_name
