// Tests generalised requests: which functions of the program are called, by which MPI call, and what happens
// to their return codes. Requests are completed by one thread while another waits for them, freed before they
// complete, and mixed with messages.
#include <chrono>

#include "threads/crew.h"

namespace {

struct Counts {
    int queried = 0, freed = 0, cancelled = 0, cancelled_complete = -1;
    int query_code = MPI_SUCCESS, free_code = MPI_SUCCESS, cancel_code = MPI_SUCCESS;
};

// The program's functions call MPI. This must be possible while the library calls these functions.
int query(void *extra, MPI_Status *status) {
    auto &counts = *static_cast<Counts *>(extra);
    ++counts.queried;
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, counts.cancelled > 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return counts.query_code;
}
int free_it(void *extra) {
    auto &counts = *static_cast<Counts *>(extra);
    ++counts.freed;
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return counts.free_code;
}
int cancel(void *extra, int complete) {
    auto &counts = *static_cast<Counts *>(extra);
    ++counts.cancelled;
    counts.cancelled_complete = complete;
    return counts.cancel_code;
}

MPI_Request start(Counts &counts) {
    MPI_Request request;
    check_equal(MPI_Grequest_start(query, free_it, cancel, &counts, &request), MPI_SUCCESS);
    return request;
}

void verify(const MPI_Status &status, bool cancelled = false) {
    int count, flag;
    MPI_Get_count(&status, MPI_INT, &count);
    check_equal(count, 7);
    check_equal(status.MPI_SOURCE, 3);
    check_equal(status.MPI_TAG, 4);
    MPI_Test_cancelled(&status, &flag);
    check_equal(flag != 0, cancelled);
}

void every_form() {
    int flag, index, outcount, indices[2];
    MPI_Status status, statuses[2];
    Counts counts;
    MPI_Request request = start(counts);
    MPI_Test(&request, &flag, &status);
    check(!flag);
    MPI_Request_get_status(request, &flag, &status);
    check(!flag && counts.queried == 0);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    check(flag && counts.queried == 1 && counts.freed == 0);
    verify(status);
    MPI_Wait(&request, &status);
    check(request == MPI_REQUEST_NULL && counts.queried == 2 && counts.freed == 1);
    verify(status);

    Counts a, b;
    auto both = [&](MPI_Request(&requests)[2]) {
        a = b = Counts();
        requests[0] = start(a);
        requests[1] = start(b);
        MPI_Grequest_complete(requests[1]);
    };
    MPI_Request two[2];
    both(two);
    MPI_Request_get_status_any(2, two, &index, &flag, &status);
    check(flag && index == 1 && b.queried == 1);
    verify(status);
    MPI_Request_get_status_some(2, two, &outcount, indices, statuses);
    check(outcount == 1 && indices[0] == 1 && b.queried == 2 && statuses[0].MPI_ERROR == MPI_SUCCESS);
    verify(statuses[0]);
    MPI_Request_get_status_all(2, two, &flag, statuses);
    check(!flag && b.queried == 2);
    MPI_Testall(2, two, &flag, statuses);
    check(!flag && b.freed == 0);
    MPI_Waitany(2, two, &index, &status);
    check(index == 1 && two[1] == MPI_REQUEST_NULL && b.freed == 1 && a.freed == 0);
    verify(status);
    MPI_Testany(2, two, &index, &flag, &status);
    check(!flag);
    MPI_Grequest_complete(two[0]);
    MPI_Request_get_status_all(2, two, &flag, statuses);
    check(flag && a.queried == 1);
    verify(statuses[0]);
    MPI_Testsome(2, two, &outcount, indices, MPI_STATUSES_IGNORE);
    check(outcount == 1 && indices[0] == 0 && a.queried == 2 && a.freed == 1);
    both(two);
    MPI_Grequest_complete(two[0]);
    MPI_Waitall(2, two, statuses);
    check(a.queried == 1 && b.queried == 1 && a.freed == 1 && b.freed == 1);
    verify(statuses[0]);
    verify(statuses[1]);
}

void cancelled_and_freed() {
    MPI_Status status;
    Counts counts;
    MPI_Request request = start(counts), copy;
    MPI_Cancel(&request);
    check(counts.cancelled == 1 && counts.cancelled_complete == 0);
    MPI_Grequest_complete(request);
    MPI_Cancel(&request);
    check(counts.cancelled == 2 && counts.cancelled_complete == 1);
    MPI_Wait(&request, &status);
    verify(status, true);

    counts = Counts();
    request = copy = start(counts);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL && counts.freed == 0);
    MPI_Grequest_complete(copy);
    check(counts.freed == 1 && counts.queried == 0);

