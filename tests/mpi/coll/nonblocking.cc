// Tests nonblocking and persistent collectives. Many are under way at once on two communicators, complete in
// a different order than they started, and are mixed with blocking collectives. Persistent collectives are
// started repeatedly, and handles are freed meanwhile.
#include "elements.h"

namespace {

int rank, size;

void check_many(MPI_Comm first, MPI_Comm second) {
    constexpr int many = 150;
    std::vector<MPI_Request> requests;
    std::vector<long> sums(many, -1), values(many), roots(many, -1);
    MPI_Comm comms[2] = {first, second};
    for (int i = 0; i < many; ++i) {
        auto at = static_cast<size_t>(i);
        MPI_Comm comm = comms[i % 2];
        values[at] = rank * 1000 + i;
        if (rank == i % size) roots[at] = i;
        MPI_Request made[3];
        MPI_Iallreduce(&values[at], &sums[at], 1, MPI_LONG, MPI_SUM, comm, &made[0]);
        MPI_Ibcast(&roots[at], 1, MPI_LONG, i % size, comm, &made[1]);
        MPI_Ibarrier(comm, &made[2]);
        requests.insert(requests.end(), made, made + 3);
        if (i % 50 == 49) MPI_Barrier(comm);
    }
    // Completes the requests from the last to the first, alternately with MPI_Wait and MPI_Test.
    for (size_t i = requests.size(); i-- > many;) {
        int flag = 0;
        if (i % 2) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        while (i % 2 == 0 && !flag) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        if (requests[i] != MPI_REQUEST_NULL) fail("a request that was waited for is not MPI_REQUEST_NULL");
    }
    MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) {
        auto at = static_cast<size_t>(i);
        if (sums[at] != 1000L * size * (size - 1) / 2 + long{i} * size)
            fail("MPI_Iallreduce gives a wrong sum");
        if (roots[at] != i) fail("MPI_Ibcast gives a wrong value");
    }
}

void check_each(MPI_Comm comm) {
    auto n = static_cast<size_t>(size);
    std::vector<int> own(n), all(n, -1), ones(n, 1), places(n), in(n, -1);
    for (int i = 0; i < size; ++i) places[static_cast<size_t>(i)] = i;
    for (int i = 0; i < size; ++i) own[static_cast<size_t>(i)] = rank * 100 + i;
    int one = rank + 1, scanned = -1, before = -1, part = -1, mine = -1;
    std::vector<MPI_Datatype> types(n, MPI_INT);
    std::vector<int> bytes(n);
    for (int i = 0; i < size; ++i) bytes[static_cast<size_t>(i)] = i * 4;
    std::vector<int> in_v(n), in_w(n), all_v(n), root_all(n), root_all_v(n);
    int reduced = -1, part_v = -1, mine_v = -1;
    MPI_Request r[15];
    MPI_Iallgather(&one, 1, MPI_INT, all.data(), 1, MPI_INT, comm, &r[0]);
    MPI_Iallgatherv(&one, 1, MPI_INT, all_v.data(), ones.data(), places.data(), MPI_INT, comm, &r[1]);
    MPI_Ialltoall(own.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &r[2]);
    MPI_Ialltoallv(own.data(), ones.data(), places.data(), MPI_INT, in_v.data(), ones.data(), places.data(),
                   MPI_INT, comm, &r[3]);
    MPI_Ialltoallw(own.data(), ones.data(), bytes.data(), types.data(), in_w.data(), ones.data(),
                   bytes.data(), types.data(), comm, &r[4]);
    MPI_Iscan(&one, &scanned, 1, MPI_INT, MPI_SUM, comm, &r[5]);
    MPI_Iexscan(&one, &before, 1, MPI_INT, MPI_SUM, comm, &r[6]);
    MPI_Ireduce(&one, &reduced, 1, MPI_INT, MPI_SUM, 0, comm, &r[7]);
    MPI_Ireduce_scatter_block(own.data(), &part, 1, MPI_INT, MPI_SUM, comm, &r[8]);
    MPI_Ireduce_scatter(own.data(), &part_v, ones.data(), MPI_INT, MPI_SUM, comm, &r[9]);
    MPI_Igather(&one, 1, MPI_INT, root_all.data(), 1, MPI_INT, 0, comm, &r[10]);
    MPI_Igatherv(&one, 1, MPI_INT, root_all_v.data(), ones.data(), places.data(), MPI_INT, 0, comm, &r[11]);
    MPI_Iscatter(own.data(), 1, MPI_INT, &mine, 1, MPI_INT, 0, comm, &r[12]);
    MPI_Iscatterv(own.data(), ones.data(), places.data(), MPI_INT, &mine_v, 1, MPI_INT, 0, comm, &r[13]);
    MPI_Ibarrier(comm, &r[14]);
    MPI_Waitall(15, r, MPI_STATUSES_IGNORE);
    int total = size * (size + 1) / 2, column = 100 * size * (size - 1) / 2 + rank * size;
    if (scanned != (rank + 1) * (rank + 2) / 2 || (rank > 0 && before != rank * (rank + 1) / 2))
        fail("a nonblocking scan is wrong");
    if (part != column || part_v != column || (rank == 0 && reduced != total))
        fail("a nonblocking reduction is wrong");
    if (mine != rank || mine_v != rank) fail("a nonblocking scatter is wrong");
    for (int i = 0; i < size; ++i) {
        auto at = static_cast<size_t>(i);
        if (all[at] != i + 1 || all_v[at] != i + 1) fail("a nonblocking allgather is wrong");
        if (rank == 0 && (root_all[at] != i + 1 || root_all_v[at] != i + 1))
            fail("a nonblocking gather is wrong");
        if (in[at] != i * 100 + rank || in_v[at] != in[at] || in_w[at] != in[at])
            fail("a nonblocking alltoall is wrong");
    }
}

