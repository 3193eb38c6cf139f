// Tests messages from and to memory of MPI_Alloc_mem, which the processes of a node share. The tests combine
// this memory with other memory in all ways, with many layouts and sizes. The memory is freed and allocated
// again in between. Messages also use parts of it, and more pieces of it than can be shared. Every byte is
// checked.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/valgrind.h"
#include "comm/check.h"

namespace {

const size_t longest = lanyard::under_valgrind() ? 400'000 : 3 << 20;
int rank, size;

unsigned char value(size_t i, int from, int round) {
    return static_cast<unsigned char>(i * 7 + (i >> 8) * 3 + (i >> 16) + static_cast<size_t>(from) * 11 +
                                      static_cast<size_t>(round) * 29);
}

class Allocated {
public:
    explicit Allocated(size_t bytes) { MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &memory_); }
    ~Allocated() { MPI_Free_mem(memory_); }
    Allocated(const Allocated &) = delete;
    Allocated &operator=(const Allocated &) = delete;
    unsigned char *data() const { return static_cast<unsigned char *>(memory_); }

private:
    void *memory_ = nullptr;
};

void fill(unsigned char *to, size_t bytes, int from, int round) {
    for (size_t i = 0; i < bytes; ++i) to[i] = value(i, from, round);
}

void compare(const unsigned char *seen, size_t bytes, int from, int round, const char *what) {
    size_t right = 0;
    while (right < bytes && seen[right] == value(right, from, round)) ++right;
    check(right == bytes, std::string(what) + ": byte " + std::to_string(right) + " of " +
                              std::to_string(bytes) + ", round " + std::to_string(round));
}

