// Exchanges messages of all kinds and sizes for some seconds and verifies every byte. Connections may break
// meanwhile. Rank 0 prints the number of rounds.
//   torture SECONDS
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int rank, size;

unsigned char byte_of(long round, int from, int to, size_t i) {
    return static_cast<unsigned char>(round * 31 + from * 7 + to * 13 + static_cast<long>(i) +
                                      static_cast<long>(i >> 8));
}

void fill(std::vector<unsigned char> &data, long round, int from, int to) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = byte_of(round, from, to, i);
}

void check(const std::vector<unsigned char> &data, long round, int from, int to, const char *what) {
    for (size_t i = 0; i < data.size(); ++i) {
        if (data[i] == byte_of(round, from, to, i)) continue;
        std::printf("rank %d: %s of round %ld from rank %d: byte %zu of %zu is wrong\n", rank, what, round,
                    from, i, data.size());
        std::fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

size_t size_of(long round) {
    constexpr size_t sizes[] = {0,    1,     8,     24,    25,      100,       1500,
                                4096, 16384, 16385, 65536, 200'000, 1'000'000, 3'000'001};
    return sizes[round % static_cast<long>(std::size(sizes))];
}

// All ranks send to all other ranks at the same time. All messages are under way before any is received.
void all_to_all(long round) {
    std::vector<std::vector<unsigned char>> out(static_cast<size_t>(size)), in(static_cast<size_t>(size));
    std::vector<MPI_Request> requests;
    int tag = static_cast<int>(round % 1000), bytes = static_cast<int>(size_of(round));
    for (int other = 0; other < size; ++other) {
        auto at = static_cast<size_t>(other);
        out[at].resize(size_of(round));
        in[at].resize(size_of(round));
        fill(out[at], round, rank, other);
        requests.emplace_back();
        MPI_Isend(out[at].data(), bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests.back());
    }
    for (int other = 0; other < size; ++other) {
        auto at = static_cast<size_t>(other);
        requests.emplace_back();
        MPI_Irecv(in[at].data(), bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests.back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int other = 0; other < size; ++other)
        check(in[static_cast<size_t>(other)], round, other, rank, "a message");
}

void ping_pong(long round) {
    int partner = rank ^ 1;
    if (partner >= size) return;
    std::vector<unsigned char> data(size_of(round / 3));
    for (int turn = 0; turn < 20; ++turn) {
        if (rank < partner) {
            fill(data, round + turn, rank, partner);
            MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, partner, 1, MPI_COMM_WORLD);
            MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, partner, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check(data, round + turn, partner, rank, "an answer");
        } else {
            MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, partner, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check(data, round + turn, partner, rank, "a question");
            fill(data, round + turn, rank, partner);
            MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, partner, 2, MPI_COMM_WORLD);
        }
    }
}

void collectives(long round) {
    std::vector<long> own(static_cast<size_t>(1 + round % 5000), round + rank), sum(own.size());
    MPI_Allreduce(own.data(), sum.data(), static_cast<int>(own.size()), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long expected = size * round + static_cast<long>(size) * (size - 1) / 2;
    for (long value : sum) {
        if (value == expected) continue;
        std::printf("rank %d: the sum of round %ld is %ld instead of %ld\n", rank, round, value, expected);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    std::vector<unsigned char> data(size_of(round));
    int root = static_cast<int>(round % size);
    if (rank == root) fill(data, round, root, root);
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, MPI_COMM_WORLD);
    check(data, round, root, root, "a broadcast");
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double end = MPI_Wtime() + (argc > 1 ? std::atof(argv[1]) : 5);
    long round = 0;
    for (int go_on = 1; go_on; ++round) {
        all_to_all(round);
        ping_pong(round);
        collectives(round);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) std::printf("%ld rounds\n", round);
    MPI_Finalize();
    return 0;
}
