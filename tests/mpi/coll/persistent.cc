// Tests persistent collectives as requests. Many exist on one communicator. In each turn, the ranks start
// some of them, each rank in a different order and with nonblocking collectives in between. They are
// completed by every function that completes requests. Persistent collectives are also started together with
// persistent messages. They must keep a datatype and an operation alive that the program frees. Requests in
// the wrong state must cause errors.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "comm/check.h"

namespace {

constexpr int operations = 24;

unsigned seed() {
    const char *set = std::getenv("LANYARD_TEST_SEED");
    return set ? static_cast<unsigned>(std::atoi(set)) : 1;
}

// One persistent operation, of one of four kinds. The lengths go from zero to more than one frame can carry.
struct Operation {
    int kind = 0, length = 0, root = 0;
    std::vector<int> in, out;
    MPI_Request request = MPI_REQUEST_NULL;

    void init(int number, MPI_Comm comm) {
        int size = size_of(comm);
        kind = number % 4;
        length = number % 3 == 0 ? number : number % 3 == 1 ? number * 40 : number * 400;
        root = number % size;
        in.resize(static_cast<size_t>(length));
        out.resize(static_cast<size_t>(length * size));
        if (kind == 0)
            MPI_Allreduce_init(in.data(), out.data(), length, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                               &request);
        if (kind == 1)
            MPI_Allgather_init(in.data(), length, MPI_INT, out.data(), length, MPI_INT, comm, MPI_INFO_NULL,
                               &request);
        if (kind == 2)
            MPI_Gather_init(in.data(), length, MPI_INT, out.data(), length, MPI_INT, root, comm,
                            MPI_INFO_NULL, &request);
        if (kind == 3)
            MPI_Scan_init(in.data(), out.data(), length, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    }
    static int value(int turn, int number, int rank, int i) {
        return turn * 1000 + number * 31 + rank * 7 + i % 13;
    }
    void fill(int turn, int number, int rank) {
        for (int i = 0; i < length; ++i) in[static_cast<size_t>(i)] = value(turn, number, rank, i);
        std::fill(out.begin(), out.end(), -1);
    }
    void verify(int turn, int number, int rank, int size, const std::string &what) {
        for (int i = 0; i < length; ++i) {
            int sum = 0;
            for (int r = 0; r < (kind == 3 ? rank + 1 : size); ++r) {
                int one = value(turn, number, r, i);
                sum += one;
                bool gathered = kind == 1 || (kind == 2 && rank == root);
                if (gathered) check(out[static_cast<size_t>(r * length + i)] == one, what);
            }
            if (kind == 0 || kind == 3) check(out[static_cast<size_t>(i)] == sum, what);
        }
    }
};

// Waits for the requests of `started`, with a different call in each turn.
void complete(std::vector<MPI_Request> &started, int turn) {
    int left = static_cast<int>(started.size()), count = left, index, flag = 0;
    std::vector<int> indices(started.size());
    std::vector<MPI_Status> statuses(started.size());
    for (int i = 0; turn % 6 == 0 && i < left; ++i)
        MPI_Wait(&started[static_cast<size_t>(left - 1 - i)], MPI_STATUS_IGNORE);
    for (int done = 0; turn % 6 == 1 && done < left; ++done) {
        MPI_Waitany(left, started.data(), &index, MPI_STATUS_IGNORE);
        check(index >= 0 && index < left, "MPI_Waitany finds no request though some are active");
    }
    for (int done = 0; turn % 6 == 2 && done < left; done += count)
        MPI_Waitsome(left, started.data(), &count, indices.data(), statuses.data());
    while (turn % 6 == 3 && !flag) MPI_Testall(left, started.data(), &flag, MPI_STATUSES_IGNORE);
    for (int done = 0; turn % 6 == 4 && done < left; done += flag)
        MPI_Testany(left, started.data(), &index, &flag, MPI_STATUS_IGNORE);
    if (turn % 6 == 5) {
        for (MPI_Request &request : started)
            for (flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        MPI_Waitall(left, started.data(), statuses.data());
    }
    MPI_Waitany(left, started.data(), &index, MPI_STATUS_IGNORE);
    check_equal(index, MPI_UNDEFINED);
    check(std::count(started.begin(), started.end(), MPI_REQUEST_NULL) == 0,
          "a persistent request that is done has no handle any more");
}

void some_in_any_order(MPI_Comm comm) {
    int rank = rank_in(comm), size = size_of(comm);
    std::vector<Operation> all(operations);
    for (int number = 0; number < operations; ++number) all[static_cast<size_t>(number)].init(number, comm);
    std::mt19937 common(seed()), own(seed() * 100 + static_cast<unsigned>(rank));
    for (int turn = 0; turn < 36; ++turn) {
        std::vector<int> chosen;
        for (int number = 0; number < operations; ++number)
            if (common() % 3 == 0 || number == turn % operations) chosen.push_back(number);
        for (int number : chosen) all[static_cast<size_t>(number)].fill(turn, number, rank);
        std::shuffle(chosen.begin(), chosen.end(), own);
        std::vector<MPI_Request> started;
        MPI_Request barrier;
        size_t before = own() % (chosen.size() + 1);  // this many start before the nonblocking collective
        for (size_t i = 0; i <= chosen.size(); ++i) {
            if (i == before) MPI_Ibarrier(comm, &barrier);
            if (i == chosen.size()) break;
            Operation &operation = all[static_cast<size_t>(chosen[i])];
            MPI_Start(&operation.request);
            started.push_back(operation.request);
        }
        complete(started, turn);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        std::string what =
            "with seed " + std::to_string(seed()) + " turn " + std::to_string(turn) + " gives a wrong result";
        for (int number : chosen)
            all[static_cast<size_t>(number)].verify(turn, number, rank, size,
                                                    what + " in operation " + std::to_string(number));
    }
    for (Operation &operation : all) MPI_Request_free(&operation.request);
}

void with_messages(MPI_Comm comm) {
    int rank = rank_in(comm), size = size_of(comm), sent = 0, heard = 0, sum = 0;
    MPI_Request requests[3];
    MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 3, comm, &requests[0]);
    MPI_Allreduce_init(&sent, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Recv_init(&heard, 1, MPI_INT, (rank + size - 1) % size, 3, comm, &requests[2]);
    for (int turn = 0; turn < 10; ++turn) {
        sent = turn * 10 + rank;
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        check_equal(heard, turn * 10 + (rank + size - 1) % size);
        check_equal(sum, turn * 10 * size + size * (size - 1) / 2);
    }
    for (MPI_Request &request : requests) MPI_Request_free(&request);
}

void add(void *in, void *inout, int *count, MPI_Datatype *) {
    for (int i = 0; i < *count; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

void with_freed_handles(MPI_Comm comm) {
    MPI_Op op;
    MPI_Datatype one;
    MPI_Info hints;
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_commit(&one);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "nobody_knows_this", "1");
    std::vector<int> own(3000), sum(3000);
    MPI_Request request;
    MPI_Allreduce_init(own.data(), sum.data(), 3000, one, op, comm, hints, &request);
    MPI_Info_free(&hints);
    MPI_Type_free(&one);
    MPI_Op_free(&op);
    for (int turn = 0; turn < 4; ++turn) {
        std::fill(own.begin(), own.end(), turn + rank_in(comm));
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int size = size_of(comm), wanted = turn * size + size * (size - 1) / 2;
        check(std::count(sum.begin(), sum.end(), wanted) == 3000,
              "an operation whose datatype was freed is wrong");
    }
    MPI_Request_free(&request);
}

void errors(MPI_Comm comm) {
    MPI_Request barrier, single = MPI_REQUEST_NULL;
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);  // it is inactive, so the wait returns at once
    check(barrier != MPI_REQUEST_NULL, "waiting for an inactive request frees it");
    MPI_Start(&barrier);
    check_class(MPI_Start(&barrier), MPI_ERR_REQUEST);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    check_class(MPI_Start(&single), MPI_ERR_REQUEST);
    MPI_Ibarrier(comm, &single);
    check_class(MPI_Start(&single), MPI_ERR_REQUEST);
    MPI_Wait(&single, MPI_STATUS_IGNORE);
    int data = 0;
    check_class(MPI_Bcast_init(&data, -1, MPI_INT, 0, comm, MPI_INFO_NULL, &single), MPI_ERR_COUNT);
    check_class(MPI_Bcast_init(&data, 1, MPI_INT, size_of(comm), comm, MPI_INFO_NULL, &single), MPI_ERR_ROOT);
    check_class(MPI_Bcast_init_c(&data, 1, MPI_DATATYPE_NULL, 0, comm, MPI_INFO_NULL, &single), MPI_ERR_TYPE);
    check_class(MPI_Scan_init(&data, &data, 1, MPI_INT, MPI_OP_NULL, comm, MPI_INFO_NULL, &single),
                MPI_ERR_OP);
    MPI_Request_free(&barrier);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (MPI_Comm one : {MPI_COMM_WORLD, MPI_COMM_SELF, comm})
        MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    some_in_any_order(comm);
    with_messages(comm);
    with_freed_handles(comm);
    errors(comm);
    use(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
