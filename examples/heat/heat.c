/* heat computes how warmth spreads through a metal plate. All ranks of an MPI job compute together.
 *
 *     mpicc -O2 -o heat heat.c picture.c -lpng -lm
 *     mpirun -n 4 ./heat [PICTURE [STEPS]]
 *
 * The plate is a grid of SIDE x SIDE points. The rim of the plate is kept cold, and three burners below the
 * plate are kept hot. The temperature of each other point moves, step by step, towards the mean of its four
 * neighbours (the heat equation, explicit in time). The ranks divide the grid into rectangles. Each rectangle
 * has a border of one point all around, the halo. It contains copies of the neighbours' outermost points,
 * which messages refresh before every step. The result does not depend on the number of ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "picture.h"

enum { SIDE = 480, STEPS = 12000, REPORTS = 12 };

static const double DIFFUSIVITY = 9.7e-5;      /* of aluminium, m2/s */
static const double SPACING = 0.5 / SIDE;      /* a plate of half a metre, m */
static const double COLD = 20, HOT = 220;      /* degrees Celsius */
static const double SPEED = 0.24;              /* time step x diffusivity / spacing^2; stable up to 0.25 */

/* One rank's rectangle and its neighbours. Point (i, j) is at i * stride + j. Rows 1..rows and columns
 * 1..columns are the rank's own; 0, rows + 1 and columns + 1 are halo. */
typedef struct {
    int first_row, rows, first_column, columns, stride;
    int above, below, left, right;
    MPI_Datatype column;
} Block;

/* Divides `length` points into `parts`: where part number `index` begins. */
static int part_begin(int length, int parts, int index) { return (int)((long)length * index / parts); }

/* The ranks form a grid as square as their number allows: 4 are 2 x 2, 6 are 2 x 3, 5 are 1 x 5. */
static int rows_of_ranks(int ranks) {
    int rows = 1;
    for (int i = 1; i * i <= ranks; ++i)
        if (ranks % i == 0) rows = i;
    return rows;
}

static Block make_block(int rank, int ranks) {
    int down = rows_of_ranks(ranks), across = ranks / down;
    int row = rank / across, column = rank % across;
    Block b;
    b.first_row = part_begin(SIDE, down, row);
    b.rows = part_begin(SIDE, down, row + 1) - b.first_row;
    b.first_column = part_begin(SIDE, across, column);
    b.columns = part_begin(SIDE, across, column + 1) - b.first_column;
    b.stride = b.columns + 2;
    /* Beyond the rim there is no neighbour: a message to or from MPI_PROC_NULL does nothing. */
    b.above = row > 0 ? rank - across : MPI_PROC_NULL;
    b.below = row < down - 1 ? rank + across : MPI_PROC_NULL;
    b.left = column > 0 ? rank - 1 : MPI_PROC_NULL;
    b.right = column < across - 1 ? rank + 1 : MPI_PROC_NULL;
    /* A column's points lie `stride` apart in memory. This type describes them, and MPI gathers them. */
    MPI_Type_vector(b.rows, 1, b.stride, MPI_DOUBLE, &b.column);
    MPI_Type_commit(&b.column);
    return b;
}

/* The temperature at which a point of the plate is held, or NAN if it is free. */
static double held_at(int row, int column) {
    static const struct { double row, column, radius; } burners[] = {
        {0.30, 0.32, 0.09}, {0.36, 0.70, 0.06}, {0.72, 0.52, 0.11}};
    if (row == 0 || column == 0 || row == SIDE - 1 || column == SIDE - 1) return COLD;
    for (size_t k = 0; k < sizeof burners / sizeof *burners; ++k)
        if (hypot(row - burners[k].row * SIDE, column - burners[k].column * SIDE) < burners[k].radius * SIDE)
            return HOT;
    return NAN;
}

static void set_up(const Block *b, double *now, double *next, char *free_point) {
    for (int i = 0; i < b->rows + 2; ++i)
        for (int j = 0; j < b->stride; ++j) {
            double held = held_at(b->first_row + i - 1, b->first_column + j - 1);
            int here = i * b->stride + j;
            now[here] = next[here] = isnan(held) ? COLD : held;
            free_point[here] = isnan(held) != 0;
        }
}

