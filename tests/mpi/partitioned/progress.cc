// Partitions must be transferred while both programs compute. Rank 0 sends to rank 1. Rank 1 does not call
// MPI until it has seen the last byte in its memory and has sent rank 0 a signal. Rank 0 does not call MPI
// until this signal. In one round the receive is started first, and in the other round the send. The test
// uses TCP, where the library's helper thread makes the progress.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "comm/check.h"

namespace {

volatile sig_atomic_t told = 0;

void hear(int) { told = 1; }

// Reading the buffer of an incomplete receive is a race with the library's thread, which this test intends.
[[gnu::no_sanitize_thread]] bool is_acknowledged(const volatile char *byte) { return *byte == 1; }

template <class Condition>
void compute_until(Condition condition, const char *what) {
    for (int i = 0; i < 30000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    check(condition(), what);
}

}  // namespace

int main(int argc, char **argv) {
    signal(SIGUSR1, hear);
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), other = 1 - rank, own_pid = getpid(), pid;
    MPI_Sendrecv(&own_pid, 1, MPI_INT, other, 0, &pid, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    constexpr int partitions = 8;
    constexpr MPI_Count count = 1 << 20;
    std::vector<char> memory(partitions * count);
    for (bool receive_first : {true, false}) {
        MPI_Request request;
        std::fill(memory.begin(), memory.end(), static_cast<char>(1 - rank));
        volatile char *first = memory.data(), *last = memory.data() + memory.size() - 1;
        told = 0;
        if (rank == 1) {
            if (!receive_first) std::this_thread::sleep_for(std::chrono::milliseconds(200));
            MPI_Precv_init(memory.data(), 1, partitions * count, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request);
            MPI_Start(&request);
            if (receive_first) MPI_Send(nullptr, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
            compute_until([&] { return is_acknowledged(first) && is_acknowledged(last); },
                          "the data do not come while the programs compute");
            kill(pid, SIGUSR1);
        } else {
            if (receive_first) MPI_Recv(nullptr, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Psend_init(memory.data(), partitions, count, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request);
            MPI_Start(&request);
            MPI_Pready_range(0, partitions - 1, request);
            compute_until([&] { return told != 0; }, "nothing is heard of rank 1");
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
