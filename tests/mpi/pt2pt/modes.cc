// Tests every way to send (standard, synchronous, ready, buffered; blocking, nonblocking, persistent) to
// every rank including the sender, with every size around a protocol's limit, in one piece and in strips,
// before and after the receive is posted.
#include <memory>

#include "area.h"

namespace {

enum class Mode { standard, synchronous, ready, buffered };
enum class Form { blocking, nonblocking, persistent };

struct SendKind {
    Mode mode;
    Form form;
};

using Blocking = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
using Starting = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
constexpr Blocking blocking[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
constexpr Starting nonblocking[] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
constexpr Starting persistent[] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};

// Begins to send. The request is null if nothing is left to wait for.
MPI_Request send(SendKind kind, Area &area, int to, int tag) {
    auto mode = static_cast<size_t>(kind.mode);
    MPI_Request request = MPI_REQUEST_NULL;
    if (kind.form == Form::blocking) {
        blocking[mode](area.data(), area.count(), area.type(), to, tag, MPI_COMM_WORLD);
    } else if (kind.form == Form::nonblocking) {
        nonblocking[mode](area.data(), area.count(), area.type(), to, tag, MPI_COMM_WORLD, &request);
    } else {
        persistent[mode](area.data(), area.count(), area.type(), to, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    }
    return request;
}

struct Pair {
    int to, from, rank;
};

// The receive is posted before the message is sent.
void expected(SendKind kind, Pair pair, Area &out, Area &in, int tag) {
    MPI_Request receive;
    MPI_Status status;
    in.clear();
    out.fill(static_cast<unsigned>(pair.rank + tag));
    MPI_Irecv(in.data(), in.count(), in.type(), pair.from, tag, MPI_COMM_WORLD, &receive);
    tell_and_hear(pair.from, pair.to);
    MPI_Request sending = send(kind, out, pair.to, tag);
    MPI_Wait(&receive, &status);
    check_status(status, pair.from, tag, static_cast<MPI_Count>(in.bytes()));
    in.verify(static_cast<unsigned>(pair.from + tag));
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    if (kind.form == Form::persistent) MPI_Request_free(&sending);
    check(sending == MPI_REQUEST_NULL, "a finished send leaves no request");
}

// The message, or its offer, arrives before the receive is posted. A persistent send is used twice.
void unexpected(SendKind kind, Pair pair, Area &out, Area &in, int tag) {
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Status status;
    for (int round = 0; round < (kind.form == Form::persistent ? 2 : 1); ++round) {
        in.clear();
        out.fill(static_cast<unsigned>(pair.rank + tag + round));
        if (round == 0) sending = send(kind, out, pair.to, tag);
        else MPI_Start(&sending);
        tell_and_hear(pair.to, pair.from);
        MPI_Recv(in.data(), in.count(), in.type(), pair.from, tag, MPI_COMM_WORLD, &status);
        check_status(status, pair.from, tag, static_cast<MPI_Count>(in.bytes()));
        in.verify(static_cast<unsigned>(pair.from + tag + round));
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    if (kind.form == Form::persistent) MPI_Request_free(&sending);
}

void every_kind(Pair pair, size_t bytes, bool strided_out, bool strided_in) {
    Area out(bytes, strided_out), in(bytes, strided_in);
    int tag = 1;
    bool both_kinds = strided_out && strided_in, long_message = bytes > 100000;
    for (Mode mode : {Mode::standard, Mode::synchronous, Mode::ready, Mode::buffered})
        for (Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
            // All forms of a mode use the same protocol for long messages. So one form of each mode is enough
            // for long messages, and for messages with strips on both sides.
            if ((long_message || both_kinds) &&
                static_cast<int>(form) != (static_cast<int>(mode) + static_cast<int>(bytes)) % 3)
                continue;
            expected({mode, form}, pair, out, in, tag++);
            // The sends that return before the receive is posted.
            bool returns = form != Form::blocking || mode == Mode::buffered;
            if (mode != Mode::ready && returns) unexpected({mode, form}, pair, out, in, tag++);
        }
}

// Sends to MPI_PROC_NULL always succeed, and receives from it deliver nothing.
void to_nobody() {
    Area area(100, false), untouched(100, false);
    MPI_Status status;
    untouched.fill(3);
    for (Mode mode : {Mode::standard, Mode::synchronous, Mode::ready, Mode::buffered})
        for (Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
            MPI_Request request = send({mode, form}, area, MPI_PROC_NULL, 5);
            MPI_Wait(&request, &status);
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
        }
    MPI_Recv(untouched.data(), 100, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Request request;
    MPI_Irecv(untouched.data(), 100, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Recv_init(untouched.data(), 100, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Request_free(&request);
    untouched.verify(3);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    // Messages stay in this buffer until the receiver has confirmed their arrival.
    std::vector<char> attached(size_t{64} << 20);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    to_nobody();
    for (int distance = 0; distance < size; ++distance) {
        Pair pair{(rank + distance) % size, (rank + size - distance) % size, rank};
        for (size_t bytes : all_sizes()) {
            if (bytes > 300000 && distance > 1) continue;
            every_kind(pair, bytes, false, false);
            if (distance > 1) continue;
            every_kind(pair, bytes, true, false);
            if (bytes > (1 << 20)) continue;
            every_kind(pair, bytes, false, true);
            every_kind(pair, bytes, true, true);
        }
    }
    void *given;
    int bytes;
    MPI_Buffer_detach(&given, &bytes);
    check(given == attached.data() && bytes == static_cast<int>(attached.size()),
          "MPI_Buffer_detach gives back what was attached");
    MPI_Finalize();
}
