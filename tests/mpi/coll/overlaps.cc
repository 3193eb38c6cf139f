// Passes buffers that share memory to collective operations, without MPI_IN_PLACE. Every call must report
// this error, in each of its forms. Buffers that only appear to overlap must work: adjacent buffers, buffers
// that lie in each other's gaps, and buffers without elements.
#include <vector>

#include "coll/forms.h"
#include "comm/check.h"

namespace {

int rank, size;
// `world` is for calls in which every rank reports the error before it communicates. `alone` has one rank. It
// is for calls in which only the root reports the error. `both` is an intercommunicator.
MPI_Comm world, alone, both;

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

struct Nonblocking {
    using Count = int;
    using Place = int;
    static constexpr CallKind kind = CallKind::nonblocking;
    static constexpr auto allgather = MPI_Iallgather;
    static constexpr auto allgatherv = MPI_Iallgatherv;
    static constexpr auto allreduce = MPI_Iallreduce;
    static constexpr auto alltoall = MPI_Ialltoall;
    static constexpr auto alltoallv = MPI_Ialltoallv;
    static constexpr auto alltoallw = MPI_Ialltoallw;
    static constexpr auto exscan = MPI_Iexscan;
    static constexpr auto gather = MPI_Igather;
    static constexpr auto gatherv = MPI_Igatherv;
    static constexpr auto reduce = MPI_Ireduce;
    static constexpr auto reduce_scatter = MPI_Ireduce_scatter;
    static constexpr auto reduce_scatter_block = MPI_Ireduce_scatter_block;
    static constexpr auto scan = MPI_Iscan;
    static constexpr auto scatter = MPI_Iscatter;
    static constexpr auto scatterv = MPI_Iscatterv;
};

template <class Form, class Function, class... Arguments>
int called(Function function, MPI_Comm comm, MPI_Request &request, Arguments... arguments) {
    if constexpr (Form::kind == CallKind::blocking) return function(arguments..., comm);
    else if constexpr (Form::kind == CallKind::nonblocking) return function(arguments..., comm, &request);
    else
        return function(arguments..., comm, MPI_INFO_NULL, &request);
}

template <class Form>
struct In {
    using Count = typename Form::Count;

    template <class Function, class... Arguments>
    static void refused(const char *instead, MPI_Comm comm, Function function, Arguments... arguments) {
        MPI_Request request = MPI_REQUEST_NULL;
        int code = called<Form>(function, comm, request, arguments...), length = 0;
        char text[MPI_MAX_ERROR_STRING];
        check_class(code, MPI_ERR_BUFFER);
        MPI_Error_string(code, text, &length);
        std::string sentence = text;
        check(sentence.find("sendbuf and recvbuf share memory") != std::string::npos &&
                  sentence.find(instead) != std::string::npos,
              sentence);
    }

    template <class Function, class... Arguments>
    static void works(MPI_Comm comm, Function function, Arguments... arguments) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_equal(called<Form>(function, comm, request, arguments...), MPI_SUCCESS);
        if (Form::kind == CallKind::blocking) return;
        if (Form::kind == CallKind::persistent) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (Form::kind == CallKind::persistent) MPI_Request_free(&request);
    }

