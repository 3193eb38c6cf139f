/* bench-startup is a program that starts MPI and ends it. bench/compare measures the time of the whole job
 * from outside, including the launcher. The program is written in C and linked with MPI only, so that the
 * loading of other libraries is not measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "A program that starts MPI, ends it and prints nothing: time it from outside, with the launcher.\n"
    "Usage: %s [OPTIONS]\n\nOptions:\n"
    "  -h,--help       Print this help message and exit\n"
    "  -V,--version    Display program version information and exit\n";

/* Handles the first word of the command line. Prints the answer on one rank only. Returns the exit code. */
static int answer(const char *name, const char *word) {
    const char *rank = getenv("PMI_RANK");
    int speaks = !rank || strcmp(rank, "0") == 0;
    if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
        if (speaks) printf(help, name);
        return 0;
    }
    if (!strcmp(word, "-V") || !strcmp(word, "--version") || !strcmp(word, "-version")) {
        if (speaks) puts("bench-startup of Lanyard " LANYARD_VERSION);
        return 0;
    }
    if (speaks)
        fprintf(stderr, "%s: does not know what to do with '%s'\n%s --help lists the options.\n",
                name, word, name);
    return 2;
}

int main(int argc, char **argv) {
    const int options_are_good = 100; /* as in settings.h */
    int check_only = argc > 1 && strcmp(argv[1], "--check-options") == 0;
    if (argc > 1 + check_only) {
        int exit_code = answer(check_only ? argv[0] : "bench-startup", argv[1 + check_only]);
        if (check_only) return exit_code;
        /* so that the launcher sees a rank that ends normally */
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        return exit_code;
    }
    if (check_only) return options_are_good;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
