// Executes loops of single calls under valgrind's callgrind, which counts the instructions of each function.
// bench/instructions.py runs this program on two ranks and sums up the calls of each loop. Each loop is a
// function with its own name.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <initializer_list>

namespace {

// bench/instructions.py has the same numbers. About every 64 calls, the library does some additional work,
// such as reading the progress of other ranks in a node's memory. A loop is so long that it includes this
// work several times. So the count hardly depends on the calls in which the work is done.
constexpr int calls = 256, window_calls = 50;
char buffer[8];

// Counts the messages sent and received, in memory that both ranks share. With these counters, each receive
// begins when its message has arrived and no other message has.
struct Progress {
    std::atomic<int> sent, received;
};
Progress* progress;

void await(const std::atomic<int>& counter, int value) {
    while (counter.load() < value) usleep(100);
}

#define LOOP [[gnu::noinline]] void

LOOP loop_of_send(int peer, int before) {
    for (int i = 0; i < calls; ++i) {
        await(progress->received, before + i);
        MPI_Send(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        ++progress->sent;
    }
}
LOOP loop_of_recv(int peer, int before) {
    for (int i = 0; i < calls; ++i) {
        await(progress->sent, before + i + 1);
        MPI_Recv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++progress->received;
    }
}
LOOP loop_of_isend_wait(int peer, int before) {
    for (int i = 0; i < calls; ++i) {
        MPI_Request request;
        await(progress->received, before + i);
        MPI_Isend(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        ++progress->sent;
    }
}
LOOP loop_of_irecv_wait(int peer, int before) {
    for (int i = 0; i < calls; ++i) {
        MPI_Request request;
        await(progress->sent, before + i + 1);
        MPI_Irecv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        ++progress->received;
    }
}
// In the loops of many requests, all receives are posted before the messages arrive, and all messages have
// arrived before any rank waits for them.
MPI_Request window[window_calls];

LOOP loop_of_isends(int peer) {
    for (MPI_Request& request : window)
        MPI_Isend(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
}
LOOP loop_of_irecvs(int peer) {
    for (MPI_Request& request : window)
        MPI_Irecv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
}
LOOP loop_of_waitall() { MPI_Waitall(window_calls, window, MPI_STATUSES_IGNORE); }

void send_window(int peer, int before) {
    await(progress->received, before + 1);
    loop_of_isends(peer);
    loop_of_waitall();
    ++progress->sent;
}
void receive_window(int peer, int before) {
    loop_of_irecvs(peer);
    ++progress->received;
    await(progress->sent, before + 1);
    loop_of_waitall();
}

// Collectives in which data move in one direction only. give() is for the rank that only contributes. take()
// is for the rank that only receives, and begins when the contribution has been made.
template <class Call>
[[gnu::always_inline]] inline void give(const Call& call, int before) {
    for (int i = 0; i < calls; ++i) {
        await(progress->received, before + i);
        call();
        ++progress->sent;
    }
}
template <class Call>
[[gnu::always_inline]] inline void take(const Call& call, int before) {
    for (int i = 0; i < calls; ++i) {
        await(progress->sent, before + i + 1);
        call();
        ++progress->received;
    }
}
char gathered[2 * sizeof buffer];
int sum, scanned[2];
const int even_counts[] = {sizeof buffer, sizeof buffer}, even_places[] = {0, sizeof buffer};

[[gnu::always_inline]] inline void gather() {
    MPI_Gather(buffer, sizeof buffer, MPI_CHAR, gathered, sizeof buffer, MPI_CHAR, 1, MPI_COMM_WORLD);
}
[[gnu::always_inline]] inline void broadcast() {
    MPI_Bcast(buffer, sizeof buffer, MPI_CHAR, 0, MPI_COMM_WORLD);
}
[[gnu::always_inline]] inline void reduce() {
    MPI_Reduce(buffer, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
}

[[gnu::always_inline]] inline void scan() { MPI_Scan(buffer, scanned, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
[[gnu::always_inline]] inline void scan_below() {
    MPI_Exscan(buffer, scanned, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
[[gnu::always_inline]] inline void gather_counted() {
    MPI_Gatherv(buffer, sizeof buffer, MPI_CHAR, gathered, even_counts, even_places, MPI_CHAR, 1,
                MPI_COMM_WORLD);
}
[[gnu::always_inline]] inline void scatter_counted() {
    MPI_Scatterv(gathered, even_counts, even_places, MPI_CHAR, buffer, sizeof buffer, MPI_CHAR, 0,
                 MPI_COMM_WORLD);
}

LOOP loop_of_gather_give(int before) { give([] { gather(); }, before); }
LOOP loop_of_gather_take(int before) { take([] { gather(); }, before); }
LOOP loop_of_bcast_give(int before) { give([] { broadcast(); }, before); }
LOOP loop_of_bcast_take(int before) { take([] { broadcast(); }, before); }
LOOP loop_of_reduce_give(int before) { give([] { reduce(); }, before); }
LOOP loop_of_reduce_take(int before) { take([] { reduce(); }, before); }

LOOP loop_of_scan_give(int before) { give([] { scan(); }, before); }
LOOP loop_of_scan_take(int before) { take([] { scan(); }, before); }
LOOP loop_of_exscan_give(int before) { give([] { scan_below(); }, before); }
LOOP loop_of_exscan_take(int before) { take([] { scan_below(); }, before); }
LOOP loop_of_gatherv_give(int before) { give([] { gather_counted(); }, before); }
LOOP loop_of_gatherv_take(int before) { take([] { gather_counted(); }, before); }
LOOP loop_of_scatterv_give(int before) { give([] { scatter_counted(); }, before); }
LOOP loop_of_scatterv_take(int before) { take([] { scatter_counted(); }, before); }

LOOP loop_of_self_pair(int own) {
    for (int i = 0; i < calls; ++i) {
        MPI_Send(buffer, sizeof buffer, MPI_CHAR, own, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, sizeof buffer, MPI_CHAR, own, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
LOOP loop_of_null_pair() {
    for (int i = 0; i < calls; ++i) {
        MPI_Send(buffer, sizeof buffer, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, sizeof buffer, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
LOOP loop_of_comm_rank() {
    for (int i = 0; i < calls; ++i) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
}

bool map_progress(const char* path) {
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) return false;
    void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    progress = static_cast<Progress*>(memory);
    return memory != MAP_FAILED;
}

// Does the one-time work of first calls, such as resolving functions and opening a ring, so that the loops do
// not include it.
void warm_up(int rank) {
    gather();
    broadcast();
    reduce();
    scan();
    scan_below();
    gather_counted();
    scatter_counted();
    for (int peer : {1 - rank, rank, MPI_PROC_NULL}) {
        MPI_Request requests[2];
        MPI_Irecv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Send(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, sizeof buffer, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (MPI_Request& request : window)
        MPI_Irecv(buffer, sizeof buffer, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Waitall(window_calls, window, MPI_STATUSES_IGNORE);
}

}  // namespace

// Arguments: the path of a file that both ranks map. A second argument starts MPI with MPI_THREAD_MULTIPLE.
int main(int argc, char** argv) {
    if (argc < 2 || !map_progress(argv[1]))
        return std::fputs("instruction-loops: which file may be made?\n", stderr), 2;
    int level = 0, rank = 0;
    if (argc > 2) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    else MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    warm_up(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        loop_of_send(1, 0);
        loop_of_isend_wait(1, calls);
        loop_of_gather_give(2 * calls);
        loop_of_bcast_give(3 * calls);
        loop_of_reduce_give(4 * calls);
        loop_of_scan_give(5 * calls);
        loop_of_exscan_give(6 * calls);
        loop_of_gatherv_give(7 * calls);
        loop_of_scatterv_give(8 * calls);
        send_window(1, 9 * calls);
    } else {
        loop_of_recv(0, 0);
        loop_of_irecv_wait(0, calls);
        loop_of_gather_take(2 * calls);
        loop_of_bcast_take(3 * calls);
        loop_of_reduce_take(4 * calls);
        loop_of_scan_take(5 * calls);
        loop_of_exscan_take(6 * calls);
        loop_of_gatherv_take(7 * calls);
        loop_of_scatterv_take(8 * calls);
        receive_window(0, 9 * calls);
    }
    loop_of_self_pair(rank);
    loop_of_null_pair();
    loop_of_comm_rank();
    MPI_Finalize();
}
