/* Initialises MPI through libmpi_abi.so.1, to which it is linked, and through libmpi.so.12, which it loads.
 * Using two libraries is an error, which the second one must report. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    void *library = dlopen("libmpi.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 77;
    int (*initialise)(int *, char ***);
    *(void **)&initialise = dlsym(library, "MPI_Init");
    int other_first = argc > 1 && strcmp(argv[1], "other-first") == 0;
    if (other_first) initialise(&argc, &argv);
    MPI_Init(&argc, &argv);
    if (!other_first) initialise(&argc, &argv);
    printf("not reached\n");
    return 0;
}
