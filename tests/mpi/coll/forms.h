// Each form of a collective is a table of MPI functions here, so that a test is written once for all forms.
// The forms are blocking and nonblocking with counts of type MPI_Count, and persistent with both types of
// counts. Uses MPI functions only.
#pragma once

#include <mpi.h>

enum class CallKind { blocking, nonblocking, persistent };

struct BlockingLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::blocking;
    static constexpr const char *name = "blocking with large counts";
    static constexpr auto allgather = MPI_Allgather_c;
    static constexpr auto allgatherv = MPI_Allgatherv_c;
    static constexpr auto allreduce = MPI_Allreduce_c;
    static constexpr auto alltoall = MPI_Alltoall_c;
    static constexpr auto alltoallv = MPI_Alltoallv_c;
    static constexpr auto alltoallw = MPI_Alltoallw_c;
    static constexpr auto bcast = MPI_Bcast_c;
    static constexpr auto exscan = MPI_Exscan_c;
    static constexpr auto gather = MPI_Gather_c;
    static constexpr auto gatherv = MPI_Gatherv_c;
    static constexpr auto reduce = MPI_Reduce_c;
    static constexpr auto reduce_scatter = MPI_Reduce_scatter_c;
    static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block_c;
    static constexpr auto scan = MPI_Scan_c;
    static constexpr auto scatter = MPI_Scatter_c;
    static constexpr auto scatterv = MPI_Scatterv_c;
};

struct NonblockingLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::nonblocking;
    static constexpr const char *name = "nonblocking with large counts";
    static constexpr auto allgather = MPI_Iallgather_c;
    static constexpr auto allgatherv = MPI_Iallgatherv_c;
    static constexpr auto allreduce = MPI_Iallreduce_c;
    static constexpr auto alltoall = MPI_Ialltoall_c;
    static constexpr auto alltoallv = MPI_Ialltoallv_c;
    static constexpr auto alltoallw = MPI_Ialltoallw_c;
    static constexpr auto bcast = MPI_Ibcast_c;
    static constexpr auto exscan = MPI_Iexscan_c;
    static constexpr auto gather = MPI_Igather_c;
    static constexpr auto gatherv = MPI_Igatherv_c;
    static constexpr auto reduce = MPI_Ireduce_c;
    static constexpr auto reduce_scatter = MPI_Ireduce_scatter_c;
    static constexpr auto reduce_scatter_block = MPI_Ireduce_scatter_block_c;
    static constexpr auto scan = MPI_Iscan_c;
    static constexpr auto scatter = MPI_Iscatter_c;
    static constexpr auto scatterv = MPI_Iscatterv_c;
};

struct Persistent {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::persistent;
    static constexpr const char *name = "persistent";
    static constexpr auto allgather = MPI_Allgather_init;
    static constexpr auto allgatherv = MPI_Allgatherv_init;
    static constexpr auto allreduce = MPI_Allreduce_init;
    static constexpr auto alltoall = MPI_Alltoall_init;
    static constexpr auto alltoallv = MPI_Alltoallv_init;
    static constexpr auto alltoallw = MPI_Alltoallw_init;
    static constexpr auto bcast = MPI_Bcast_init;
    static constexpr auto exscan = MPI_Exscan_init;
    static constexpr auto gather = MPI_Gather_init;
    static constexpr auto gatherv = MPI_Gatherv_init;
    static constexpr auto reduce = MPI_Reduce_init;
    static constexpr auto reduce_scatter = MPI_Reduce_scatter_init;
    static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block_init;
    static constexpr auto scan = MPI_Scan_init;
    static constexpr auto scatter = MPI_Scatter_init;
    static constexpr auto scatterv = MPI_Scatterv_init;
};

struct PersistentLarge {
    using Count = MPI_Count;
    using Place = MPI_Aint;
    static constexpr CallKind kind = CallKind::persistent;
    static constexpr const char *name = "persistent with large counts";
    static constexpr auto allgather = MPI_Allgather_init_c;
    static constexpr auto allgatherv = MPI_Allgatherv_init_c;
    static constexpr auto allreduce = MPI_Allreduce_init_c;
    static constexpr auto alltoall = MPI_Alltoall_init_c;
    static constexpr auto alltoallv = MPI_Alltoallv_init_c;
    static constexpr auto alltoallw = MPI_Alltoallw_init_c;
    static constexpr auto bcast = MPI_Bcast_init_c;
    static constexpr auto exscan = MPI_Exscan_init_c;
    static constexpr auto gather = MPI_Gather_init_c;
    static constexpr auto gatherv = MPI_Gatherv_init_c;
    static constexpr auto reduce = MPI_Reduce_init_c;
    static constexpr auto reduce_scatter = MPI_Reduce_scatter_init_c;
    static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block_init_c;
    static constexpr auto scan = MPI_Scan_init_c;
    static constexpr auto scatter = MPI_Scatter_init_c;
    static constexpr auto scatterv = MPI_Scatterv_init_c;
};
