// Several threads mark partitions as ready at once. Meanwhile, another thread of the rank waits for the send,
// and one more thread queries which partitions have arrived.
#include <atomic>

#include "threads/crew.h"

int main(int argc, char **argv) {
    begin(argc, argv);
    Ranks ranks;
    constexpr int partitions = 64, rounds = 8;
    for (MPI_Count count : {1, 300, 20000}) {
        std::vector<int> out(static_cast<size_t>(partitions * count)), in(out.size());
        MPI_Request send, receive;
        MPI_Psend_init(out.data(), partitions, count, MPI_INT, ranks.to, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &send);
        MPI_Precv_init(in.data(), partitions / 2, count * 2, MPI_INT, ranks.from, 1, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &receive);
        for (int round = 0; round < rounds; ++round) {
            MPI_Start(&receive);
            MPI_Start(&send);
            MPI_Request waited = send;
            std::thread waits([&] { MPI_Wait(&waited, MPI_STATUS_IGNORE); });
            std::thread asks([&] {
                for (int p = 0; p < partitions / 2; ++p) {
                    for (int flag = 0; !flag;) MPI_Parrived(receive, p, &flag);
                    size_t first = static_cast<size_t>(p * count * 2);
                    for (size_t i = first; i < first + static_cast<size_t>(count * 2); ++i)
                        if (in[i] != ranks.from * 7 + round * 1000 + static_cast<int>(i))
                            check(false, "what has arrived is not there");
                }
            });
            all_together([&](int thread) {
                for (int p = thread; p < partitions; p += threads) {
                    auto first = static_cast<size_t>(p * count);
                    for (size_t i = first; i < first + static_cast<size_t>(count); ++i)
                        out[i] = ranks.rank * 7 + round * 1000 + static_cast<int>(i);
                    MPI_Pready(p, send);
                }
            });
            waits.join();
            asks.join();
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
            std::fill(in.begin(), in.end(), -1);
        }
        MPI_Request_free(&send);
        MPI_Request_free(&receive);
    }
    MPI_Finalize();
}
