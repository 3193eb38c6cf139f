// Sends a long message to a receive that was posted before the receiver computes. The blocking send must
// complete while the receiver computes (LANYARD_WRITE_PROTOCOL). The sender reports this by a signal. When
// the receiver then waits, it must have the complete message, and the next message must match the next
// receive.
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <vector>

#include "base/valgrind.h"
#include "comm/check.h"

namespace {

constexpr int bytes = 1 << 20;
const int rounds = lanyard::under_valgrind() ? 1 : 5;  // one takes seconds there
volatile sig_atomic_t told = 0;

void hear(int) { told = 1; }

unsigned char value(size_t i, int round) {
    return static_cast<unsigned char>(i * 5 + (i >> 9) + static_cast<size_t>(round) * 31);
}

// The two ranks notify each other by an empty message and by a signal, apart from the messages under test.
void send_all(int round, pid_t receiver) {
    std::vector<unsigned char> first(bytes), second(bytes);
    for (size_t i = 0; i < bytes; ++i) first[i] = value(i, round), second[i] = value(i, round + 100);
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the receives are posted
    MPI_Send(first.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    kill(receiver, SIGUSR1);
    MPI_Send(second.data(), bytes - 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
}

// Computes for 0.3 s. If `must_write`, computes instead until the first send is complete, for at most 30 s.
void receive_all(int round, bool must_write) {
    std::vector<unsigned char> first(bytes), second(bytes);
    MPI_Request requests[2];
    MPI_Irecv(first.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(second.data(), bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    told = 0;
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
    for (int turn = 0; turn < (must_write ? 3000 : 30) && !(must_write && told); ++turn) usleep(10'000);
    check(!must_write || told, "the send waits for the receiver");
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    int counts[2];
    for (int i = 0; i < 2; ++i) MPI_Get_count(&statuses[i], MPI_BYTE, &counts[i]);
    check(counts[0] == bytes && counts[1] == bytes - 1, "the messages went to their receives in order");
    for (size_t i = 0; i < bytes; ++i)
        check(first[i] == value(i, round), "byte " + std::to_string(i) + " of the first message");
    for (size_t i = 0; i + 1 < bytes; ++i)
        check(second[i] == value(i, round + 100), "byte " + std::to_string(i) + " of the second message");
}

// Returns whether every process can read the memory of the process before it. If not, no process can write to
// another's memory either.
bool memory_is_reachable() {
    long own[2] = {getpid(), reinterpret_cast<long>(&rounds)}, other[2];
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), value = 0;
    MPI_Sendrecv(own, 2, MPI_LONG, (rank + 1) % size, 8, other, 2, MPI_LONG, (rank + size - 1) % size, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    iovec local{&value, sizeof value}, remote{reinterpret_cast<void *>(other[1]), sizeof value};
    int reads = process_vm_readv(static_cast<pid_t>(other[0]), &local, 1, &remote, 1, 0) == sizeof value,
        all = 0;
    MPI_Allreduce(&reads, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

}  // namespace

// With the argument "computing", the first send must complete while the receiver computes. (Under Valgrind no
// process writes into another.)
int main(int argc, char **argv) {
    signal(SIGUSR1, hear);
    MPI_Init(&argc, &argv);
    bool must_write = argc > 1 && memory_is_reachable() && !lanyard::under_valgrind();
    int receiver = getpid();
    MPI_Bcast(&receiver, 1, MPI_INT, 1, MPI_COMM_WORLD);
    for (int round = 0; round < rounds; ++round) {
        if (rank_in(MPI_COMM_WORLD) == 0) send_all(round, receiver);
        if (rank_in(MPI_COMM_WORLD) == 1) receive_all(round, must_write);
    }
    MPI_Finalize();
}
