// Tests MPI_Probe, MPI_Iprobe, MPI_Mprobe and MPI_Improbe, receives of the messages that these find,
// MPI_MESSAGE_NO_PROC, and wildcards.
#include "area.h"

namespace {

struct Ring {
    int rank, to, from;
    MPI_Comm other;  // a communicator of the same ranks
};

// A message of `bytes` bytes that is being sent to the next rank. The send is nonblocking, because it perhaps
// has to wait for its receive.
struct Sending {
    Area area;
    MPI_Request request;

    Sending(const Ring &ring, size_t bytes, int tag) : area(bytes, false) {
        area.fill(static_cast<unsigned>(ring.rank + tag));
        MPI_Isend(area.data(), area.count(), area.type(), ring.to, tag, MPI_COMM_WORLD, &request);
    }
    ~Sending() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
};

void probe_then_receive(const Ring &ring, size_t bytes) {
    Sending sending(ring, bytes, 4);
    MPI_Status status, received;
    Area in(bytes, false);
    for (int source : {ring.from, MPI_ANY_SOURCE})
        for (int tag : {4, MPI_ANY_TAG}) {
            MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
            check_status(status, ring.from, 4, static_cast<MPI_Count>(bytes));
        }
    int flag = 0;
    MPI_Iprobe(ring.from, 4, MPI_COMM_WORLD, &flag, &status);
    check(flag, "what was probed is still there");
    check_status(status, ring.from, 4, static_cast<MPI_Count>(bytes));
    MPI_Iprobe(ring.from, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "there is no message with another tag");
    MPI_Iprobe(ring.from, 4, ring.other, &flag, MPI_STATUS_IGNORE);
    check(!flag, "there is no message on another communicator");
    in.clear();
    MPI_Recv(in.data(), in.count(), in.type(), status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &received);
    check_status(received, ring.from, 4, static_cast<MPI_Count>(bytes));
    in.verify(static_cast<unsigned>(ring.from + 4));
    MPI_Iprobe(ring.from, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "what was received is gone");
    MPI_Barrier(MPI_COMM_WORLD);  // the next message is sent after all ranks have probed
}

void wait_for_iprobe(const Ring &ring) {
    Sending sending(ring, 100, 6);
    int flag = 0;
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    Area in(100, false);
    in.clear();
    MPI_Recv(in.data(), in.count(), in.type(), ring.from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in.verify(static_cast<unsigned>(ring.from + 6));
}

// A message that MPI_Mprobe has taken belongs to its message handle. No receive, probe or other matched probe
// finds it.
void matched(const Ring &ring, size_t bytes, bool nonblocking) {
    Sending first(ring, bytes, 8), second(ring, bytes / 2, 8);
    MPI_Message message, other = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    if (nonblocking)
        while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
    else
        MPI_Mprobe(ring.from, 8, MPI_COMM_WORLD, &message, &status);
    check_status(status, ring.from, 8, static_cast<MPI_Count>(bytes));
    check(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC, "the message has a handle");
    MPI_Improbe(ring.from, 9, MPI_COMM_WORLD, &flag, &other, MPI_STATUS_IGNORE);
    check(!flag, "there is no message with another tag");
    Area in(bytes, true), next(bytes / 2, false);
    in.clear();
    next.clear();
    MPI_Recv(next.data(), next.count(), next.type(), ring.from, 8, MPI_COMM_WORLD, &status);
    check_status(status, ring.from, 8, static_cast<MPI_Count>(bytes / 2));
    next.verify(static_cast<unsigned>(ring.from + 8));
    if (nonblocking) {
        MPI_Request request;
        MPI_Imrecv(in.data(), in.count(), in.type(), &message, &request);
        check(message == MPI_MESSAGE_NULL, "MPI_Imrecv ends the message handle");
        MPI_Wait(&request, &status);
    } else {
        MPI_Mrecv(in.data(), in.count(), in.type(), &message, &status);
    }
    check(message == MPI_MESSAGE_NULL, "the message handle is null after the receive");
    check_status(status, ring.from, 8, static_cast<MPI_Count>(bytes));
    in.verify(static_cast<unsigned>(ring.from + 8));
}

void nobody() {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0, untouched = 7;
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    check(flag, "MPI_Iprobe of MPI_PROC_NULL is true");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    check(message == MPI_MESSAGE_NO_PROC, "MPI_Mprobe of MPI_PROC_NULL gives MPI_MESSAGE_NO_PROC");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Mrecv(&untouched, 1, MPI_INT, &message, &status);
    check(message == MPI_MESSAGE_NULL && untouched == 7, "MPI_Mrecv of MPI_MESSAGE_NO_PROC gives nothing");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    flag = 0;
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status);
    check(flag && message == MPI_MESSAGE_NO_PROC, "MPI_Improbe of MPI_PROC_NULL gives MPI_MESSAGE_NO_PROC");
    MPI_Request request;
    MPI_Imrecv(&untouched, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    check(message == MPI_MESSAGE_NULL && untouched == 7, "MPI_Imrecv of MPI_MESSAGE_NO_PROC gives nothing");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    Ring ring{rank, (rank + 1) % size, (rank + size - 1) % size, MPI_COMM_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &ring.other);
    nobody();
    for (size_t bytes : all_sizes()) {
        if (bytes > (1 << 20)) continue;
        probe_then_receive(ring, bytes);
        matched(ring, bytes, false);
        matched(ring, bytes, true);
    }
    wait_for_iprobe(ring);
    MPI_Comm_free(&ring.other);
    MPI_Finalize();
}
