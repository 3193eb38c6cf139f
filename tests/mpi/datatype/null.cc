// Tests MPI_DATATYPE_NULL in calls that transfer nothing, because the count is 0 or the peer is
// MPI_PROC_NULL. It must work in every kind of call that communicates with a datatype, even if another rank
// passes a datatype for the same empty transfer. With LANYARD_CHECK=on, the library for the standard's ABI
// refuses MPI_DATATYPE_NULL even then. If something is to be transferred, every library refuses it.
#include <vector>

#include "coll/forms.h"
#include "comm/check.h"

namespace {

int rank, size, left, right;
bool refused;  // the library accepts only what the standard defines

const MPI_Datatype none = MPI_DATATYPE_NULL;

void expect_refused(int code, const std::source_location &where = std::source_location::current()) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    check_class(code, MPI_ERR_TYPE, where);
    MPI_Error_string(code, text, &length);
    std::string sentence = text;
    check(sentence.find(" is MPI_DATATYPE_NULL") != std::string::npos, sentence, where);
}

// Returns whether the call worked. If `refused`, the call must report the error.
bool works(int code, const std::source_location &where = std::source_location::current()) {
    if (refused)
        expect_refused(code, where);
    else
        check_equal(code, MPI_SUCCESS, where);
    return !refused;
}

void finish(MPI_Request &request, bool persistent) {
    if (persistent) MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent) MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL, "the request has ended");
}

using SendCall = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
using StartCall = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

