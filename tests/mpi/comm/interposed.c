/* A tool that puts itself between program and library, as profilers do: it defines functions of MPI, counts their calls and
 * passes them on under their second names. Linked into the program of interpose.c, or before it as a library. */
#include <mpi.h>

int tool_sends = 0, tool_ranks = 0, tool_sent = 0;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    ++tool_sends;
    tool_sent += count;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

/* Not the library's answer, so that the program sees who gave it. */
int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    int code = PMPI_Comm_rank(comm, rank);
    ++tool_ranks;
    *rank += 1000;
    return code;
}
