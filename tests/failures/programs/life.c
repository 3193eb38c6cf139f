// Uses MPI at the limits of its lifetime: calls before MPI_Init and after MPI_Finalize, calls in a forked
// child, a second MPI_Init, MPI_Abort. The first word on the command line names the case.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls the functions that may be called at any time, and checks their results.
static void always_allowed(int initialized, int finalized) {
    int flag = -1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    if (flag != initialized) exit(90);
    MPI_Finalized(&flag);
    if (flag != finalized) exit(91);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    if (version != 5 || !strstr(text, "Lanyard")) exit(92);
}

static int call(const char *wish) {
    int rank = -1, number = 0;
    if (!strcmp(wish, "rank")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(wish, "send")) MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (!strcmp(wish, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(wish, "type")) MPI_Type_contiguous(2, MPI_INT, &(MPI_Datatype){MPI_DATATYPE_NULL});
    if (!strcmp(wish, "finalize")) MPI_Finalize();
    if (!strcmp(wish, "init")) MPI_Init(NULL, NULL);
    printf("not reached\n");
    return 97;
}

// Forks a child, which calls MPI or exits. The parent and the other ranks continue.
static int child(int in_child) {
    int rank, sum = 0, state;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    pid_t made = rank == 0 ? fork() : -1;
    if (made == 0) {
        if (in_child) return call("barrier");
        exit(0);  // runs the library's destructors in the child
    }
    if (made > 0) {
        waitpid(made, &state, 0);
        printf("child %d\n", WIFEXITED(state) ? WEXITSTATUS(state) : 1000 + WTERMSIG(state));
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %d\n", sum);
    return MPI_Finalize();
}

int main(int count, char **words) {
    const char *when = words[1], *wish = count > 2 ? words[2] : "";
    always_allowed(0, 0);
    if (!strcmp(when, "before")) return call(wish);
    MPI_Init(&count, &words);
    always_allowed(1, 0);
    if (!strcmp(when, "stay")) {
        printf("here\n");
        fflush(stdout);
        for (;;) pause();
    }
    if (!strcmp(when, "fork")) return child(!strcmp(wish, "mpi"));
    if (!strcmp(when, "twice")) return call("init");
    if (!strcmp(when, "abort")) MPI_Abort(MPI_COMM_WORLD, atoi(wish));
    MPI_Finalize();
    always_allowed(1, 1);
    if (!strcmp(when, "after")) return call(wish);
    return 0;
}
