// Tests collectives from and to memory of MPI_Alloc_mem, which the processes of a node share. Each rank
// chooses this memory or other memory for each buffer by itself. The lengths are those around which
// contributions are read there, in slots or by other methods. After each call, a rank overwrites what it has
// sent, so data that another rank reads too late is wrong. In some rounds a rank comes late.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "comm/check.h"

namespace {

constexpr int most = 1500;  // elements of a block
int rank, size;

// The buffers of one rank. They are used for all calls.
class Memory {
public:
    explicit Memory(size_t elements) : own_(elements) {
        MPI_Alloc_mem(static_cast<MPI_Aint>(elements * sizeof(int64_t)), MPI_INFO_NULL, &allocated_);
    }
    ~Memory() { MPI_Free_mem(allocated_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    int64_t *any(std::mt19937 &random) {
        return random() % 3 ? static_cast<int64_t *>(allocated_) : own_.data();
    }

private:
    std::vector<int64_t> own_;
    void *allocated_ = nullptr;
};

// What rank `from` contributes as element i for rank `to`.
int64_t value(int from, int to, int i, int round) {
    return from * 1'000'003 + to * 10'007 + i * 7 + round * int64_t{100'000'007};
}
int64_t sum(int ranks, int to, int i, int round) {
    int64_t all = 0;
    for (int from = 0; from < ranks; ++from) all += value(from, to, i, round);
    return all;
}

enum Kind { bcast, reduce, allreduce, scan, allgather, alltoall, gather, scatter, reduce_scatter, kinds };
const char *const names[] = {"bcast",    "reduce", "allreduce", "scan",          "allgather",
                             "alltoall", "gather", "scatter",   "reduce_scatter"};

struct Call {
    Kind kind;
    int root, count, round;
    bool in_place;
};

void run(const Call &call, int64_t *send, int64_t *receive) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_INT64_T;
    int n = call.count;
    const void *from = call.in_place ? MPI_IN_PLACE : send;
    bool at_root = rank == call.root;
    switch (call.kind) {
        case bcast:
            MPI_Bcast(at_root ? send : receive, n, type, call.root, comm);
            break;
        case reduce:
            MPI_Reduce(at_root ? from : send, receive, n, type, MPI_SUM, call.root, comm);
            break;
        case allreduce:
            MPI_Allreduce(from, receive, n, type, MPI_SUM, comm);
            break;
        case scan:
            MPI_Scan(from, receive, n, type, MPI_SUM, comm);
            break;
        case allgather:
            MPI_Allgather(from, n, type, receive, n, type, comm);
            break;
        case alltoall:
            MPI_Alltoall(from, n, type, receive, n, type, comm);
            break;
        case gather:
            MPI_Gather(at_root ? from : send, n, type, receive, n, type, call.root, comm);
            break;
        case scatter:
            MPI_Scatter(send, n, type, receive, n, type, call.root, comm);
            break;
        case reduce_scatter:
            MPI_Reduce_scatter_block(from, receive, n, type, MPI_SUM, comm);
            break;
        case kinds:
            break;
    }
}

// The blocks that a rank contributes: one for all ranks, or one for each rank.
bool is_for_each(Kind kind) { return kind == alltoall || kind == scatter || kind == reduce_scatter; }

void fill(int64_t *to, const Call &call) {
    for (int block = 0; block < (is_for_each(call.kind) ? size : 1); ++block)
        for (int i = 0; i < call.count; ++i) to[block * call.count + i] = value(rank, block, i, call.round);
}

// Element i of the block from rank `block` that the call must have put into the receive buffer.
int64_t expected(const Call &call, int block, int i) {
    switch (call.kind) {
        case bcast:
            return value(call.root, 0, i, call.round);
        case scatter:
            return value(call.root, rank, i, call.round);
        case allgather:
        case gather:
            return value(block, 0, i, call.round);
        case alltoall:
            return value(block, rank, i, call.round);
        case reduce_scatter:
            return sum(size, rank, i, call.round);
        case scan:
            return sum(rank + 1, 0, i, call.round);
        default:
            return sum(size, 0, i, call.round);
    }
}

void one(const Call &call, Memory &sent, Memory &received, std::mt19937 &own) {
    int64_t *send = sent.any(own), *receive = received.any(own);
    bool rooted = call.kind == reduce || call.kind == gather;
    bool in_receive = call.in_place && (!rooted || rank == call.root);
    bool gathers = call.kind == allgather || call.kind == gather;
    std::fill_n(receive, call.count * size, -1);
    fill(send, call);
    if (in_receive) fill(receive + (gathers ? rank * call.count : 0), call);
    run(call, send, receive);
    std::fill_n(send, call.count * size, -2);
    bool has_result = !(rooted || call.kind == bcast) || (rank == call.root) == rooted;
    if (!has_result) return;
    int blocks = gathers || call.kind == alltoall ? size : 1;
    for (int block = 0; block < blocks; ++block)
        for (int i = 0; i < call.count; ++i) {
            if (receive[block * call.count + i] == expected(call, block, i)) continue;
            check(false, std::string(names[call.kind]) + " of " + std::to_string(call.count) +
                             " elements, round " + std::to_string(call.round) + ": element " +
                             std::to_string(i) + " of block " + std::to_string(block));
        }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    {
        const size_t elements = static_cast<size_t>(most) * static_cast<size_t>(size);
        Memory sent(elements), received(elements);
        std::mt19937 common(5), own(static_cast<unsigned>(rank));
        constexpr int counts[] = {1, 14, 15, 100, 127, 128, 129, 500, 1023, 1024, 1025, most};
        for (int round = 0; round < 3000; ++round) {
            Call call{static_cast<Kind>(common() % kinds),
                      static_cast<int>(common() % static_cast<unsigned>(size)),
                      counts[common() % std::size(counts)], round, common() % 4 == 0};
            if (call.kind == bcast || call.kind == scatter) call.in_place = false;
            double begin = MPI_Wtime();
            while (own() % 1000 == 0 && MPI_Wtime() - begin < 0.0005) {
            }
            one(call, sent, received, own);
        }
    }
    MPI_Finalize();
}
