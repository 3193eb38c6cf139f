// Tests partitioned communication: different partitions on the two sides, derived datatypes, all ways to mark
// partitions as ready, the order of matching, requests freed early, MPI_PROC_NULL, and every error. The ranks
// send around a ring. A single rank sends to itself.
#include <vector>

#include "comm/check.h"

namespace {

int rank, size, to, from;

// Returns a byte that depends on the sender, on its index `at` in the message, and on the round.
unsigned char byte_of(int sender, int round, size_t at) {
    return static_cast<unsigned char>(at * 7 + (at >> 8) + sender * 31 + round * 101);
}

void verify(const std::vector<unsigned char> &in, size_t bytes, int round,
            const std::source_location &where = std::source_location::current()) {
    for (size_t i = 0; i < bytes; ++i)
        if (in[i] != byte_of(from, round, i)) check(false, "byte " + std::to_string(i) + " is wrong", where);
}

void start_both(MPI_Request (&requests)[2], bool receive_first) {
    if (receive_first) MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    if (!receive_first) MPI_Start(&requests[1]);
}

enum class Ready { one_by_one, backwards, range, list };

void make_ready(MPI_Request request, int partitions, Ready way) {
    std::vector<int> all;
    for (int i = 0; i < partitions; ++i)
        all.push_back(way == Ready::list ? (i * 2) % partitions + (partitions % 2 == 0 && i >= partitions / 2)
                                         : i);
    if (way == Ready::range) {
        MPI_Pready_range(0, partitions / 2, request);
        if (partitions > 2) MPI_Pready_range(partitions / 2 + 1, partitions - 1, request);
    } else if (way == Ready::list) {
        MPI_Pready_list(partitions, all.data(), request);
    } else {
        for (int i = 0; i < partitions; ++i)
            MPI_Pready(way == Ready::backwards ? partitions - 1 - i : i, request);
    }
}

// Transfers `bytes` bytes in several rounds. The sender divides them into `sent` partitions and the receiver
// into `received` partitions.
void rounds(size_t bytes, int sent, int received, Ready way) {
    std::vector<unsigned char> out(bytes + 1), in(bytes + 1);
    MPI_Request requests[2];
    auto count = [&](int partitions) { return static_cast<MPI_Count>(bytes) / partitions; };
    MPI_Psend_init(out.data(), sent, count(sent), MPI_BYTE, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in.data(), received, count(received), MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < bytes; ++i) out[i] = byte_of(rank, round, i);
        std::fill(in.begin(), in.end(), static_cast<unsigned char>(0));
        start_both(requests, round % 2 == 0);
        make_ready(requests[0], sent, way);
        if (round == 1) {
            for (int i = 0; i < received; ++i)
                for (int flag = 0; !flag;) MPI_Parrived(requests[1], i, &flag);
            verify(in, bytes, round);
        }
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        verify(in, bytes, round);
        check(in[bytes] == 0, "the byte behind the data was written to");
        MPI_Count got;
        MPI_Get_elements_c(&statuses[1], MPI_BYTE, &got);
        check_equal(got, static_cast<MPI_Count>(bytes));
        check_equal(statuses[1].MPI_SOURCE, from);
        check_equal(statuses[1].MPI_TAG, 3);
        int flag = 0;
        MPI_Parrived(requests[1], 0, &flag);  // the request is inactive again
        check(flag);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// One side has one integer in every two places, and the other has three in every four, so partitions begin
// within elements of the datatypes.
void layouts() {
    constexpr int numbers = 6 * 5000;
    MPI_Datatype every_second, threes;
    MPI_Type_vector(1, 1, 2, MPI_INT, &threes);
    MPI_Type_create_resized(threes, 0, 8, &every_second);
    MPI_Type_free(&threes);
    int lengths[] = {1, 2}, places[] = {0, 2};
    MPI_Type_indexed(2, lengths, places, MPI_INT, &threes);  // places 0, 2 and 3 of four
    MPI_Type_commit(&every_second);
    MPI_Type_commit(&threes);
    std::vector<int> out(numbers * 2), in(numbers / 3 * 4, -1);
    for (int i = 0; i < numbers; ++i) out[static_cast<size_t>(i) * 2] = rank * 1000000 + i;
    MPI_Request requests[2];
    MPI_Psend_init(out.data(), 5, numbers / 5, every_second, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in.data(), 4, numbers / 12, threes, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Type_free(&every_second);
    MPI_Type_free(&threes);
    MPI_Startall(2, requests);
    MPI_Pready_range(3, 4, requests[0]);
    MPI_Pready(1, requests[0]);
    MPI_Pready_range(0, 0, requests[0]);
    int flag = 1;
    // the receiver's partition 2 begins in the sender's partition 2, which is not ready yet
    if (size == 1) MPI_Parrived(requests[1], 2, &flag);
    check(size > 1 || !flag);
    MPI_Pready(2, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < numbers; ++i) {
        int place = i / 3 * 4 + i % 3 + (i % 3 > 0);
        if (in[static_cast<size_t>(place)] != from * 1000000 + i)
            check(false, "number " + std::to_string(i) + " is wrong");
    }
    for (size_t i = 1; i + 1 < in.size(); i += 4) check(in[i] == -1);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// Requests match in the order of their creation, not in the order of their start. One pair of requests is
// freed without having been started.
void order() {
    constexpr int pairs = 4;
    MPI_Request sends[pairs], receives[pairs];
    int out[pairs], in[pairs];
    for (int i = 0; i < pairs; ++i) {
        out[i] = rank * 10 + i;
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
    }
    MPI_Request_free(&sends[1]);
    MPI_Request_free(&receives[1]);
    for (int i : {3, 0, 2}) MPI_Start(&receives[i]);
    for (int i : {2, 3, 0}) MPI_Start(&sends[i]);
    for (int i : {0, 2, 3}) MPI_Pready(0, sends[i]);
    for (int i : {2, 0, 3}) {
        MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
        check_equal(in[i], from * 10 + i);
    }
    // Neither a probe nor another receive may find partitioned messages that are under way.
    int flag = 1, stray;
    MPI_Request any;
    MPI_Irecv(&stray, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    for (int i : {0, 2, 3}) MPI_Start(&sends[i]), MPI_Pready(0, sends[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
    check(!flag, "a receive took what belongs to a partitioned one");
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "a probe saw what belongs to a partitioned receive");
    MPI_Cancel(&any);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i : {0, 2, 3}) {
        MPI_Start(&receives[i]);
        MPI_Request_free(&sends[i]);  // the send is under way and must continue
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&receives[i]);
    }
}

void nobody() {
    int value = 5, flag = 0;
    MPI_Request requests[2];
    MPI_Psend_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; ++round) {
        MPI_Startall(2, requests);
        MPI_Parrived(requests[1], 0, &flag);
        check(flag);
        MPI_Pready(0, requests[0]);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        check(!flag, "the send is over before all is ready");
        MPI_Pready(1, requests[0]);
        MPI_Status status;
        MPI_Wait(&requests[1], &status);
        check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
        check_equal(status.MPI_TAG, MPI_ANY_TAG);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

void expect(int code, int error_class, const char *part,
            const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    check(std::strstr(text, part) != nullptr, std::string("the text is: ") + text, where);
}

void errors() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int values[4] = {}, flag;
    MPI_Request send, receive, plain, none = MPI_REQUEST_NULL;
    expect(MPI_Precv_init(values, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &none), MPI_ERR_RANK,
           "MPI_ANY_SOURCE");
    expect(MPI_Precv_init(values, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &none), MPI_ERR_TAG,
           "tag");
    expect(MPI_Psend_init(values, -1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &none), MPI_ERR_ARG,
           "partitions is -1");
    expect(MPI_Psend_init(values, 1, -1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &none), MPI_ERR_COUNT,
           "count is -1");
    expect(MPI_Psend_init(values, 16, MPI_Count{1} << 60, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &none),
           MPI_ERR_COUNT, "2^63");
    MPI_Psend_init(values, 4, 1, MPI_INT, to, 0, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(values, 1, 3, MPI_INT, from, 0, comm, MPI_INFO_NULL, &receive);
    expect(MPI_Pready(0, send), MPI_ERR_REQUEST, "not started");
    MPI_Request both[] = {send, receive};
    MPI_Startall(2, both);
    int listed[] = {1, 9};
    expect(MPI_Pready(4, send), MPI_ERR_ARG, "partition 4 does not exist");
    expect(MPI_Pready(-1, send), MPI_ERR_ARG, "partition -1 does not exist");
    expect(MPI_Pready_range(2, 1, send), MPI_ERR_ARG, "begins with 2");
    expect(MPI_Pready_range(1, 4, send), MPI_ERR_ARG, "partition 4 does not exist");
    expect(MPI_Pready_list(2, listed, send), MPI_ERR_ARG, "partition 9 does not exist");
    expect(MPI_Pready(0, receive), MPI_ERR_REQUEST, "not a partitioned send");
    expect(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST, "not a partitioned receive");
    expect(MPI_Parrived(receive, 1, &flag), MPI_ERR_ARG, "partition 1 does not exist");
    expect(MPI_Cancel(&send), MPI_ERR_REQUEST, "cannot be cancelled");
    MPI_Pready_range(0, 2, send);
    expect(MPI_Pready(1, send), MPI_ERR_ARG, "partition 1 was made ready before");
    MPI_Pready(3, send);
    check_equal(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Status status;
    int count;
    expect(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE, "16 bytes in all partitions");
    MPI_Get_count(&status, MPI_INT, &count);
    check_equal(count, 3);
    check_equal(MPI_Parrived(none, 0, &flag), MPI_SUCCESS);
    check(flag);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Send_init(values, 1, MPI_INT, to, 0, comm, &plain);
    expect(MPI_Pready(0, plain), MPI_ERR_REQUEST, "not a partitioned send");
    MPI_Request_free(&plain);
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (Ready way : {Ready::one_by_one, Ready::backwards, Ready::range, Ready::list})
        for (size_t bytes : {0, 60, 6000, 60 * 4096, 60 * 30000})
            for (auto [sent, received] :
                 {std::pair(1, 1), std::pair(4, 4), std::pair(60, 1), std::pair(3, 20), std::pair(5, 4)})
                rounds(bytes, sent, received, way);
    layouts();
    order();
    nobody();
    errors();
    MPI_Finalize();
}
