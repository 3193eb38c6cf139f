// Defines checks that name their source location and end the job when they fail, and small helpers, for the
// programs of this folder. They use MPI functions only, so that they also run with other libraries.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <string>

inline void (*on_failure)() = nullptr;  // called before a failed check ends the job

inline void check(bool holds, const std::string &what = "the condition does not hold",
                  const std::source_location &where = std::source_location::current()) {
    if (holds) return;
    int active = 0, rank = -1;
    MPI_Initialized(&active);
    if (active) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d, %s:%u: %s\n", rank, where.file_name(), static_cast<unsigned>(where.line()),
                 what.c_str());
    if (on_failure) on_failure();
    if (active) MPI_Abort(MPI_COMM_WORLD, 1);
    std::exit(1);
}

template <class A, class B>
void check_equal(const A &is, const B &wanted,
                 const std::source_location &where = std::source_location::current()) {
    check(is == wanted, "it is " + std::to_string(is) + ", not " + std::to_string(wanted), where);
}

inline void check_class(int code, int wanted,
                        const std::source_location &where = std::source_location::current()) {
    int error_class = -1;
    MPI_Error_class(code, &error_class);
    check(error_class == wanted,
          "the error class is " + std::to_string(error_class) + ", not " + std::to_string(wanted), where);
}

inline int rank_in(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
inline int size_of(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

// Checks that a communicator works: sends a message around the ring of ranks and computes a sum over all
// ranks. Neither may mix with other traffic.
inline void use(MPI_Comm comm, const std::source_location &where = std::source_location::current()) {
    int rank = rank_in(comm), size = size_of(comm), heard = -1, sum = 0, told = rank + 1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &heard, 1, MPI_INT, (rank + size - 1) % size, 7,
                 comm, MPI_STATUS_IGNORE);
    check_equal(heard, (rank + size - 1) % size, where);
    MPI_Allreduce(&told, &sum, 1, MPI_INT, MPI_SUM, comm);
    check_equal(sum, size * (size + 1) / 2, where);
}