    counts = Counts();
    request = start(counts);
    MPI_Grequest_complete(request);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL && counts.freed == 1 && counts.queried == 0);
}

void errors() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int own, other;
    MPI_Add_error_class(&own);
    MPI_Add_error_code(own, &other);
    MPI_Request request = MPI_REQUEST_NULL, two[2];
    MPI_Status statuses[2];
    Counts a, b;
    check_class(MPI_Grequest_start(nullptr, free_it, cancel, &a, &request), MPI_ERR_ARG);
    int flag, index;

    a.query_code = other;  // free_fn is called nevertheless
    request = start(a);
    MPI_Grequest_complete(request);
    check_equal(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), other);
    check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), other);
    check(request == MPI_REQUEST_NULL && a.freed == 1);

    // Any code that the program's function returns is passed on unchanged.
    for (int meaningless : {100'000, 900, -1000}) {
        a = Counts();
        a.query_code = meaningless;
        request = start(a);
        MPI_Grequest_complete(request);
        check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), meaningless);
        two[0] = start(a);
        two[1] = start(b);
        MPI_Grequest_complete(two[0]);
        MPI_Grequest_complete(two[1]);
        check_class(MPI_Waitall(2, two, statuses), MPI_ERR_IN_STATUS);
        check_equal(statuses[0].MPI_ERROR, meaningless);
    }
    b = Counts();

    a = Counts();
    a.free_code = MPI_ERR_OTHER;
    two[0] = start(a);
    two[1] = start(b);
    MPI_Grequest_complete(two[0]);
    MPI_Grequest_complete(two[1]);
    check_class(MPI_Waitall(2, two, statuses), MPI_ERR_IN_STATUS);
    check_class(statuses[0].MPI_ERROR, MPI_ERR_OTHER);
    check_equal(statuses[1].MPI_ERROR, MPI_SUCCESS);
    check(a.freed == 1 && b.freed == 1);

    a = Counts();
    a.free_code = own;
    a.cancel_code = other;
    request = start(a);
    check_equal(MPI_Cancel(&request), other);
    MPI_Grequest_complete(request);
    check_class(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    check_equal(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE), own);
    check(flag && index == 0 && request == MPI_REQUEST_NULL);

    request = start(a);
    check_class(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Grequest_complete(request);
    check_equal(MPI_Request_free(&request), own);
    int value;
    MPI_Irecv(&value, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request);
    check_class(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// The waiting thread sleeps meanwhile and must be woken.
void completed_by_another_thread(const Ranks &ranks) {
    for (int i = 0; i < 30; ++i) {
        Counts counts;
        MPI_Request requests[3] = {start(counts)};
        int heard = -1, told = ranks.rank * 100 + i;
        MPI_Irecv(&heard, 1, MPI_INT, ranks.from, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&told, 1, MPI_INT, ranks.to, 5, MPI_COMM_WORLD, &requests[2]);
        MPI_Request completed = requests[0];
        std::thread other([&] {
            if (i % 3) std::this_thread::sleep_for(std::chrono::milliseconds(i % 5));
            MPI_Grequest_complete(completed);
        });
        MPI_Status statuses[3];
        if (i % 2) MPI_Waitall(3, requests, statuses);
        else MPI_Wait(&requests[0], &statuses[0]);
        verify(statuses[0]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        other.join();
        check_equal(heard, ranks.from * 100 + i);
        check(counts.queried == 1 && counts.freed == 1);
    }
}

}  // namespace

int main(int argc, char **argv) {
    begin(argc, argv);
    every_form();
    cancelled_and_freed();
    completed_by_another_thread(Ranks());
    errors();
    MPI_Finalize();
}
