// Two ranks send each other messages of many sizes, up to LONGEST bytes (64 MiB if there is no argument). No
// rank receives before all its sends have begun. Then they receive the messages, the longest first, and
// verify every byte. If there is only one rank, it sends to itself.
//   crossing [LONGEST]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 40 };

enum { period = 65537 };  // the text repeats after this number of bytes, so that it can be generated quickly

// Each message is a part of one long text. The position of this part depends on the sender and on the
// message's number.
static size_t place_of(int from, int number) { return (size_t)(from * 1000 + number * 16 + 1); }

int main(int count, char **words) {
    size_t longest = count > 1 ? strtoul(words[1], NULL, 10) : 64u << 20, bytes[most],
           all = longest + place_of(1, most);
    unsigned char *text = malloc(all), *in = malloc(longest);
    MPI_Request requests[most];
    int rank, ranks, messages = 0;
    for (size_t at = 0; at < all && at < period; ++at)
        text[at] = (unsigned char)((unsigned)at * 2654435761u >> 24);
    for (size_t at = period; at < all; at += period)
        memcpy(text + at, text, all - at < period ? all - at : period);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int other = ranks > 1 ? 1 - rank : 0;
    for (size_t size = 0; messages < most && size <= longest; size = size < 16 ? size * 2 + 1 : size * 5 / 2)
        bytes[messages++] = size;
    bytes[messages - 1] = longest;
    for (int i = 0; i < messages; ++i)
        MPI_Isend(text + place_of(rank, i), (int)bytes[i], MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = messages - 1; i >= 0; --i) {
        MPI_Recv(in, (int)bytes[i], MPI_BYTE, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (memcmp(in, text + place_of(other, i), bytes[i]) == 0) continue;
        fprintf(stderr, "rank %d: a message of %zu bytes is wrong\n", rank, bytes[i]);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    free(text);
    free(in);
    if (rank == 0) printf("right\n");
    return MPI_Finalize();
}