// Sends messages around the ring with each function, from each kind of memory to each kind, also from and to
// addresses within the allocated memory.
void ring() {
    int next = (rank + 1) % size, last = (rank + size - 1) % size, round = 0;
    std::vector<unsigned char> own_from(longest), own_to(longest);
    for (size_t bytes : {size_t{100}, size_t{17'000}, size_t{65'536}, size_t{300'001}, longest - 10})
        for (int kinds = 0; kinds < 4; ++kinds)
            for (int again = 0; again < 4; ++again, ++round) {
                Allocated from(longest), to(longest);
                unsigned char *send = (kinds & 1 ? from.data() : own_from.data()) + (again & 1 ? 10 : 0);
                unsigned char *receive = (kinds & 2 ? to.data() : own_to.data()) + (again % 3 ? 3 : 0);
                fill(send, bytes, rank, round);
                auto count = static_cast<int>(bytes);
                MPI_Request requests[2];
                if (again < 2) {
                    MPI_Irecv(receive, count, MPI_BYTE, last, 1, MPI_COMM_WORLD, &requests[0]);
                    MPI_Isend(send, count, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[1]);
                    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
                } else {
                    MPI_Sendrecv(send, count, MPI_BYTE, next, 1, receive, count, MPI_BYTE, last, 1,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
                compare(receive, bytes, last, round, "ring");
            }
}

// Tests blocking sends, with receives that are posted before or after the send, into contiguous memory and
// into blocks with gaps.
void layouts() {
    if (size < 2 || rank > 1) return;
    MPI_Datatype spread;
    constexpr int block = 1000, blocks = 700;
    MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &spread);
    MPI_Type_commit(&spread);
    constexpr size_t span = size_t{2} * block * blocks;
    Allocated memory(span);
    for (int round = 0; round < (lanyard::under_valgrind() ? 4 : 20); ++round) {
        bool spread_out = round & 1, posted = round & 2;
        if (rank == 0) {
            fill(memory.data(), static_cast<size_t>(block) * blocks, 0, round);
            if (posted) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(memory.data(), block * blocks, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            continue;
        }
        std::fill_n(memory.data(), span, static_cast<unsigned char>(0));
        MPI_Request request;
        int count = spread_out ? 1 : block * blocks;
        MPI_Irecv(memory.data(), count, spread_out ? spread : MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        if (posted) MPI_Send(nullptr, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        std::vector<unsigned char> seen;
        for (size_t i = 0; i < (spread_out ? span : span / 2); ++i)
            if (!spread_out || i / block % 2 == 0) seen.push_back(memory.data()[i]);
            else check(memory.data()[i] == 0, "what lies between is not touched");
        compare(seen.data(), seen.size(), 0, round, "layout");
    }
    MPI_Type_free(&spread);
}

// Allocates more pieces of memory than can be shared, and sends many messages at a time.
void many() {
    constexpr int pieces = 50;
    constexpr size_t bytes = 70'000;
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    std::vector<Allocated *> from, to;
    for (int i = 0; i < pieces; ++i) from.push_back(new Allocated(bytes)), to.push_back(new Allocated(bytes));
    for (int round = 0; round < 8; ++round) {
        std::vector<MPI_Request> requests(2 * pieces);
        for (size_t i = 0; i < pieces; ++i) {
            fill(from[i]->data(), bytes, rank, round + static_cast<int>(i));
            MPI_Irecv(to[i]->data(), bytes, MPI_BYTE, last, static_cast<int>(i), MPI_COMM_WORLD,
                      &requests[i]);
        }
        for (size_t i = 0; i < pieces; ++i)
            MPI_Isend(from[i]->data(), bytes, MPI_BYTE, next, static_cast<int>(i), MPI_COMM_WORLD,
                      &requests[pieces + i]);
        MPI_Waitall(2 * pieces, requests.data(), MPI_STATUSES_IGNORE);
        for (size_t i = 0; i < pieces; ++i)
            compare(to[i]->data(), bytes, last, round + static_cast<int>(i), "many");
    }
    for (int i = 0; i < pieces; ++i) delete from[static_cast<size_t>(i)], delete to[static_cast<size_t>(i)];
}

// Blocking sends of messages that could be sent eagerly. Some are sent before the receiver looks for them,
// some are received in another order, and some are received while the receiver sends to the same rank.
void eager_ones() {
    int next = (rank + 1) % size, last = (rank + size - 1) % size, round = 0;
    for (size_t bytes : {size_t{1000}, size_t{1024}, size_t{5'000}, size_t{65'536}}) {
        Allocated from(bytes), to(2 * bytes);
        auto count = static_cast<int>(bytes);
        for (int way = 0; way < 200; ++way, ++round) {
            fill(from.data(), bytes, rank, round);
            if (way % 3 == 0) {
                MPI_Sendrecv(from.data(), count, MPI_BYTE, next, 1, to.data(), count, MPI_BYTE, last, 1,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                compare(to.data(), bytes, last, round, "both ways");
                continue;
            }
            // One rank after the other sends two messages, whose receives are posted late in some rounds.
            if (rank % 2 == 0 || size == 1) {
                MPI_Request requests[2];
                for (int tag : {0, 1})
                    MPI_Isend(from.data(), count, MPI_BYTE, next, tag, MPI_COMM_WORLD, &requests[tag]);
                if (size > 1) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
                // In the order in which they are sent, because the sends block if nothing is sent eagerly.
                for (int tag : {0, 1})
                    MPI_Recv(to.data() + static_cast<size_t>(tag) * bytes, count, MPI_BYTE, last, tag,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (size == 1) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            } else {
                double begin = MPI_Wtime();
                while (way % 20 == 1 && MPI_Wtime() - begin < 0.0005) {
                }
                for (int tag : {1, 0})
                    MPI_Recv(to.data() + static_cast<size_t>(tag) * bytes, count, MPI_BYTE, last, tag,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int tag : {0, 1}) MPI_Send(from.data(), count, MPI_BYTE, next, tag, MPI_COMM_WORLD);
            }
            for (size_t tag : {0u, 1u}) compare(to.data() + tag * bytes, bytes, last, round, "one way");
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    ring();
    layouts();
    many();
    eager_ones();
    MPI_Finalize();
}
