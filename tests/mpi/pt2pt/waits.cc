// Tests every wait and test function: with no requests, with null and inactive requests, for some, any and
// all; the contents of the statuses; errors of several requests; and requests freed while they are active.
#include <array>

#include "area.h"

namespace {

constexpr int several = 7;
using Requests = std::array<MPI_Request, several>;
using Statuses = std::array<MPI_Status, several>;

Statuses spoiled() {
    Statuses statuses;
    std::memset(statuses.data(), 0x5a, sizeof statuses);
    return statuses;
}

// Checks the results of every function for `count` requests of which none is active.
void nothing_to_wait_for(int count, Requests &requests) {
    int index = 5, flag = 0, outcount = 5, indices[several];
    Statuses statuses = spoiled();
    if (count) {
        MPI_Wait(&requests[0], &statuses[0]);
        check_empty(statuses[0]);
        MPI_Test(&requests[0], &flag, &statuses[1]);
        check(flag, "MPI_Test of nothing is true");
        check_empty(statuses[1]);
    }
    statuses = spoiled();
    MPI_Waitall(count, requests.data(), statuses.data());
    for (int i = 0; i < count; ++i) check_empty(statuses[static_cast<size_t>(i)]);
    statuses = spoiled();
    MPI_Testall(count, requests.data(), &flag, statuses.data());
    check(flag, "MPI_Testall of nothing is true");
    for (int i = 0; i < count; ++i) check_empty(statuses[static_cast<size_t>(i)]);
    MPI_Waitany(count, requests.data(), &index, &statuses[0]);
    check_equal(index, MPI_UNDEFINED);
    check_empty(statuses[0]);
    index = flag = 0;
    MPI_Testany(count, requests.data(), &index, &flag, &statuses[1]);
    check(flag && index == MPI_UNDEFINED, "MPI_Testany of nothing is true and undefined");
    check_empty(statuses[1]);
    MPI_Waitsome(count, requests.data(), &outcount, indices, statuses.data());
    check_equal(outcount, MPI_UNDEFINED);
    outcount = 5;
    MPI_Testsome(count, requests.data(), &outcount, indices, statuses.data());
    check_equal(outcount, MPI_UNDEFINED);
}

void null_and_inactive() {
    int out = 1, in = 0;
    Requests requests;
    requests.fill(MPI_REQUEST_NULL);
    nothing_to_wait_for(0, requests);
    nothing_to_wait_for(several, requests);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[3]);
    nothing_to_wait_for(several, requests);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[3]);
    check(requests[0] == MPI_REQUEST_NULL, "a freed request is null");
}

// Requests for messages of this rank to itself: null, inactive, complete and incomplete requests together.
struct Mixture {
    Requests requests;
    int in[several] = {}, out[several] = {10, 11, 12, 13, 14, 15, 16};

    Mixture() {
        requests.fill(MPI_REQUEST_NULL);
        // This request stays inactive.
        MPI_Recv_init(&in[1], 1, MPI_INT, 0, 71, MPI_COMM_SELF, &requests[1]);
        for (size_t i : {2, 4, 6})
            MPI_Irecv(&in[i], 1, MPI_INT, 0, static_cast<int>(i), MPI_COMM_SELF, &requests[i]);
    }
    ~Mixture() { MPI_Request_free(&requests[1]); }
    void answer(int tag) { MPI_Send(&out[tag], 1, MPI_INT, 0, tag, MPI_COMM_SELF); }
    void expect(int tag) const { check_equal(in[tag], out[tag]); }
};

void wait_and_test_any() {
    Mixture mixture;
    MPI_Status status;
    int index = 9, flag = 1;
    MPI_Testany(several, mixture.requests.data(), &index, &flag, &status);
    check(!flag && index == MPI_UNDEFINED, "MPI_Testany of open requests is false and undefined");
    mixture.answer(4);
    MPI_Waitany(several, mixture.requests.data(), &index, &status);
    check_equal(index, 4);
    check_status(status, 0, 4, 4);
    check(mixture.requests[4] == MPI_REQUEST_NULL, "what MPI_Waitany found is null now");
    mixture.expect(4);
    mixture.answer(6);
    MPI_Testany(several, mixture.requests.data(), &index, &flag, &status);
    check(flag && index == 6, "MPI_Testany finds the message");
    check_status(status, 0, 6, 4);
    mixture.answer(2);
    MPI_Wait(&mixture.requests[2], MPI_STATUS_IGNORE);
    MPI_Waitany(several, mixture.requests.data(), &index, MPI_STATUS_IGNORE);
    check_equal(index, MPI_UNDEFINED);
}

void wait_and_test_some() {
    Mixture mixture;
    Statuses statuses = spoiled();
    int outcount = 9, indices[several];
    MPI_Testsome(several, mixture.requests.data(), &outcount, indices, statuses.data());
    check_equal(outcount, 0);
    mixture.answer(6);
    mixture.answer(2);
    MPI_Waitsome(several, mixture.requests.data(), &outcount, indices, statuses.data());
    check(outcount == 2 && indices[0] == 2 && indices[1] == 6, "MPI_Waitsome finds both");
    check_status(statuses[0], 0, 2, 4);
    check_status(statuses[1], 0, 6, 4);
    mixture.answer(4);
    MPI_Testsome(several, mixture.requests.data(), &outcount, indices, MPI_STATUSES_IGNORE);
    check(outcount == 1 && indices[0] == 4, "MPI_Testsome finds the last");
    for (int tag : {2, 4, 6}) mixture.expect(tag);
}

