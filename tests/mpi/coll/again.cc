// Calls the same collectives many times in a random order. The arguments of successive calls differ in one
// thing or not at all. A call must therefore not use what the library remembers of an earlier call with other
// arguments. Some calls stay under way while the next ones begin. The seed is the number of ranks.
#include <memory>
#include <random>

#include "elements.h"

namespace {

int rank, size;

// A datatype that selects all elements of an array, every second element or every third element. These
// datatypes have the same size. They are freed and created again, so that a new one often lies at the address
// of an old one.
struct Spread {
    MPI_Datatype type = MPI_LONG;
    int stride = 1;
    explicit Spread(int longs) : stride(longs) {
        if (stride == 1) return;
        MPI_Type_create_resized(MPI_LONG, 0, stride * static_cast<MPI_Aint>(sizeof(long)), &type);
        MPI_Type_commit(&type);
    }
    ~Spread() {
        if (stride > 1) MPI_Type_free(&type);
    }
};

struct Variant {
    int kind, root, count, stride, operation;
    bool in_place, nonblocking;
};

// A call under way, with what is needed to check its result.
struct Call {
    Variant v;
    int number;
    Spread spread;
    std::vector<long> send, receive;
    std::vector<int> counts, places;
    MPI_Request request = MPI_REQUEST_NULL;

    Call(const Variant &variant, int call) : v(variant), number(call), spread(variant.stride) {
        if (reduces()) v.stride = 1;
    }

    static constexpr int kinds = 12;
    long value(int from, int to, int i) const { return number * 1000000L + from * 1000 + to * 10 + i; }
    size_t at(int block, int i) const { return static_cast<size_t>((block * v.count + i) * v.stride); }
    MPI_Op op() const { return v.operation == 0 ? MPI_SUM : MPI_MAX; }
    // The expected reduction of the values of the ranks below `end`.
    long combined(int end, int to, int i) const {
        long sum = 0;
        for (int from = 0; from < end; ++from) sum += value(from, to, i);
        return v.operation == 0 ? sum : value(end - 1, to, i);
    }
    // In collectives whose counts may differ (the v forms), share() is the number of elements that a rank
    // sends or receives. block_of() is the index of its block: the blocks lie in the order of the ranks or in
    // the reverse order.
    int share(int of) const { return v.operation == 1 && of % 2 == 1 ? 0 : v.count; }
    int block_of(int of) const { return v.in_place ? size - 1 - of : of; }
    void divide() {
        for (int of = 0; of < size; ++of) {
            counts.push_back(share(of));
            places.push_back(block_of(of) * v.count);
        }
    }

    void start(MPI_Comm comm) {
        auto n = static_cast<size_t>(size * v.count * v.stride);
        send.assign(n, -1);
        receive.assign(n, -1);
        for (int to = 0; to < size; ++to)
            for (int i = 0; i < v.count; ++i) send[at(to, i)] = value(rank, to, i);
        const void *from = send.data();
        bool at_root = rank == v.root;
        MPI_Request *r = &request;
        int c = v.count;
        bool later = v.nonblocking;
        switch (v.kind) {
            case 0:
                if (at_root) receive = send;
                if (later) MPI_Ibcast(receive.data(), c, spread.type, v.root, comm, r);
                else MPI_Bcast(receive.data(), c, spread.type, v.root, comm);
                break;
            case 3:
                if (later) MPI_Igather(from, c, spread.type, receive.data(), c, spread.type, v.root, comm, r);
                else MPI_Gather(from, c, spread.type, receive.data(), c, spread.type, v.root, comm);
                break;
            case 4:
                if (later)
                    MPI_Iscatter(from, c, spread.type, receive.data(), c, spread.type, v.root, comm, r);
                else MPI_Scatter(from, c, spread.type, receive.data(), c, spread.type, v.root, comm);
                break;
            case 5:
                if (v.in_place) {
                    receive = send;
                    from = MPI_IN_PLACE;
                }
                if (later) MPI_Ialltoall(from, c, spread.type, receive.data(), c, spread.type, comm, r);
                else MPI_Alltoall(from, c, spread.type, receive.data(), c, spread.type, comm);
                break;
            case 6: {  // the block from rank r lies at index r, or in reverse order
                for (int to = 0; to < size; ++to) {
                    counts.push_back(c);
                    places.push_back(block_of(to) * c);
                }
                const int *n_each = counts.data(), *where = places.data();
                if (later) MPI_Iallgatherv(from, c, spread.type, receive.data(), n_each, where, spread.type,
                                           comm, r);
                else MPI_Allgatherv(from, c, spread.type, receive.data(), n_each, where, spread.type, comm);
                break;
            }
            case 8: {
                divide();
                const int *n_each = counts.data(), *where = places.data();
                if (later)
                    MPI_Igatherv(from, share(rank), spread.type, receive.data(), n_each, where, spread.type,
                                 v.root, comm, r);
                else
                    MPI_Gatherv(from, share(rank), spread.type, receive.data(), n_each, where, spread.type,
                                v.root, comm);
                break;
            }
            case 9: {
                divide();
                const int *n_each = counts.data(), *where = places.data();
                if (later)
                    MPI_Iscatterv(from, n_each, where, spread.type, receive.data(), share(rank), spread.type,
                                  v.root, comm, r);
                else
                    MPI_Scatterv(from, n_each, where, spread.type, receive.data(), share(rank), spread.type,
                                 v.root, comm);
                break;
            }
            default: start_reduction(from, comm);
        }
    }
    bool reduces() const { return v.kind == 1 || v.kind == 2 || v.kind == 7 || v.kind >= 10; }
    // Reductions use MPI_LONG only, because they are not defined on the resized datatypes.
    void start_reduction(const void *from, MPI_Comm comm) {
        if (v.in_place && v.kind != 7 && (v.kind != 1 || rank == v.root)) {
            receive = send;
            from = MPI_IN_PLACE;
        }
        long *to = receive.data();
        int c = v.count;
        MPI_Request *r = v.nonblocking ? &request : nullptr;
        switch (v.kind) {
            case 1:
                r ? MPI_Ireduce(from, to, c, MPI_LONG, op(), v.root, comm, r)
                  : MPI_Reduce(from, to, c, MPI_LONG, op(), v.root, comm);
                break;
            case 2:
                r ? MPI_Iallreduce(from, to, c, MPI_LONG, op(), comm, r)
                  : MPI_Allreduce(from, to, c, MPI_LONG, op(), comm);
                break;
            case 7:
                r ? MPI_Ireduce_scatter_block(from, to, c, MPI_LONG, op(), comm, r)
                  : MPI_Reduce_scatter_block(from, to, c, MPI_LONG, op(), comm);
                break;
            case 10:
                r ? MPI_Iscan(from, to, c, MPI_LONG, op(), comm, r)
                  : MPI_Scan(from, to, c, MPI_LONG, op(), comm);
                break;
            case 11:
                r ? MPI_Iexscan(from, to, c, MPI_LONG, op(), comm, r)
                  : MPI_Exscan(from, to, c, MPI_LONG, op(), comm);
                break;
        }
    }

