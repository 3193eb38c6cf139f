// Each form of a neighbourhood collective is a table of MPI functions here, so that neighbors.cc is written
// once for all forms. The forms are blocking, nonblocking and persistent, each with counts of type int and of
// type MPI_Count. Uses MPI functions only.
#pragma once

#include <mpi.h>

enum class CallKind { blocking, nonblocking, persistent };

struct Blocking {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::blocking;
    static constexpr const char *name = "blocking";
    static constexpr auto allgather = MPI_Neighbor_allgather;
    static constexpr auto allgatherv = MPI_Neighbor_allgatherv;
    static constexpr auto alltoall = MPI_Neighbor_alltoall;
    static constexpr auto alltoallv = MPI_Neighbor_alltoallv;
    static constexpr auto alltoallw = MPI_Neighbor_alltoallw;
};

struct BlockingLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::blocking;
    static constexpr const char *name = "blocking with large counts";
    static constexpr auto allgather = MPI_Neighbor_allgather_c;
    static constexpr auto allgatherv = MPI_Neighbor_allgatherv_c;
    static constexpr auto alltoall = MPI_Neighbor_alltoall_c;
    static constexpr auto alltoallv = MPI_Neighbor_alltoallv_c;
    static constexpr auto alltoallw = MPI_Neighbor_alltoallw_c;
};

struct Nonblocking {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::nonblocking;
    static constexpr const char *name = "nonblocking";
    static constexpr auto allgather = MPI_Ineighbor_allgather;
    static constexpr auto allgatherv = MPI_Ineighbor_allgatherv;
    static constexpr auto alltoall = MPI_Ineighbor_alltoall;
    static constexpr auto alltoallv = MPI_Ineighbor_alltoallv;
    static constexpr auto alltoallw = MPI_Ineighbor_alltoallw;
};

struct NonblockingLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::nonblocking;
    static constexpr const char *name = "nonblocking with large counts";
    static constexpr auto allgather = MPI_Ineighbor_allgather_c;
    static constexpr auto allgatherv = MPI_Ineighbor_allgatherv_c;
    static constexpr auto alltoall = MPI_Ineighbor_alltoall_c;
    static constexpr auto alltoallv = MPI_Ineighbor_alltoallv_c;
    static constexpr auto alltoallw = MPI_Ineighbor_alltoallw_c;
};

struct Persistent {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::persistent;
    static constexpr const char *name = "persistent";
    static constexpr auto allgather = MPI_Neighbor_allgather_init;
    static constexpr auto allgatherv = MPI_Neighbor_allgatherv_init;
    static constexpr auto alltoall = MPI_Neighbor_alltoall_init;
    static constexpr auto alltoallv = MPI_Neighbor_alltoallv_init;
    static constexpr auto alltoallw = MPI_Neighbor_alltoallw_init;
};

struct PersistentLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::persistent;
    static constexpr const char *name = "persistent with large counts";
    static constexpr auto allgather = MPI_Neighbor_allgather_init_c;
    static constexpr auto allgatherv = MPI_Neighbor_allgatherv_init_c;
    static constexpr auto alltoall = MPI_Neighbor_alltoall_init_c;
    static constexpr auto alltoallv = MPI_Neighbor_alltoallv_init_c;
    static constexpr auto alltoallw = MPI_Neighbor_alltoallw_init_c;
};
