// Tests the cancellation of receives and sends. An operation that is not matched yet is withdrawn and leaves
// no trace. A matched operation continues as if the cancellation had not been requested (MPI-5.0 3.8.4). A
// cancelled send needs an answer from its receiver, so the receivers here call MPI.
#include "area.h"

namespace {

bool was_cancelled(const MPI_Status &status) {
    int flag = -1;
    MPI_Test_cancelled(&status, &flag);
    return flag == 1;
}

void receives() {
    int in[2] = {-1, -1}, out = 5;
    MPI_Request request;
    MPI_Status status;
    for (int source : {0, MPI_ANY_SOURCE})
        for (int tag : {3, MPI_ANY_TAG}) {
            MPI_Irecv(&in[0], 1, MPI_INT, source, tag, MPI_COMM_SELF, &request);
            MPI_Cancel(&request);
            check(request != MPI_REQUEST_NULL, "a cancelled request is still to be waited for");
            MPI_Wait(&request, &status);
            check(was_cancelled(status), "an unmatched receive can be cancelled");
        }
    // The message must match this receive, not a cancelled one.
    MPI_Irecv(&in[0], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    tell_and_hear(0, 0, MPI_COMM_SELF);  // the message has arrived
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    check(!was_cancelled(status) && in[0] == 5, "a receive that has its message is not cancelled");
}

// A persistent receive that was cancelled can be started again.
void persistent_receive() {
    int in = 0, out = 6, flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&in, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Request_get_status(request, &flag, &status);
    check(flag && was_cancelled(status), "MPI_Request_get_status tells of the cancellation");
    MPI_Test(&request, &flag, &status);
    check(flag && was_cancelled(status), "MPI_Test tells of the cancellation");
    MPI_Start(&request);
    MPI_Send(&out, 1, MPI_INT, 0, 4, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    check(!was_cancelled(status) && in == 6, "the persistent receive works again");
    MPI_Request_free(&request);
}

// Frees a request right after its cancellation, and completes several cancelled requests in one MPI_Waitall.
void freed_and_several() {
    int in[3];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Irecv(&in[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Request_free(&requests[0]);
    for (int i = 0; i < 3; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    MPI_Cancel(&requests[0]);
    MPI_Cancel(&requests[2]);
    MPI_Send(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Waitall(3, requests, statuses);
    check(was_cancelled(statuses[0]) && !was_cancelled(statuses[1]) && was_cancelled(statuses[2]),
          "MPI_Waitall tells which were cancelled");
}

// Cancels synchronous sends to the next rank, which has posted no receive for them.
void unmatched_sends(int to, int from) {
    int tag = 100;  // different for each message, because a rank may be ahead of the next rank
    for (size_t bytes : {size_t{8}, size_t{1000}, size_t{100000}, size_t{1} << 20}) {
        Area out(bytes, false), strips(bytes, true), in(bytes, false);
        MPI_Request requests[2];
        MPI_Status statuses[2];
        out.fill(1);
        strips.fill(1);
        MPI_Issend(out.data(), out.count(), out.type(), to, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(strips.data(), strips.count(), strips.type(), to, tag, MPI_COMM_WORLD, &requests[1]);
        tell_and_hear(to, from);  // all messages have arrived
        MPI_Cancel(&requests[0]);
        MPI_Cancel(&requests[1]);
        MPI_Waitall(2, requests, statuses);
        check(was_cancelled(statuses[0]) && was_cancelled(statuses[1]),
              "an unmatched synchronous send can be cancelled");
        tell_and_hear(to, from);  // all messages have been withdrawn
        int flag = 1;
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        check(!flag, "a cancelled message is gone");
        MPI_Request again;
        out.fill(2);
        MPI_Isend(out.data(), out.count(), out.type(), to, tag + 1, MPI_COMM_WORLD, &again);
        in.clear();
        MPI_Recv(in.data(), in.count(), in.type(), from, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in.verify(2);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        tag += 2;
    }
}

// The receive is already posted, or a matched probe has found the message. Then the send can no longer be
// cancelled, and the data must be correct.
void matched_sends(int to, int from) {
    for (size_t bytes : {size_t{8}, size_t{1000}, size_t{100000}, size_t{1} << 20}) {
        Area out(bytes, false), in(bytes, false);
        MPI_Request receive, send;
        MPI_Status status;
        MPI_Message message;
        out.fill(3);
        in.clear();
        MPI_Irecv(in.data(), in.count(), in.type(), from, 2, MPI_COMM_WORLD, &receive);
        tell_and_hear(from, to);
        MPI_Issend(out.data(), out.count(), out.type(), to, 2, MPI_COMM_WORLD, &send);
        MPI_Cancel(&send);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&send, &status);
        check(!was_cancelled(status), "a send whose receive is posted is not cancelled");
        in.verify(3);

        in.clear();
        MPI_Issend(out.data(), out.count(), out.type(), to, 2, MPI_COMM_WORLD, &send);
        MPI_Mprobe(from, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        tell_and_hear(from, to);
        MPI_Cancel(&send);
        MPI_Mrecv(in.data(), in.count(), in.type(), &message, MPI_STATUS_IGNORE);
        in.verify(3);
        MPI_Wait(&send, &status);
        check(!was_cancelled(status), "a send that a matched probe has taken is not cancelled");
    }
}

// A standard send perhaps leaves before it can be cancelled. It must be either received or cancelled.
void either_or(int to, int from) {
    int tag = 200;
    for (size_t bytes : {size_t{8}, size_t{1000}, size_t{100000}}) {
        Area out(bytes, false), in(bytes, false);
        MPI_Request send;
        MPI_Status status;
        out.fill(4);
        in.clear();
        MPI_Isend(out.data(), out.count(), out.type(), to, tag, MPI_COMM_WORLD, &send);
        MPI_Cancel(&send);
        MPI_Request receive;
        int cancelled_there = -1;
        MPI_Irecv(&cancelled_there, 1, MPI_INT, from, 4, MPI_COMM_WORLD, &receive);
        MPI_Wait(&send, &status);
        int cancelled_here = was_cancelled(status), there = 0;
        MPI_Send(&cancelled_here, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        check_equal(there, !cancelled_there);
        if (there) {
            MPI_Recv(in.data(), in.count(), in.type(), from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            in.verify(4);
        }
        ++tag;
    }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    receives();
    persistent_receive();
    freed_and_several();
    unmatched_sends(to, from);
    matched_sends(to, from);
    either_or(to, from);
    MPI_Finalize();
}