void check_persistent(MPI_Comm comm, int count) {
    auto n = static_cast<size_t>(count);
    std::vector<int> own(n), sum(n), data(n);
    MPI_Request requests[3];
    MPI_Allreduce_init(own.data(), sum.data(), count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(data.data(), count, MPI_INT, size - 1, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[2]);
    for (int turn = 0; turn < 20; ++turn) {
        for (int i = 0; i < count; ++i) own[static_cast<size_t>(i)] = turn + i + rank;
        for (int i = 0; i < count; ++i) data[static_cast<size_t>(i)] = rank == size - 1 ? turn * i : -1;
        // Each rank may start persistent operations in a different order. A blocking collective may be called
        // between the starts.
        int between = rank == 0 ? turn : -1;
        if (turn % 4 == 0) {
            MPI_Startall(3, requests);
        } else {
            MPI_Start(&requests[(rank + turn) % 3]);
            if (turn % 4 == 3 && rank % 2 == 0) MPI_Bcast(&between, 1, MPI_INT, 0, comm);
            MPI_Start(&requests[(rank + turn + 1) % 3]);
            if (turn % 4 == 3 && rank % 2 == 1) MPI_Bcast(&between, 1, MPI_INT, 0, comm);
            MPI_Start(&requests[(rank + turn + 2) % 3]);
        }
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        if (turn % 4 == 3 && between != turn) return fail("a bcast between starts is wrong");
        for (int i = 0; i < count; ++i) {
            if (sum[static_cast<size_t>(i)] != size * (turn + i) + size * (size - 1) / 2)
                return fail("a persistent allreduce is wrong");
            if (data[static_cast<size_t>(i)] != turn * i) return fail("a persistent bcast is wrong");
        }
    }
    for (MPI_Request &request : requests) MPI_Request_free(&request);
}

void add(void *in, void *inout, int *count, MPI_Datatype *) {
    for (int i = 0; i < *count; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

// The datatype, the operation and the communicator are freed while the collective still needs them.
void check_freed_handles() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Datatype pairs;
    MPI_Type_contiguous(1, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    std::vector<int> own(50000, rank), sum(50000);
    MPI_Request request;
    MPI_Iallreduce(own.data(), sum.data(), 50000, pairs, op, comm, &request);
    MPI_Type_free(&pairs);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum[0] != size * (size - 1) / 2 || sum[49999] != sum[0])
        fail("an operation whose handles were freed is wrong");
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm second;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    check_many(MPI_COMM_WORLD, second);
    for (int turn = 0; turn < 30; ++turn) check_each(turn % 2 ? second : MPI_COMM_WORLD);
    for (int count : {1, 100, 5000, 100000}) check_persistent(second, count);
    check_freed_handles();
    MPI_Comm_free(&second);
    return report();
}
