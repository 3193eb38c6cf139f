// One entry point of a door: the strong name and, for tools that stand between, the weak one without the P. What follows
// the parameters is the value that it returns; `entry` there is the entry point itself, for the body that is called. A
// macro, as no template can have a name of C, and an alias needs its definition in the same file.
#pragma once

#include "api/timed_call.h"

#define LANYARD_ENTRY(mpi_name, result, parameters, ...)                         \
    [[gnu::visibility("default")]] result P##mpi_name parameters {               \
        [[maybe_unused]] constexpr lanyard::EntryPoint<P##mpi_name> entry{#mpi_name}; \
        return __VA_ARGS__;                                                      \
    }                                                                            \
    [[gnu::visibility("default"), gnu::weak, gnu::alias("P" #mpi_name)]] decltype(P##mpi_name) mpi_name
