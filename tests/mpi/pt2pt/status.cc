// Tests statuses: MPI_Request_get_status and its forms for all, any and some, which leave the requests
// unchanged; MPI_ERROR in the statuses that each call returns; the functions that read and set a status; and
// counts of whole and partial elements.
#include <climits>

#include "area.h"

namespace {

void one() {
    int in = 0, out = 8, flag = 1;
    MPI_Request request;
    MPI_Status status;
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
    check(flag, "MPI_Request_get_status of MPI_REQUEST_NULL is true");
    check_empty(status);
    MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Request_get_status(request, &flag, &status);
    check(!flag, "MPI_Request_get_status of an open receive is false");
    MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    do MPI_Request_get_status(request, &flag, &status);
    while (!flag);
    check_status(status, 0, 3, 4);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    check(flag && request != MPI_REQUEST_NULL && in == 8, "the request is still there");
    MPI_Wait(&request, &status);
    check_status(status, 0, 3, 4);
    MPI_Send_init(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Request_get_status(request, &flag, &status);
    check(flag, "MPI_Request_get_status of an inactive request is true");
    check_empty(status);
    MPI_Request_free(&request);
}

void several() {
    constexpr int count = 4;
    int in[count] = {}, out[count] = {5, 6, 7, 8}, flag = 1, index = 0, outcount = 9, indices[count];
    MPI_Request requests[count] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[count], status;
    MPI_Request_get_status_any(count, requests, &index, &flag, &status);
    check(flag && index == MPI_UNDEFINED, "none of no requests is found");
    check_empty(status);
    MPI_Request_get_status_some(count, requests, &outcount, indices, statuses);
    check_equal(outcount, MPI_UNDEFINED);
    MPI_Request_get_status_all(count, requests, &flag, statuses);
    check(flag, "all of no requests are complete");
    check_empty(statuses[3]);
    for (int i : {1, 2, 3}) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    MPI_Request_get_status_any(count, requests, &index, &flag, &status);
    check(!flag, "no receive is complete");
    MPI_Request_get_status_some(count, requests, &outcount, indices, statuses);
    check_equal(outcount, 0);
    MPI_Send(&out[2], 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    do MPI_Request_get_status_any(count, requests, &index, &flag, &status);
    while (!flag);
    check_equal(index, 2);
    check_status(status, 0, 2, 4);
    MPI_Request_get_status_some(count, requests, &outcount, indices, statuses);
    check(outcount == 1 && indices[0] == 2, "some: the same one, since it was not taken");
    check_status(statuses[0], 0, 2, 4);
    MPI_Request_get_status_all(count, requests, &flag, statuses);
    check(!flag, "not all receives are complete");
    for (int i : {1, 3}) MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
    do MPI_Request_get_status_all(count, requests, &flag, statuses);
    while (!flag);
    check_empty(statuses[0]);
    for (int i : {1, 2, 3}) check_status(statuses[i], 0, i, 4);
    MPI_Waitall(count, requests, statuses);
    for (int i : {1, 2, 3}) check_status(statuses[i], 0, i, 4);
    for (int i : {1, 2, 3}) check_equal(in[i], out[i]);
}

// The receive fails. Until a wait reports the failure, MPI_Request_get_status and its forms return its error
// class in the statuses.
void of_a_failure() {
    int in = 0, flag = 0, outcount = 0, indices[2];
    const int out[2] = {1, 2};
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[1]);
    MPI_Send(out, 2, MPI_INT, 0, 3, MPI_COMM_SELF);
    do check_equal(MPI_Request_get_status_all(2, requests, &flag, statuses), MPI_SUCCESS);
    while (!flag);
    check_class(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    check_equal(statuses[0].MPI_ERROR, MPI_SUCCESS);
    check_equal(MPI_Request_get_status_some(2, requests, &outcount, indices, statuses), MPI_SUCCESS);
    check_equal(outcount, 1);
    check_class(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    check_class(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

constexpr int no_code = 123456;  // the value of MPI_ERROR before a call

// Statuses to pass to a call, filled with recognisable values.
struct Given {
    MPI_Status all[2];

    Given() {
        std::memset(all, 0x5a, sizeof all);
        for (MPI_Status &status : all) status.MPI_ERROR = no_code;
    }
    void expect_empty(int count, const std::source_location &where = std::source_location::current()) const {
        for (int i = 0; i < count; ++i) {
            check_empty(all[i], where);
            check_equal(all[i].MPI_ERROR, MPI_SUCCESS, where);
        }
    }
    // Checks a status after a call on one request or on none. Such a call leaves MPI_ERROR unchanged unless
    // it returns an empty status.
    void expect_unsaid(const std::source_location &where = std::source_location::current()) const {
        check_equal(all[0].MPI_ERROR, no_code, where);
    }
};

// Passes `two`, two null or inactive requests, to every call that returns a status.
void empty_ones(const MPI_Request *two) {
    int flag = 0, index = 0;
    MPI_Request requests[] = {two[0], two[1]};
    auto given = [&](int count, auto call,
                     const std::source_location &where = std::source_location::current()) {
        Given statuses;
        check_equal(call(statuses.all), MPI_SUCCESS, where);
        statuses.expect_empty(count, where);
    };
    given(1, [&](MPI_Status *s) { return MPI_Wait(requests, s); });
    given(1, [&](MPI_Status *s) { return MPI_Test(requests, &flag, s); });
    given(1, [&](MPI_Status *s) { return MPI_Waitany(2, requests, &index, s); });
    given(1, [&](MPI_Status *s) { return MPI_Waitany(0, nullptr, &index, s); });
    given(1, [&](MPI_Status *s) { return MPI_Testany(2, requests, &index, &flag, s); });
    given(2, [&](MPI_Status *s) { return MPI_Waitall(2, requests, s); });
    given(2, [&](MPI_Status *s) { return MPI_Testall(2, requests, &flag, s); });
    given(1, [&](MPI_Status *s) { return MPI_Request_get_status(requests[0], &flag, s); });
    given(1, [&](MPI_Status *s) { return MPI_Request_get_status_any(2, requests, &index, &flag, s); });
    given(2, [&](MPI_Status *s) { return MPI_Request_get_status_all(2, requests, &flag, s); });
    for (int i : {0, 1}) check(requests[i] == two[i], "the requests are as they were");
}

void empty() {
    int numbers[2] = {};
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    empty_ones(requests);
    MPI_Recv_init(&numbers[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Send_init(&numbers[1], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
    empty_ones(requests);
    MPI_Startall(2, requests);  // the same after the requests have become inactive again
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    empty_ones(requests);
    for (MPI_Request &request : requests) MPI_Request_free(&request);
    MPI_Allreduce_init(&numbers[0], &numbers[1], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL,
                       &requests[0]);
    MPI_Psend_init(numbers, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    empty_ones(requests);
    for (MPI_Request &request : requests) MPI_Request_free(&request);
}

// Calls leave MPI_ERROR unchanged if their status is not empty or if they have no request.
void unsaid() {
    int in = 0, flag = 0, index = 0;
    const int out = 3;
    auto given = [&](auto call, const std::source_location &where = std::source_location::current()) {
        Given statuses;
        check_equal(call(statuses.all), MPI_SUCCESS, where);
        statuses.expect_unsaid(where);
    };
    MPI_Request request;
    MPI_Message message;
    given([&](MPI_Status *s) { return MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, s); });
    given([&](MPI_Status *s) { return MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_SELF, s); });
    given([&](MPI_Status *s) { return MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, s); });
    given([&](MPI_Status *s) { return MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &message, s); });
    given([&](MPI_Status *s) { return MPI_Mrecv(&in, 1, MPI_INT, &message, s); });
    given([&](MPI_Status *s) {
        return MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, s);
    });
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    given([&](MPI_Status *s) { return MPI_Request_get_status_any(1, &request, &index, &flag, s); });
    given([&](MPI_Status *s) { return MPI_Waitany(1, &request, &index, s); });
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Cancel(&request);
    given([&](MPI_Status *s) { return MPI_Wait(&request, s); });
    MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    given([&](MPI_Status *s) { return MPI_Wait(&request, s); });
    MPI_Ibarrier(MPI_COMM_SELF, &request);
    given([&](MPI_Status *s) { return MPI_Wait(&request, s); });
}

void fields() {
    MPI_Status status;
    std::memset(&status, 0, sizeof status);
    int value = -1;
    MPI_Status_set_source(&status, 12);
    MPI_Status_set_tag(&status, 34);
    MPI_Status_set_error(&status, MPI_ERR_OTHER);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Status_get_source(&status, &value);
    check(value == 12 && status.MPI_SOURCE == 12, "the source was set");
    MPI_Status_get_tag(&status, &value);
    check(value == 34 && status.MPI_TAG == 34, "the tag was set");
    MPI_Status_get_error(&status, &value);
    check(value == MPI_ERR_OTHER && status.MPI_ERROR == MPI_ERR_OTHER, "the error was set");
    MPI_Test_cancelled(&status, &value);
    check_equal(value, 1);
    status.MPI_ERROR = no_code;
    MPI_Status_set_cancelled(&status, 0);
    check_equal(status.MPI_ERROR, no_code);
    MPI_Test_cancelled(&status, &value);
    check_equal(value, 0);
}

void set_counts() {
    MPI_Status status;
    std::memset(&status, 0, sizeof status);
    int value = -1;
    MPI_Count large = -1;
    MPI_Status_set_elements(&status, MPI_DOUBLE, 3);
    MPI_Get_count(&status, MPI_DOUBLE, &value);
    check_equal(value, 3);
    MPI_Get_count(&status, MPI_BYTE, &value);
    check_equal(value, 24);
    MPI_Get_count(&status, MPI_LONG_DOUBLE, &value);
    check_equal(value, MPI_UNDEFINED);
    MPI_Count many = (MPI_Count{1} << 33) + 5;
    MPI_Status_set_elements_c(&status, MPI_INT, many);
    MPI_Get_elements_c(&status, MPI_INT, &large);
    check_equal(large, many);
    MPI_Get_count_c(&status, MPI_INT, &large);
    check_equal(large, many);
    MPI_Get_count(&status, MPI_INT, &value);
    check_equal(value, MPI_UNDEFINED);
    MPI_Status_set_elements_x(&status, MPI_CHAR, many);
    MPI_Get_elements_x(&status, MPI_CHAR, &large);
    check_equal(large, many);
}

// A receive gets a part of an element. Then the count is undefined, but the number of basic elements is
// correct.
void partial() {
    MPI_Datatype pair, types[] = {MPI_INT, MPI_DOUBLE};
    int lengths[] = {1, 1}, out = 1, value = -1;
    MPI_Aint places[] = {0, 8};
    struct {
        int number;
        double real;
    } in[2];
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, in, 2, pair, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, pair, &value);
    check_equal(value, MPI_UNDEFINED);
    MPI_Get_elements(&status, pair, &value);
    check_equal(value, 1);
    in[0] = {4, 2.5};
    MPI_Sendrecv_replace(in, 1, pair, 0, 2, 0, 2, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, pair, &value);
    check_equal(value, 1);
    MPI_Get_elements(&status, pair, &value);
    check_equal(value, 2);
    MPI_Type_free(&pair);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    one();
    several();
    of_a_failure();
    empty();
    unsaid();
    fields();
    set_counts();
    partial();
    MPI_Finalize();
}
