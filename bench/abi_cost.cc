// Measures the cost of calls through an ABI front end, in nanoseconds: MPI_Comm_rank, and a send with a
// receive to the same process. The same source serves for both front ends: mpi-cost is linked with
// libmpi_abi.so.1, and mpich-cost with libmpi.so.12. The figure is the fastest of many short pieces, so that
// a busy machine changes it little.
//
//     mpi-cost [--json]
//     mpich-cost [--json]
//
// bench/run runs the two programs alternately.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

template <class Function>
double fastest_ns(int pieces, int calls, Function function) {
    double best = 1e9;
    for (int piece = 0; piece < pieces; ++piece) {
        auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) function();
        std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
        best = took.count() / calls < best ? took.count() / calls : best;
    }
    return best;
}

}  // namespace

int main(int argc, char **argv) {
    bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    MPI_Init(nullptr, nullptr);
    int rank, out = 1, in = 0;
    MPI_Status status;
    double rank_ns = fastest_ns(2000, 500, [&] { MPI_Comm_rank(MPI_COMM_WORLD, &rank); });
    double pair_ns = fastest_ns(2000, 100, [&] {
        MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status);
    });
    const char *format =
        json ? "{\"results\": [{\"name\": \"MPI_Comm_rank\", \"median\": %.2f, \"unit\": \"ns\"}, "
               "{\"name\": \"send and receive to oneself\", \"median\": %.2f, \"unit\": \"ns\"}]}\n"
             : "MPI_Comm_rank %.2f ns, a send and a receive to oneself %.2f ns\n";
    std::printf(format, rank_ns, pair_ns);
    MPI_Finalize();
}