    // Compares the first `elements` elements of the received `block` with those that rank `from` sent in its
    // block `sent`.
    void expect(int block, int from, int sent, int elements) {
        for (int i = 0; i < elements; ++i)
            if (receive[at(block, i)] != value(from, sent, i)) return wrong();
    }
    void expect(int block, int from, int sent) { expect(block, from, sent, v.count); }
    void expect_combined(int end, int block) {
        for (int i = 0; i < v.count; ++i)
            if (receive[at(0, i)] != combined(end, block, i)) return wrong();
    }
    void wrong() {
        std::string text = "kind " + std::to_string(v.kind) + ", call " + std::to_string(number) + ", root " +
                           std::to_string(v.root) + ", count " + std::to_string(v.count) + ", stride " +
                           std::to_string(v.stride) + (v.in_place ? ", in place" : "") +
                           (v.nonblocking ? ", nonblocking" : "");
        fail(text);
    }
    void finish() {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        bool at_root = rank == v.root;
        if (v.kind == 0) expect(0, v.root, 0);
        if (v.kind == 2 || (v.kind == 1 && at_root)) expect_combined(size, 0);
        if (v.kind == 4) expect(0, v.root, rank);
        if (v.kind == 7) expect_combined(size, rank);
        if (v.kind == 9) expect(0, v.root, block_of(rank), share(rank));
        if (v.kind == 10) expect_combined(rank + 1, 0);
        if (v.kind == 11 && rank > 0) expect_combined(rank, 0);
        for (int from = 0; from < size; ++from) {
            if (v.kind == 3 && at_root) expect(from, from, 0);
            if (v.kind == 5) expect(from, from, rank);
            if (v.kind == 6) expect(block_of(from), from, 0);
            if (v.kind == 8 && at_root) expect(block_of(from), from, 0, share(from));
        }
    }
};

void check_sequence(MPI_Comm comm, unsigned seed, int calls) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Variant v{0, 0, 1, 1, 0, false, false};
    std::vector<std::unique_ptr<Call>> under_way;
    for (int number = 0; number < calls; ++number) {
        if (below(3) == 0) v.kind = below(Call::kinds);
        switch (below(8)) {
            case 0: v.root = below(size); break;
            case 1: v.count = 1 + below(4); break;
            case 2: v.stride = 1 + below(3); break;
            case 3: v.operation ^= 1; break;
            case 4: v.in_place = !v.in_place; break;
            case 5: v.nonblocking = !v.nonblocking; break;
        }
        under_way.push_back(std::make_unique<Call>(v, number));
        under_way.back()->start(comm);
        if (below(3) > 0) continue;
        for (auto &call : under_way) call->finish();
        under_way.clear();
    }
    for (auto &call : under_way) call->finish();
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_sequence(MPI_COMM_WORLD, static_cast<unsigned>(size), 3000);
    // The library may allocate successive communicators at the same address.
    for (int i = 0; i < 10; ++i) {
        MPI_Comm some;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? 0 : rank % 2, i % 3 ? rank : -rank, &some);
        int world_rank = rank, world_size = size;
        MPI_Comm_rank(some, &rank);
        MPI_Comm_size(some, &size);
        check_sequence(some, static_cast<unsigned>(100 + i), 100);
        rank = world_rank;
        size = world_size;
        MPI_Comm_free(&some);
    }
    return report();
}
