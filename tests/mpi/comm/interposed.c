/* This is a tool between the program and the library, like a profiler. It defines MPI functions that count
 * their calls and then call the library's functions under their PMPI names. It is linked into the program of
 * interpose.c directly, or is a shared library that precedes the MPI library. */
#include <mpi.h>

int tool_sends = 0, tool_ranks = 0, tool_sent = 0;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    ++tool_sends;
    tool_sent += count;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

/* Adds 1000 to the rank. So the program sees that it has called this function and not the library's. */
int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    int code = PMPI_Comm_rank(comm, rank);
    ++tool_ranks;
    *rank += 1000;
    return code;
}