    static void moves() {
        constexpr int each = 4;
        auto ranks = static_cast<size_t>(size);
        std::vector<int> memory(each * (2 * ranks + 2));
        int *all = memory.data(), *own = all + rank * each, *behind = all + each * size;
        std::vector<Count> counts(ranks, each);
        std::vector<typename Form::Place> places, bytes;
        for (int r = 0; r < size; ++r) {
            places.push_back(r * each);
            bytes.push_back(r * each * 4);
        }
        std::vector<MPI_Datatype> types(ranks, MPI_INT);
        const auto *n = counts.data();
        const auto *p = places.data(), *b = bytes.data();
        const char *sendbuf = "MPI_IN_PLACE as sendbuf", *recvbuf = "MPI_IN_PLACE as recvbuf";
        for (int *sent : {all, own, behind - 1})
            refused(sendbuf, world, Form::allgather, sent, each, MPI_INT, all, each, MPI_INT);
        for (int *sent : {own, own + 1, all == own ? own : own - 1})
            refused(sendbuf, world, Form::allgatherv, sent, each, MPI_INT, all, n, p, MPI_INT);
        for (int *sent : {all, all + 1, behind - 1})
            refused(sendbuf, world, Form::alltoall, sent, each, MPI_INT, all, each, MPI_INT);
        for (int *sent : {all, all + 1}) {
            refused(sendbuf, world, Form::alltoallv, sent, n, p, MPI_INT, all, n, p, MPI_INT);
            refused(sendbuf, world, Form::alltoallw, sent, n, b, types.data(), all, n, b, types.data());
        }
        for (int *sent : {all, all + each - 1}) {
            refused(sendbuf, alone, Form::gather, sent, each, MPI_INT, all, each, MPI_INT, 0);
            refused(sendbuf, alone, Form::gatherv, sent, each, MPI_INT, all, n, p, MPI_INT, 0);
            refused(recvbuf, alone, Form::scatter, all, each, MPI_INT, sent, each, MPI_INT, 0);
            refused(recvbuf, alone, Form::scatterv, all, n, p, MPI_INT, sent, each, MPI_INT, 0);
        }
        works(world, Form::allgather, behind, each, MPI_INT, all, each, MPI_INT);
        works(world, Form::alltoall, behind, each, MPI_INT, all, each, MPI_INT);
        works(world, Form::gather, behind, each, MPI_INT, all, each, MPI_INT, 0);
        // recvbuf is significant at the root only.
        works(world, Form::gather, rank == 0 ? behind : all, each, MPI_INT, all, each, MPI_INT, 0);
        works(world, Form::scatter, all, each, MPI_INT, behind, each, MPI_INT, 0);
        works(world, Form::allgather, all, 0, MPI_INT, all, 0, MPI_INT);
        works(world, Form::alltoall, all, 0, MPI_INT, all, 0, MPI_INT);
        works(world, Form::gather, all, 0, MPI_INT, all, 0, MPI_INT, 0);
        works(world, Form::scatter, all, 0, MPI_INT, all, 0, MPI_INT, 0);
        between_the_elements(all);
    }

    // Each buffer lies in the gaps of the other.
    static void between_the_elements(int *all) {
        MPI_Datatype pairs;
        MPI_Type_create_resized(MPI_INT, 0, 8, &pairs);
        MPI_Type_commit(&pairs);
        for (int i = 0; i < 2 * size; i += 2) all[i] = rank * 100 + i;
        works(world, Form::alltoall, all, 1, pairs, all + 1, 1, pairs);
        for (int r = 0; r < size; ++r) check_equal(all[2 * r + 1], r * 100 + 2 * rank);
        MPI_Type_free(&pairs);
    }

    static void reductions() {
        constexpr int each = 3;
        auto ranks = static_cast<size_t>(size);
        std::vector<int> memory(each * (2 * ranks + 2));
        int *all = memory.data();
        std::vector<Count> counts(ranks, each);
        const char *instead = "MPI_IN_PLACE as sendbuf";
        for (int *got : {all, all + each - 1}) {
            refused(instead, world, Form::allreduce, all, got, each, MPI_INT, MPI_SUM);
            refused(instead, alone, Form::reduce, all, got, each, MPI_INT, MPI_SUM, 0);
            refused(instead, world, Form::scan, all, got, each, MPI_INT, MPI_SUM);
            refused(instead, world, Form::exscan, all, got, each, MPI_INT, MPI_SUM);
            refused(instead, world, Form::reduce_scatter, all, got, counts.data(), MPI_INT, MPI_SUM);
            refused(instead, world, Form::reduce_scatter_block, all, got, each, MPI_INT, MPI_SUM);
        }
        refused(instead, world, Form::reduce_scatter_block, all, all + each * size - 1, each, MPI_INT,
                MPI_SUM);
        works(world, Form::allreduce, all, all + each, each, MPI_INT, MPI_SUM);
        works(world, Form::allreduce, all + each, all, each, MPI_INT, MPI_SUM);
        works(world, Form::allreduce, all, all, 0, MPI_INT, MPI_SUM);
        works(world, Form::reduce_scatter_block, all, all + each * size, each, MPI_INT, MPI_SUM);
    }

