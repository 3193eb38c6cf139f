// Defines one entry point of a front end under two names: the strong name PMPI_X and, for tools that
// intercept calls, the weak name MPI_X. The macro's arguments after `parameters` are the expression that the
// entry point returns. In this expression, `entry` describes the entry point (timed_call.h), and the
// expression passes `entry` to the function's body. This is a macro because a template cannot have a C name,
// and because an alias must be in the same file as the definition of what it names.
// Tested by: tests/api/test_exports.py, tests/api/test_pmpi.py.
#pragma once

#include "api/timed_call.h"

#define LANYARD_ENTRY(mpi_name, result, parameters, ...)                         \
    [[gnu::visibility("default")]] result P##mpi_name parameters {               \
        [[maybe_unused]] constexpr lanyard::EntryPoint<P##mpi_name> entry{#mpi_name}; \
        return __VA_ARGS__;                                                      \
    }                                                                            \
    [[gnu::visibility("default"), gnu::weak, gnu::alias("P" #mpi_name)]] decltype(P##mpi_name) mpi_name
