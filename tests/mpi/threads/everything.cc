// Four threads of every rank work at once, each with its own communicator. They duplicate and split
// communicators, call collectives, send and receive, and create datatypes, info objects, attributes and error
// messages. The threads share only the library.
#include "crew.h"

namespace {

void collectives(MPI_Comm comm, int thread, int round) {
    int rank = rank_in(comm), size = size_of(comm), mine = rank + thread + round, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    check_equal(sum, size * (size - 1) / 2 + size * (thread + round));
    for (size_t count : {size_t{1}, size_t{2000}, size_t{50000}}) {
        std::vector<int> data = numbers(count, thread);
        if (rank != round % size) data.assign(count, 0);
        MPI_Bcast(data.data(), count_of(data), MPI_INT, round % size, comm);
        check(data == numbers(count, thread), "MPI_Bcast of several threads mixed their data");
    }
    std::vector<int> out, in(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) out.push_back(rank * 100 + i + thread * 10000);
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) check_equal(in[static_cast<size_t>(i)], i * 100 + rank + thread * 10000);
    MPI_Barrier(comm);
}

void communicators(MPI_Comm comm, int thread, int round) {
    MPI_Comm copy, half, later;
    MPI_Request request;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_split(comm, rank_in(comm) % 2, -rank_in(comm), &half);
    MPI_Comm_idup(comm, &later, &request);
    collectives(copy, thread, round);
    use(half);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(later);
    for (MPI_Comm *made : {&copy, &half, &later}) MPI_Comm_free(made);
}

void messages(MPI_Comm comm, int thread, int round) {
    Ranks ranks;
    for (size_t count : {size_t{3}, size_t{3000}, size_t{30000}}) {
        std::vector<int> out = numbers(count, ranks.rank + round), in(count);
        MPI_Request request;
        MPI_Status status;
        MPI_Isend(out.data(), count_of(out), MPI_INT, ranks.to, 1, comm, &request);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        MPI_Recv(in.data(), count_of(in), MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm,
                 MPI_STATUS_IGNORE);
        check(in == numbers(count, ranks.from + round),
              "thread " + std::to_string(thread) + " received wrong data");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

void objects(MPI_Comm comm, int thread) {
    MPI_Datatype column;
    int values[12], column_out[4], length = 0, found = 0, *kept = nullptr, keyval;
    for (int i = 0; i < 12; ++i) values[i] = i + thread;
    MPI_Type_vector(4, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(values, 1, column, 0, thread + 30, column_out, 4, MPI_INT, 0, thread + 30, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) check_equal(column_out[i], 3 * i + thread);
    MPI_Type_free(&column);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
    MPI_Comm_set_attr(comm, keyval, &values[thread]);
    MPI_Comm_get_attr(comm, keyval, &kept, &found);
    check(found && *kept == 2 * thread, "an attribute is another thread's");
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free_keyval(&keyval);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread", std::to_string(thread).c_str());
    char value[16] = "";
    length = sizeof value;
    MPI_Info_get_string(info, "thread", &length, value, &found);
    check(found && std::to_string(thread) == value, "an info is another thread's");
    MPI_Info_free(&info);
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Send(values, -1 - thread, MPI_INT, 0, 0, comm);
    check_class(code, MPI_ERR_COUNT);
    MPI_Error_string(code, text, &length);
    check(std::strstr(text, ("count=" + std::to_string(-1 - thread)).c_str()) != nullptr,
          std::string("the error is another thread's: ") + text);
}

}  // namespace

int main(int argc, char **argv) {
    begin(argc, argv);
    MPI_Comm own[threads];
    for (MPI_Comm &comm : own) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_together([&](int thread) {
        for (int round = 0; round < 12; ++round) {
            collectives(own[thread], thread, round);
            communicators(own[thread], thread, round);
            messages(own[thread], thread, round);
            objects(own[thread], thread);
        }
    });
    for (MPI_Comm &comm : own) MPI_Comm_free(&comm);
    MPI_Finalize();
}
