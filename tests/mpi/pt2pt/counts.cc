// Tests point-to-point functions with counts of type MPI_Count. Every send function is combined with every
// receive function, around the ring of ranks, in one piece and in strips, with sizes for each protocol.
// Receives through a matched probe, exchanges and attached buffers are tested too.
#include <functional>

#include "pt2pt/area.h"

namespace {

int rank, size, next, previous;
MPI_Comm comm;

// A function that starts to send an area's message to the next rank. If the function blocks, the request is
// MPI_REQUEST_NULL afterwards.
struct Sender {
    const char *name;
    bool ready, persistent;
    std::function<int(Area &, int, MPI_Request *)> send;
};
struct Receiver {
    const char *name;
    bool persistent;
    std::function<int(Area &, int, MPI_Request *)> receive;
};

template <class Function>
auto blocking(Function function) {
    return [function](Area &area, int tag, MPI_Request *) {
        return function(area.data(), MPI_Count{area.count()}, area.type(), next, tag, comm);
    };
}
template <class Function>
auto with_request(Function function) {
    return [function](Area &area, int tag, MPI_Request *request) {
        return function(area.data(), MPI_Count{area.count()}, area.type(), next, tag, comm, request);
    };
}

std::vector<Sender> senders() {
    return {{"MPI_Send_c", false, false, blocking(MPI_Send_c)},
            {"MPI_Ssend_c", false, false, blocking(MPI_Ssend_c)},
            {"MPI_Rsend_c", true, false, blocking(MPI_Rsend_c)},
            {"MPI_Bsend_c", false, false, blocking(MPI_Bsend_c)},
            {"MPI_Isend_c", false, false, with_request(MPI_Isend_c)},
            {"MPI_Issend_c", false, false, with_request(MPI_Issend_c)},
            {"MPI_Irsend_c", true, false, with_request(MPI_Irsend_c)},
            {"MPI_Ibsend_c", false, false, with_request(MPI_Ibsend_c)},
            {"MPI_Send_init_c", false, true, with_request(MPI_Send_init_c)},
            {"MPI_Ssend_init_c", false, true, with_request(MPI_Ssend_init_c)},
            {"MPI_Rsend_init_c", true, true, with_request(MPI_Rsend_init_c)},
            {"MPI_Bsend_init_c", false, true, with_request(MPI_Bsend_init_c)}};
}

template <class Function>
auto posted(Function function) {
    return [function](Area &area, int tag, MPI_Request *request) {
        return function(area.data(), MPI_Count{area.count()}, area.type(), previous, tag, comm, request);
    };
}

std::vector<Receiver> receivers() {
    return {{"MPI_Irecv_c", false, posted(MPI_Irecv_c)}, {"MPI_Recv_init_c", true, posted(MPI_Recv_init_c)}};
}

// The receive is posted first, so that a single rank does not wait for itself and a ready send is correct.
void exchange(const Sender &sender, const Receiver &receiver, size_t bytes, bool strided, int turn) {
    Area out(bytes, strided), in(bytes, strided);
    int tag = 5 + turn;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::string what =
        std::string(sender.name) + " to " + receiver.name + ", " + std::to_string(bytes) + " bytes";
    if (sender.persistent) check(sender.send(out, tag, &requests[0]) == MPI_SUCCESS, what);
    if (receiver.persistent) check(receiver.receive(in, tag, &requests[1]) == MPI_SUCCESS, what);
    for (int again = 0; again < (sender.persistent || receiver.persistent ? 3 : 1); ++again) {
        auto seed = static_cast<unsigned>(turn + again * 50);
        out.fill(seed + static_cast<unsigned>(rank));
        in.clear();
        check((receiver.persistent ? MPI_Start(&requests[1]) : receiver.receive(in, tag, &requests[1])) ==
                  MPI_SUCCESS,
              what);
        if (sender.ready) tell_and_hear(previous, next, comm);
        check((sender.persistent ? MPI_Start(&requests[0]) : sender.send(out, tag, &requests[0])) ==
                  MPI_SUCCESS,
              what);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        check_status(statuses[1], previous, tag, static_cast<MPI_Count>(bytes));
        in.verify(seed + static_cast<unsigned>(previous));
    }
    for (MPI_Request &request : requests)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

// Tests receive functions that block until the message has arrived. The messages are sent with nonblocking
// functions.
void receive_blocking(size_t bytes, bool strided) {
    Area out(bytes, strided), in(bytes, strided);
    for (int turn = 0; turn < 3; ++turn) {
        out.fill(static_cast<unsigned>(turn + rank));
        in.clear();
        MPI_Request sending, receiving;
        MPI_Status status;
        MPI_Isend_c(out.data(), out.count(), out.type(), next, turn, comm, &sending);
        if (turn == 0) {
            MPI_Recv_c(in.data(), in.count(), in.type(), previous, turn, comm, &status);
        } else {
            MPI_Message message;
            MPI_Mprobe(previous, turn, comm, &message, &status);
            check_status(status, previous, turn, static_cast<MPI_Count>(bytes));
            if (turn == 1) MPI_Mrecv_c(in.data(), in.count(), in.type(), &message, &status);
            else MPI_Imrecv_c(in.data(), in.count(), in.type(), &message, &receiving);
            check(message == MPI_MESSAGE_NULL, "a received message has a handle");
            if (turn == 2) MPI_Wait(&receiving, &status);
        }
        check_status(status, previous, turn, static_cast<MPI_Count>(bytes));
        in.verify(static_cast<unsigned>(turn + previous));
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
}

void send_and_receive(size_t bytes, bool strided) {
    for (int turn = 0; turn < 4; ++turn) {
        Area out(bytes, strided), in(bytes, strided);
        Area &result = turn < 2 ? in : out;
        out.fill(static_cast<unsigned>(turn + rank));
        in.clear();
        MPI_Status status;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Count count = out.count();
        if (turn == 0)
            MPI_Sendrecv_c(out.data(), count, out.type(), next, 8, in.data(), count, in.type(), previous, 8,
                           comm, &status);
        if (turn == 1)
            MPI_Isendrecv_c(out.data(), count, out.type(), next, 8, in.data(), count, in.type(), previous, 8,
                            comm, &request);
        if (turn == 2)
            MPI_Sendrecv_replace_c(out.data(), count, out.type(), next, 8, previous, 8, comm, &status);
        if (turn == 3)
            MPI_Isendrecv_replace_c(out.data(), count, out.type(), next, 8, previous, 8, comm, &request);
        if (turn % 2) MPI_Wait(&request, &status);
        check_status(status, previous, 8, static_cast<MPI_Count>(bytes));
        result.verify(static_cast<unsigned>(turn + previous));
    }
}

// Detaching a buffer, of the process or of a communicator, returns the buffer that was attached.
void buffers(void *memory, MPI_Count bytes) {
    void *back = nullptr;
    MPI_Count length = 0;
    MPI_Buffer_detach_c(&back, &length);
    check(back == memory && length == bytes, "MPI_Buffer_detach_c gives back another buffer");
    MPI_Comm_attach_buffer_c(comm, memory, bytes);
    Area out(3000, false), in(3000, false);
    out.fill(static_cast<unsigned>(rank));
    in.clear();
    MPI_Bsend_c(out.data(), out.count(), out.type(), next, 4, comm);
    out.clear();
    MPI_Recv_c(in.data(), in.count(), in.type(), previous, 4, comm, MPI_STATUS_IGNORE);
    in.verify(static_cast<unsigned>(previous));
    MPI_Comm_detach_buffer_c(comm, &back, &length);
    check(back == memory && length == bytes, "MPI_Comm_detach_buffer_c gives back another buffer");
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    rank = rank_in(comm);
    size = size_of(comm);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    std::vector<char> memory((4 << 20) + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach_c(memory.data(), static_cast<MPI_Count>(memory.size()));
    int turn = 0;
    for (size_t bytes : {size_t{0}, size_t{5}, size_t{24}, size_t{640}, size_t{16385}, size_t{262145},
                         size_t{1 << 20} + 1}) {
        if (bytes > all_sizes().back()) continue;  // under valgrind
        for (bool strided : {false, true}) {
            for (const Sender &sender : senders())
                for (const Receiver &receiver : receivers())
                    exchange(sender, receiver, bytes, strided, turn++ % 100);
            receive_blocking(bytes, strided);
            send_and_receive(bytes, strided);
        }
    }
    buffers(memory.data(), static_cast<MPI_Count>(memory.size()));
    use(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
