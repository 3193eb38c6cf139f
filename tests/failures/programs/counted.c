// Prints the number of messages that all ranks together send for one MPI_Allreduce of 8 integers.
#include <mpi.h>
#include <stdio.h>

static unsigned long long sent(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    MPI_T_pvar_read(session, handle, &value);
    return value;
}

int main(int count, char **words) {
    int rank, index, level, numbers[8], sums[8];
    unsigned long long before, own, all = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Init(&count, &words);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; ++i) numbers[i] = rank * i;
    MPI_T_pvar_get_index("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &level);
    MPI_T_pvar_start(session, handle);
    before = sent(session, handle);
    MPI_Allreduce(numbers, sums, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    own = sent(session, handle) - before;
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Reduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%llu\n", all);
    return MPI_Finalize();
}