// Tests empty messages from this rank to the next, and messages of any count to MPI_PROC_NULL.
void point_to_point() {
    const MPI_Comm world = MPI_COMM_WORLD;
    int number = 0;
    MPI_Request request;
    MPI_Status status;
    for (SendCall send : {SendCall{MPI_Send}, SendCall{MPI_Bsend}}) {
        if (works(send(nullptr, 0, none, right, 1, world))) {
            works(MPI_Recv(nullptr, 0, none, left, 1, world, &status));
            check_equal(status.MPI_SOURCE, left);
        }
        works(send(&number, 5, none, MPI_PROC_NULL, 1, world));
        works(MPI_Recv(&number, 5, none, MPI_PROC_NULL, 1, world, MPI_STATUS_IGNORE));
    }
    works(MPI_Ssend(&number, 5, none, MPI_PROC_NULL, 1, world));
    works(MPI_Rsend_c(&number, 5, none, MPI_PROC_NULL, 1, world));
    for (StartCall start : {StartCall{MPI_Isend}, StartCall{MPI_Issend}, StartCall{MPI_Ibsend}})
        for (int to : {right, MPI_PROC_NULL}) {
            int count = to == right ? 0 : 3;
            if (!works(start(&number, count, none, to, 2, world, &request))) continue;
            if (to == right) works(MPI_Recv_c(&number, 0, none, left, 2, world, MPI_STATUS_IGNORE));
            finish(request, false);
        }
    for (StartCall init : {StartCall{MPI_Send_init}, StartCall{MPI_Ssend_init}, StartCall{MPI_Bsend_init},
                           StartCall{MPI_Rsend_init}})
        if (works(init(&number, 4, none, MPI_PROC_NULL, 3, world, &request))) finish(request, true);
    if (works(MPI_Irecv(&number, 4, none, MPI_PROC_NULL, 3, world, &request))) finish(request, false);
    if (works(MPI_Recv_init(&number, 4, none, MPI_PROC_NULL, 3, world, &request))) finish(request, true);
    // The sender names a datatype. If its message is not empty, the message is too long for the receive.
    MPI_Isend(&number, 0, MPI_DOUBLE, right, 4, world, &request);
    if (works(MPI_Recv(nullptr, 0, none, left, 4, world, MPI_STATUS_IGNORE)))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Recv(nullptr, 0, MPI_INT, left, 4, world, MPI_STATUS_IGNORE),
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&number, 1, MPI_INT, right, 5, world, &request);
    if (!refused)
        check_class(MPI_Recv(nullptr, 0, none, left, 5, world, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    else
        MPI_Recv(&number, 1, MPI_INT, left, 5, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Message message;
    MPI_Isend(&number, 0, MPI_INT, right, 6, world, &request);
    MPI_Mprobe(left, 6, world, &message, MPI_STATUS_IGNORE);
    if (!works(MPI_Mrecv(nullptr, 0, none, &message, MPI_STATUS_IGNORE)))
        MPI_Mrecv(nullptr, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void both_ways() {
    const MPI_Comm world = MPI_COMM_WORLD;
    const int nobody = MPI_PROC_NULL;
    int out = rank, in = -1;
    MPI_Request request;
    works(MPI_Sendrecv(nullptr, 0, none, right, 1, nullptr, 0, none, left, 1, world, MPI_STATUS_IGNORE));
    works(MPI_Sendrecv(&out, 1, none, nobody, 1, &in, 1, none, nobody, 1, world, MPI_STATUS_IGNORE));
    if (works(MPI_Sendrecv(&out, 1, MPI_INT, rank, 1, &in, 0, none, nobody, 1, world, MPI_STATUS_IGNORE)))
        MPI_Recv(&in, 1, MPI_INT, rank, 1, world, MPI_STATUS_IGNORE);
    works(MPI_Sendrecv_replace(&out, 1, none, nobody, 1, nobody, 1, world, MPI_STATUS_IGNORE));
    works(MPI_Sendrecv_replace(&out, 0, none, right, 1, left, 1, world, MPI_STATUS_IGNORE));
    if (works(MPI_Isendrecv(&out, 1, none, nobody, 1, &in, 0, none, nobody, 1, world, &request)))
        finish(request, false);
    if (works(MPI_Isendrecv_replace(&out, 0, none, right, 1, left, 1, world, &request)))
        finish(request, false);
    // If one of the two transfers is not empty, every library reports an error.
    expect_refused(MPI_Sendrecv(&out, 1, none, rank, 1, &in, 0, none, nobody, 1, world, MPI_STATUS_IGNORE));
    expect_refused(MPI_Sendrecv(&out, 0, none, nobody, 1, &in, 1, none, rank, 1, world, MPI_STATUS_IGNORE));
    expect_refused(MPI_Sendrecv_replace(&out, 1, none, nobody, 1, rank, 1, world, MPI_STATUS_IGNORE));
}

void partitions() {
    MPI_Request request;
    char byte = 0;
    if (works(MPI_Psend_init(&byte, 2, 1, none, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request))) {
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    if (works(MPI_Precv_init(&byte, 2, 1, none, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request)))
        finish(request, true);
    MPI_Request both[2];
    if (!works(MPI_Psend_init(nullptr, 2, 0, none, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0])))
        return;
    works(MPI_Precv_init(nullptr, 2, 0, none, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]));
    MPI_Startall(2, both);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (MPI_Request &one : both) MPI_Request_free(&one);
}

void packing() {
    char from[8] = {}, to[8] = {};
    int at = 0;
    MPI_Aint place = 0;
    works(MPI_Pack(from, 0, none, to, 8, &at, MPI_COMM_WORLD));
    works(MPI_Unpack(from, 8, &at, to, 0, none, MPI_COMM_WORLD));
    works(MPI_Pack_external("external32", from, 0, none, to, 8, &place));
    works(MPI_Unpack_external("external32", from, 8, &place, to, 0, none));
    check(at == 0 && place == 0, "nothing was packed");
    expect_refused(MPI_Pack(from, 1, none, to, 8, &at, MPI_COMM_WORLD));
}

struct Blocking {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::blocking;
    static constexpr auto allgather = MPI_Allgather;
    static constexpr auto allgatherv = MPI_Allgatherv;
    static constexpr auto allreduce = MPI_Allreduce;
    static constexpr auto alltoall = MPI_Alltoall;
    static constexpr auto alltoallv = MPI_Alltoallv;
    static constexpr auto alltoallw = MPI_Alltoallw;
    static constexpr auto bcast = MPI_Bcast;
    static constexpr auto exscan = MPI_Exscan;
    static constexpr auto gather = MPI_Gather;
    static constexpr auto gatherv = MPI_Gatherv;
    static constexpr auto reduce = MPI_Reduce;
    static constexpr auto reduce_scatter = MPI_Reduce_scatter;
    static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block;
    static constexpr auto scan = MPI_Scan;
    static constexpr auto scatter = MPI_Scatter;
    static constexpr auto scatterv = MPI_Scatterv;
};

// Calls collectives without data. Each is called twice, because the second call may reuse what the library
// remembers of the first. `type` is the datatype that this rank passes.
template <class Form>
class Collectives {
public:
    explicit Collectives(MPI_Comm comm) : comm_(comm), ranks_(static_cast<size_t>(size_of(comm))) {
        zeros_.assign(ranks_, 0);
        places_.assign(ranks_, 0);
        bytes_.assign(ranks_, 0);
    }

    void run(MPI_Datatype type) {
        std::vector<MPI_Datatype> types(ranks_, type);
        const auto *n = zeros_.data();
        const auto *p = places_.data(), *b = bytes_.data();
        for (int turn = 0; turn < 2; ++turn) {
            call(type, Form::bcast, nullptr, 0, type, 0);
            call(type, Form::gather, nullptr, 0, type, nullptr, 0, type, 0);
            call(type, Form::gatherv, nullptr, 0, type, nullptr, n, p, type, 0);
            call(type, Form::scatter, nullptr, 0, type, nullptr, 0, type, 0);
            call(type, Form::scatterv, nullptr, n, p, type, nullptr, 0, type, 0);
            call(type, Form::allgather, nullptr, 0, type, nullptr, 0, type);
            call(type, Form::allgatherv, nullptr, 0, type, nullptr, n, p, type);
            call(type, Form::alltoall, nullptr, 0, type, nullptr, 0, type);
            call(type, Form::alltoallv, nullptr, n, p, type, nullptr, n, p, type);
            call(type, Form::alltoallw, nullptr, n, b, types.data(), nullptr, n, b, types.data());
            call(type, Form::reduce, nullptr, nullptr, 0, type, MPI_SUM, 0);
            call(type, Form::allreduce, nullptr, nullptr, 0, type, MPI_MAX);
            call(type, Form::scan, nullptr, nullptr, 0, type, MPI_SUM);
            call(type, Form::exscan, nullptr, nullptr, 0, type, MPI_BOR);
            call(type, Form::reduce_scatter, nullptr, nullptr, n, type, MPI_SUM);
            call(type, Form::reduce_scatter_block, nullptr, nullptr, 0, type, MPI_LAND);
        }
    }

    // The w form has a datatype for each block. Here, only the block from a rank to itself has data and a
    // datatype.
    void some_types() {
        std::vector<MPI_Datatype> types(ranks_, none);
        auto self = static_cast<size_t>(rank_in(comm_));
        types[self] = MPI_INT;
        auto counts = zeros_;
        counts[self] = 1;
        int out = rank, in = -1;
        if (call(none, Form::alltoallw, &out, counts.data(), bytes_.data(), types.data(), &in, counts.data(),
                 bytes_.data(), types.data()))
            check_equal(in, rank);
        if (ranks_ == 1) return;
        counts[(self + 1) % ranks_] = 1;
        MPI_Request request;
        expect_refused(called(request, Form::alltoallw, &out, counts.data(), bytes_.data(), types.data(), &in,
                              counts.data(), bytes_.data(), types.data()));
    }

private:
    template <class Function, class... Arguments>
    int called(MPI_Request &request, Function function, Arguments... arguments) {
        if constexpr (Form::kind == CallKind::blocking) return function(arguments..., comm_);
        else if constexpr (Form::kind == CallKind::nonblocking)
            return function(arguments..., comm_, &request);
        else
            return function(arguments..., comm_, MPI_INFO_NULL, &request);
    }
    template <class Function, class... Arguments>
    bool call(MPI_Datatype type, Function function, Arguments... arguments) {
        MPI_Request request;
        int code = called(request, function, arguments...);
        if (type != none)
            check_equal(code, MPI_SUCCESS);
        else if (!works(code))
            return false;
        if (Form::kind != CallKind::blocking) finish(request, Form::kind == CallKind::persistent);
        return true;
    }

    MPI_Comm comm_;
    size_t ranks_;
    std::vector<typename Form::Count> zeros_;
    std::vector<typename Form::Place> places_;
    std::vector<typename Form::Place> bytes_;
};

template <class Form>
void collectives(MPI_Comm comm) {
    Collectives<Form> all(comm);
    // If the null datatype is refused, all ranks must pass it. Otherwise ranks that pass MPI_INT could wait
    // for ranks whose calls have failed.
    all.run(none);
    if (!refused) all.run(rank % 2 ? none : MPI_INT);
    if (size_of(comm) != 1 || !refused) all.some_types();
}

void neighbors() {
    MPI_Comm ring;
    int periodic = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    int zeros[2] = {}, places[2] = {}, in[2] = {-1, -1};
    MPI_Aint bytes[2] = {};
    MPI_Datatype types[2] = {none, none};
    works(MPI_Neighbor_allgather(nullptr, 0, none, nullptr, 0, none, ring));
    works(MPI_Neighbor_allgatherv(nullptr, 0, none, nullptr, zeros, places, none, ring));
    works(MPI_Neighbor_alltoall(nullptr, 0, none, nullptr, 0, none, ring));
    works(MPI_Neighbor_alltoallv(nullptr, zeros, places, none, nullptr, zeros, places, none, ring));
    works(MPI_Neighbor_alltoallw(nullptr, zeros, bytes, types, nullptr, zeros, bytes, types, ring));
    // Each rank sends to its right neighbour only. The last rank sends nothing.
    int counts[2] = {0, rank + 1 < size}, got[2] = {rank > 0, 0}, last = rank + 1 == size;
    MPI_Datatype send_types[2] = {none, last ? none : MPI_INT},
                 receive_types[2] = {rank > 0 ? MPI_INT : none, none};
    if (works(MPI_Neighbor_alltoallw(&rank, counts, bytes, send_types, in, got, bytes, receive_types, ring)))
        check_equal(in[0], rank > 0 ? rank - 1 : -1);
    MPI_Comm_free(&ring);
}

void something() {
    int number = 0;
    MPI_Request request;
    expect_refused(MPI_Send(&number, 1, none, rank, 0, MPI_COMM_WORLD));
    expect_refused(MPI_Irecv(&number, 1, none, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request));
    expect_refused(MPI_Bcast(&number, 1, none, 0, MPI_COMM_WORLD));
    expect_refused(MPI_Allreduce(MPI_IN_PLACE, &number, 1, none, MPI_SUM, MPI_COMM_WORLD));
    expect_refused(MPI_Reduce_local(&number, &number, 1, none, MPI_SUM));
    works(MPI_Reduce_local(nullptr, nullptr, 0, none, MPI_SUM));
    // Functions that query a datatype or build on one refuse MPI_DATATYPE_NULL.
    int bytes = 0;
    MPI_Datatype made;
    expect_refused(MPI_Type_size(none, &bytes));
    expect_refused(MPI_Type_contiguous(0, none, &made));
    // A handle that is no datatype at all is wrong even with a count of 0.
    MPI_Datatype freed;
    MPI_Type_contiguous(1, MPI_INT, &freed);
    MPI_Datatype copy = freed;
    MPI_Type_free(&freed);
    check_class(MPI_Send(&number, 0, copy, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#ifdef MPI_ABI_VERSION
    const char *checked = std::getenv("LANYARD_CHECK");
    refused = checked && std::string(checked) == "on";
#endif
    std::vector<char> buffer(1 << 16);
    MPI_Buffer_attach(buffer.data(), 1 << 16);
    point_to_point();
    both_ways();
    partitions();
    packing();
    collectives<Blocking>(MPI_COMM_WORLD);
    collectives<BlockingLarge>(MPI_COMM_WORLD);
    collectives<NonblockingLarge>(MPI_COMM_WORLD);
    collectives<Persistent>(MPI_COMM_WORLD);
    neighbors();
    something();
    void *detached = nullptr;
    MPI_Buffer_detach(&detached, &size);
    MPI_Finalize();
}