/* Sends the rank's outermost rows and columns to the four neighbours and receives theirs into the halo. */
static void exchange_halo(const Block *b, double *t) {
    double *first_row = t + b->stride + 1, *last_row = t + b->rows * b->stride + 1;
    double *first_column = first_row, *last_column = t + b->stride + b->columns;
    MPI_Request requests[8];
    MPI_Irecv(first_row - b->stride, b->columns, MPI_DOUBLE, b->above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(last_row + b->stride, b->columns, MPI_DOUBLE, b->below, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(first_column - 1, 1, b->column, b->left, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(last_column + 1, 1, b->column, b->right, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(first_row, b->columns, MPI_DOUBLE, b->above, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(last_row, b->columns, MPI_DOUBLE, b->below, 0, MPI_COMM_WORLD, &requests[5]);
    MPI_Isend(first_column, 1, b->column, b->left, 0, MPI_COMM_WORLD, &requests[6]);
    MPI_Isend(last_column, 1, b->column, b->right, 0, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void step(const Block *b, const double *now, double *next, const char *free_point) {
    for (int i = 1; i <= b->rows; ++i)
        for (int j = 1; j <= b->columns; ++j) {
            int here = i * b->stride + j;
            double neighbours = now[here - b->stride] + now[here + b->stride] + now[here - 1] + now[here + 1];
            if (free_point[here]) next[here] = now[here] + SPEED * (neighbours - 4 * now[here]);
        }
}

/* Returns how much the last step changed the plate, as a root mean square over the whole plate. Every rank
 * gets the result. */
static double residual(const Block *b, const double *now, const double *next) {
    double mine = 0, all = 0;
    for (int i = 1; i <= b->rows; ++i)
        for (int j = 1; j <= b->columns; ++j) {
            double change = next[i * b->stride + j] - now[i * b->stride + j];
            mine += change * change;
        }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all / ((double)SIDE * SIDE));
}

/* Rank 0 receives every rank's rectangle directly into its place in the picture. The other ranks return NULL.
   */
static double *collect(const Block *b, double *t, int rank, int ranks) {
    MPI_Datatype own_points;
    MPI_Request sent;
    MPI_Type_vector(b->rows, b->columns, b->stride, MPI_DOUBLE, &own_points);
    MPI_Type_commit(&own_points);
    MPI_Isend(t + b->stride + 1, 1, own_points, 0, 1, MPI_COMM_WORLD, &sent);
    double *plate = NULL;
    if (rank == 0) {
        plate = malloc(sizeof(double) * SIDE * SIDE);
        for (int from = 0; from < ranks; ++from) {
            Block theirs = make_block(from, ranks);
            MPI_Datatype place;
            MPI_Type_vector(theirs.rows, theirs.columns, SIDE, MPI_DOUBLE, &place);
            MPI_Type_commit(&place);
            MPI_Recv(plate + theirs.first_row * SIDE + theirs.first_column, 1, place, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Type_free(&place);
            MPI_Type_free(&theirs.column);
        }
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&own_points);
    return plate;
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *picture = argc > 1 ? argv[1] : "heat.png";
    int steps = argc > 2 ? atoi(argv[2]) : STEPS, report_every = steps > REPORTS ? steps / REPORTS : 1;

    Block b = make_block(rank, ranks);
    size_t points = (size_t)(b.rows + 2) * (size_t)b.stride;
    double *now = malloc(points * sizeof *now), *next = malloc(points * sizeof *next);
    char *free_point = malloc(points);
    set_up(&b, now, next, free_point);

    double seconds_per_step = SPEED * SPACING * SPACING / DIFFUSIVITY, start = MPI_Wtime();
    if (rank == 0) printf("heat: %d x %d points on %d ranks, %d steps\n", SIDE, SIDE, ranks, steps);
    for (int n = 1; n <= steps; ++n) {
        exchange_halo(&b, now);
        step(&b, now, next, free_point);
        if (n % report_every == 0) {
            double change = residual(&b, now, next);
            if (rank == 0)
                printf("heat: %3d %%, %5.1f s of the plate's time, change per step %.2e degrees\n",
                       100 * n / steps, n * seconds_per_step, change);
            fflush(stdout);
        }
        double *swap = now;
        now = next;
        next = swap;
    }

    int failed = 0;
    double *plate = collect(&b, now, rank, ranks);
    if (rank == 0) {
        failed = write_picture(picture, plate, SIDE, SIDE, COLD, HOT);
        if (!failed) printf("heat: %.1f seconds; the picture is in %s\n", MPI_Wtime() - start, picture);
    }
    free(plate);
    free(free_point);
    free(next);
    free(now);
    MPI_Type_free(&b.column);
    MPI_Finalize();
    return failed;
}