void wait_and_test_all() {
    Mixture mixture;
    Statuses statuses = spoiled();
    int flag = 1;
    mixture.answer(2);
    mixture.answer(6);
    MPI_Testall(several, mixture.requests.data(), &flag, statuses.data());
    check(!flag && mixture.requests[2] != MPI_REQUEST_NULL,
          "MPI_Testall of something open leaves the requests as they are");
    mixture.answer(4);
    MPI_Testall(several, mixture.requests.data(), &flag, statuses.data());
    check(flag, "MPI_Testall of complete requests is true");
    for (int tag : {2, 4, 6}) {
        check_status(statuses[static_cast<size_t>(tag)], 0, tag, 4);
        mixture.expect(tag);
    }
    for (size_t i : {0, 1, 3, 5}) check_empty(statuses[i]);
    MPI_Irecv(&mixture.in[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &mixture.requests[0]);
    mixture.answer(0);
    MPI_Waitall(several, mixture.requests.data(), MPI_STATUSES_IGNORE);
    mixture.expect(0);
}

// The message of one of several requests is truncated. The other requests complete, and each status reports
// the result of its own request.
void errors_of_several() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int in[3] = {}, out[3] = {1, 2, 3};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &requests[i]);
    for (int i = 0; i < 3; ++i) MPI_Send(out, i == 1 ? 3 : 1, MPI_INT, 0, i, comm);
    check_equal(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    check_class(statuses[0].MPI_ERROR, MPI_SUCCESS);
    check_class(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    check_class(statuses[2].MPI_ERROR, MPI_SUCCESS);
    check_equal(in[0] + in[2], 2);
    for (int i = 0; i < 3; ++i)
        check(requests[i] == MPI_REQUEST_NULL, "all requests are finished, the failed one too");
    MPI_Irecv(in, 1, MPI_INT, 0, 5, comm, requests);
    MPI_Send(out, 2, MPI_INT, 0, 5, comm);
    check_class(MPI_Wait(requests, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Comm_free(&comm);
}

// Every rank sends many messages to every rank. MPI_Waitsome returns their receives in the order in which the
// messages arrive.
void many(int rank, int size) {
    constexpr int each = 150;
    auto total = static_cast<size_t>(size * each);
    std::vector<int> in(total, -1), out(total), indices(total), seen(total, 0);
    std::vector<MPI_Request> receives(total), sends(total);
    std::vector<MPI_Status> statuses(total);
    for (size_t i = 0; i < total; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, static_cast<int>(i) / each, static_cast<int>(i) % each, MPI_COMM_WORLD,
                  &receives[i]);
    for (size_t i = total; i-- > 0;) {
        out[i] = rank * each + static_cast<int>(i) % each;
        MPI_Isend(&out[i], 1, MPI_INT, static_cast<int>(i) / each, static_cast<int>(i) % each, MPI_COMM_WORLD,
                  &sends[i]);
    }
    for (size_t found = 0; found < total;) {
        int outcount;
        MPI_Waitsome(static_cast<int>(total), receives.data(), &outcount, indices.data(), statuses.data());
        check(outcount > 0, "MPI_Waitsome finds at least one");
        for (int i = 0; i < outcount; ++i) {
            auto index = static_cast<size_t>(indices[static_cast<size_t>(i)]);
            check(!seen[index]++, "a request is found once");
            check_equal(in[index], static_cast<int>(index));
            check_status(statuses[static_cast<size_t>(i)], static_cast<int>(index) / each,
                         static_cast<int>(index) % each, 4);
        }
        found += static_cast<size_t>(outcount);
    }
    MPI_Waitall(static_cast<int>(total), sends.data(), MPI_STATUSES_IGNORE);
    int index;
    MPI_Waitany(static_cast<int>(total), sends.data(), &index, MPI_STATUS_IGNORE);
    check_equal(index, MPI_UNDEFINED);
}

// Frees requests while they are active. Their transfers must continue (MPI-5.0 3.7.3).
void freed(int rank, int size) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (size_t bytes : {size_t{8}, size_t{10000}, size_t{300000}}) {
        Area out(bytes, false), in(bytes, false), again(bytes, false);
        out.fill(static_cast<unsigned>(rank));
        MPI_Request request, last;
        MPI_Issend(out.data(), out.count(), out.type(), to, 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        check(request == MPI_REQUEST_NULL, "a freed request is null");
        in.clear();
        MPI_Recv(in.data(), in.count(), in.type(), from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in.verify(static_cast<unsigned>(from));
        again.clear();
        MPI_Irecv(again.data(), again.count(), again.type(), from, 2, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Issend(out.data(), out.count(), out.type(), to, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        // The peer's freed receive has got the bytes of this rank, because the send above is complete. The
        // peer sends its empty message only after such a send, so when that message has arrived, this rank's
        // freed receive is complete too.
        MPI_Irecv(nullptr, 0, MPI_BYTE, from, 3, MPI_COMM_WORLD, &last);
        MPI_Send(nullptr, 0, MPI_BYTE, to, 3, MPI_COMM_WORLD);
        MPI_Wait(&last, MPI_STATUS_IGNORE);
        again.verify(static_cast<unsigned>(from));
    }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    null_and_inactive();
    wait_and_test_any();
    wait_and_test_some();
    wait_and_test_all();
    errors_of_several();
    many(rank, size);
    freed(rank, size);
    MPI_Finalize();
}