    // Between the groups of an intercommunicator, MPI_IN_PLACE is not allowed. The error message must
    // therefore suggest other memory, not MPI_IN_PLACE.
    static void between_groups() {
        if (size < 2) return;
        std::vector<int> memory(static_cast<size_t>(size) * 2);
        int *all = memory.data();
        const char *instead = "other memory";
        refused(instead, both, Form::allgather, all, 1, MPI_INT, all, 1, MPI_INT);
        refused(instead, both, Form::alltoall, all, 1, MPI_INT, all, 1, MPI_INT);
        refused(instead, both, Form::allreduce, all, all, 1, MPI_INT, MPI_SUM);
        works(both, Form::allgather, all + size, 1, MPI_INT, all, 1, MPI_INT);
        works(both, Form::allreduce, all, all + 1, 1, MPI_INT, MPI_SUM);
    }

    static void run() {
        moves();
        reductions();
        between_groups();
    }
};

void local() {
    int numbers[4] = {1, 2, 3, 4};
    auto refused = [](int code, const std::source_location &where = std::source_location::current()) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        check_class(code, MPI_ERR_BUFFER, where);
        MPI_Error_string(code, text, &length);
        check(std::string(text).find("inbuf and inoutbuf share memory") != std::string::npos, text, where);
    };
    refused(MPI_Reduce_local(numbers, numbers, 3, MPI_INT, MPI_SUM));
    refused(MPI_Reduce_local_c(numbers, numbers + 1, 3, MPI_INT, MPI_SUM));
    refused(MPI_Reduce_local(numbers + 1, numbers, 2, MPI_INT, MPI_SUM));
    check_equal(MPI_Reduce_local(numbers, numbers + 2, 2, MPI_INT, MPI_SUM), MPI_SUCCESS);
    check(numbers[2] == 4 && numbers[3] == 6);
    check_equal(MPI_Reduce_local(numbers, numbers, 0, MPI_INT, MPI_SUM), MPI_SUCCESS);
}

// Neighbourhood collectives on a ring, where each rank has two neighbours.
void between_neighbors() {
    MPI_Comm ring;
    int periodic = 1, numbers[8] = {};
    MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    MPI_Request request;
    const MPI_Info none = MPI_INFO_NULL;
    for (int *sent : {numbers, numbers + 3}) {
        check_class(MPI_Neighbor_allgather(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring), MPI_ERR_BUFFER);
        check_class(MPI_Neighbor_alltoall_c(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring), MPI_ERR_BUFFER);
        check_class(MPI_Ineighbor_allgather(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring, &request),
                    MPI_ERR_BUFFER);
        check_class(MPI_Ineighbor_alltoall(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring, &request),
                    MPI_ERR_BUFFER);
        check_class(MPI_Neighbor_allgather_init(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring, none, &request),
                    MPI_ERR_BUFFER);
        check_class(MPI_Neighbor_alltoall_init(sent, 2, MPI_INT, numbers, 2, MPI_INT, ring, none, &request),
                    MPI_ERR_BUFFER);
    }
    check_equal(MPI_Neighbor_allgather(numbers + 4, 2, MPI_INT, numbers, 2, MPI_INT, ring), MPI_SUCCESS);
    check_equal(MPI_Neighbor_alltoall(numbers + 4, 2, MPI_INT, numbers, 2, MPI_INT, ring), MPI_SUCCESS);
    MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    both = MPI_COMM_NULL;
    if (size > 1) {
        MPI_Comm part;
        MPI_Comm_split(world, rank == 0, rank, &part);
        MPI_Intercomm_create(part, 0, world, rank == 0 ? 1 : 0, 5, &both);
        MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
        MPI_Comm_free(&part);
    }
    for (MPI_Comm comm : {world, alone, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    In<Blocking>::run();
    In<BlockingLarge>::run();
    In<Nonblocking>::run();
    In<NonblockingLarge>::run();
    In<Persistent>::run();
    In<PersistentLarge>::run();
    local();
    between_neighbors();
    for (MPI_Comm *comm : {&world, &alone, &both})
        if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    MPI_Finalize();
}
