// Sends long messages into memory that consists of runs with gaps between them. The gaps must stay unchanged.
// The runs have many lengths: if they are short, the receiver unpacks them; if they are long, or there are
// few, their data are read straight into place. Some senders wait in the call, and some do not.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "comm/check.h"

namespace {

constexpr unsigned char gap = 0xee;

unsigned char value(size_t i, int seed) {
    return static_cast<unsigned char>(i * 7 + (i >> 8) + (i >> 16) + static_cast<size_t>(seed));
}

void exchange(int rank, int size, size_t run, size_t runs, bool waits) {
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    size_t bytes = run * runs, stride = run + 40;
    std::vector<unsigned char> sent(bytes), memory(stride * runs, gap);
    for (size_t i = 0; i < bytes; ++i) sent[i] = value(i, rank);
    MPI_Datatype type;
    MPI_Type_vector(static_cast<int>(runs), static_cast<int>(run), static_cast<int>(stride), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Request receive, send = MPI_REQUEST_NULL;
    MPI_Irecv(memory.data(), 1, type, previous, 3, MPI_COMM_WORLD, &receive);
    if (waits) MPI_Ssend(sent.data(), static_cast<int>(bytes), MPI_BYTE, next, 3, MPI_COMM_WORLD);
    else MPI_Isend(sent.data(), static_cast<int>(bytes), MPI_BYTE, next, 3, MPI_COMM_WORLD, &send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    size_t wrong = 0;
    for (size_t i = 0; i < memory.size(); ++i) {
        size_t in_run = i % stride;
        wrong += memory[i] != (in_run < run ? value(i / stride * run + in_run, previous) : gap);
    }
    check(wrong == 0, std::to_string(wrong) + " bytes are wrong, of " + std::to_string(runs) + " runs of " +
                          std::to_string(run));
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool few = std::getenv("LANYARD_TEST_FEW");  // the longest messages take nearly all of the time
    for (bool waits : {false, true})
        for (size_t run : {1, 63, 1000, 16383, 16384, 20000, 300000})
            for (size_t runs : {1, 3, 4, 5, 60, 300})
                if (!few || run * runs < 8'000'000) exchange(rank, size, run, runs, waits);
    MPI_Finalize();
}
