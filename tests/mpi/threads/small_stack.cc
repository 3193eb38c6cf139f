// Calls MPI in threads with small stacks. A call needs the same size of stack whatever it does
// (docs/debugging.md states how much stack a thread must have). Each part of the test runs in a thread of its
// own with 20 KiB of stack, of which the C library uses more than 2 KiB. The first contact of two ranks also
// happens in such a thread.
//
//     mpi-threads-small-stack            runs the parts in turn
//     mpi-threads-small-stack KiB        uses this much stack, prints each part's use (C library included)
//     mpi-threads-small-stack fatal      causes an unhandled error, which ends the job with its message
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "threads/crew.h"

static size_t stack_bytes = 20 * 1024;
static bool measures = false;
static int rank, size, to, from;
static constexpr int long_count = 1 << 18;
static std::vector<int> out(long_count, 1), in(long_count, 2);  // these are not on the stack
static std::vector<int> many_out, many_in;

static MPI_Comm world = MPI_COMM_NULL;

static void messages() {
    for (int count : {1, 100, 5000, long_count})
        MPI_Sendrecv(out.data(), count, MPI_INT, to, 1, in.data(), count, MPI_INT, from, 1, world,
                     MPI_STATUS_IGNORE);
    check_equal(in[long_count - 1], 1);
}

static void nonblocking() {
    static MPI_Request request[32];
    for (int i = 0; i < 16; ++i)
        MPI_Irecv(&in[static_cast<size_t>(i * 1000)], 1000, MPI_INT, from, i, world, &request[i]);
    for (int i = 0; i < 16; ++i)
        MPI_Isend(&out[static_cast<size_t>(i * 1000)], 1000, MPI_INT, to, i, world, &request[16 + i]);
    MPI_Waitall(32, request, MPI_STATUSES_IGNORE);
    MPI_Irecv(in.data(), long_count, MPI_INT, from, 1, world, &request[0]);
    MPI_Issend(out.data(), long_count, MPI_INT, to, 1, world, &request[1]);
    for (int left = 2; left > 0; --left) {
        int which;
        MPI_Waitany(2, request, &which, MPI_STATUS_IGNORE);
    }
}

static void probes() {
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int count;
    MPI_Isend(out.data(), 3000, MPI_INT, to, 2, world, &request);
    MPI_Mprobe(from, MPI_ANY_TAG, world, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check_equal(count, 3000);
    MPI_Mrecv(in.data(), count, MPI_INT, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void datatypes() {
    MPI_Datatype strided, whole;
    int lengths[2] = {1, 3}, places[2] = {0, 4};
    MPI_Type_vector(1000, 3, 7, MPI_INT, &strided);
    MPI_Type_indexed(2, lengths, places, strided, &whole);
    MPI_Type_commit(&whole);
    MPI_Sendrecv(out.data(), 1, whole, to, 3, in.data(), 1, whole, from, 3, world, MPI_STATUS_IGNORE);
    int packed = 0, place = 0;
    MPI_Pack_size(1, whole, world, &packed);
    check(static_cast<size_t>(packed) <= in.size() * sizeof(int));
    MPI_Pack(out.data(), 1, whole, in.data(), packed, &place, world);
    MPI_Type_free(&strided);
    MPI_Type_free(&whole);
}

static void sum(void *a, void *b, int *count, MPI_Datatype *) {
    for (int i = 0; i < *count; ++i) static_cast<int *>(b)[i] += static_cast<int *>(a)[i];
}

static void collectives() {
    MPI_Op op;
    MPI_Op_create(sum, 1, &op);
    for (int count : {1, 1000, long_count / 8}) {
        MPI_Barrier(world);
        MPI_Bcast(in.data(), count, MPI_INT, 0, world);
        MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, world);
        check_equal(in[0], size);
        MPI_Allreduce(out.data(), in.data(), count, MPI_INT, op, world);
        check_equal(in[static_cast<size_t>(count - 1)], size);
        MPI_Reduce(out.data(), in.data(), count, MPI_INT, MPI_MAX, size - 1, world);
        MPI_Scan(out.data(), in.data(), count, MPI_INT, MPI_SUM, world);
        check_equal(in[0], rank + 1);
        MPI_Gather(out.data(), count, MPI_INT, many_in.data(), count, MPI_INT, 0, world);
        MPI_Scatter(many_out.data(), count, MPI_INT, in.data(), count, MPI_INT, 0, world);
        MPI_Allgather(out.data(), count, MPI_INT, many_in.data(), count, MPI_INT, world);
        MPI_Alltoall(many_out.data(), count, MPI_INT, many_in.data(), count, MPI_INT, world);
        MPI_Reduce_scatter_block(many_out.data(), in.data(), count, MPI_INT, MPI_SUM, world);
    }
    MPI_Op_free(&op);
}

static void later_collectives() {
    MPI_Request request[3];
    MPI_Iallreduce(out.data(), in.data(), 1000, MPI_INT, MPI_SUM, world, &request[0]);
    MPI_Ialltoall(many_out.data(), 500, MPI_INT, many_in.data(), 500, MPI_INT, world, &request[1]);
    MPI_Ibarrier(world, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
}

static void communicators() {
    MPI_Comm copy, half, joined, both;
    MPI_Comm_dup(world, &copy);
    MPI_Comm_split(copy, rank % 2, rank, &half);
    use(half);
    MPI_Intercomm_create(half, 0, copy, 1 - rank % 2, 4, &joined);
    MPI_Barrier(joined);
    MPI_Intercomm_merge(joined, rank % 2, &both);
    use(both);
    MPI_Comm grid, graph;
    int sides[1] = {size}, around[1] = {1};
    MPI_Cart_create(copy, 1, sides, around, 1, &grid);
    MPI_Dist_graph_create_adjacent(copy, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Neighbor_alltoall(out.data(), 10, MPI_INT, in.data(), 10, MPI_INT, graph);
    MPI_Neighbor_allgather(out.data(), 10, MPI_INT, many_in.data(), 10, MPI_INT, grid);
    for (MPI_Comm *comm : {&grid, &graph, &both, &joined, &half, &copy}) MPI_Comm_free(comm);
}

// Error messages are long. The library must not need more stack to compose them.
static void errors() {
    MPI_Comm copy;
    static char sentence[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Comm_dup(world, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    int code = MPI_Send(out.data(), 1, MPI_INT, size + 5, 5, copy);
    check_class(code, MPI_ERR_RANK);
    MPI_Error_string(code, sentence, &length);
    check(std::strstr(sentence, "MPI_Send") != nullptr, sentence);
    MPI_Request request;
    MPI_Isend(out.data(), 10, MPI_INT, rank, 5, copy, &request);
    check_class(MPI_Recv(in.data(), 3, MPI_INT, rank, 5, copy, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}

static void partitions() {
    MPI_Request request[2];
    int flag = 0;
    MPI_Psend_init(out.data(), 4, 500, MPI_INT, to, 6, world, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in.data(), 2, 1000, MPI_INT, from, 6, world, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    for (int i = 0; i < 4; ++i) MPI_Pready(i, request[0]);
    while (!flag) MPI_Parrived(request[1], 1, &flag);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void tool() {
    int provided, count = 0;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_pvar_get_num(&count);
    check(count > 0);
    MPI_T_cvar_get_num(&count);
    check(count > 0);
    MPI_T_event_get_num(&count);
    MPI_T_finalize();
}

static void noted() {
    char name[MPI_MAX_INFO_KEY] = "what", value[64] = "ever";
    MPI_Info info;
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, name, value);
    MPI_Info_get(info, name, 63, value, &flag);
    MPI_Info_free(&info);
}

static void fatal() { MPI_Send(out.data(), 1, MPI_INT, size + 5, 5, world); }

static const struct Part {
    const char *name;
    void (*run)();
} parts[] = {{"messages", messages},
             {"nonblocking", nonblocking},
             {"probes", probes},
             {"datatypes", datatypes},
             {"collectives", collectives},
             {"later", later_collectives},
             {"communicators", communicators},
             {"errors", errors},
             {"info", noted},
             {"partitions", partitions},
             {"tool", tool}};

static void *run_part(void *part) {
    static_cast<const Part *>(part)->run();
    return nullptr;
}

// Runs one part in a thread. An inaccessible page lies below its stack, so that an overflow is detected.
static void on_thread(const Part &part) {
    constexpr size_t page = 4096;
    void *room =
        mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(room != MAP_FAILED && mprotect(room, page, PROT_NONE) == 0, "no memory for a stack");
    auto *stack = static_cast<unsigned char *>(room) + page;
    std::memset(stack, 0xa5, stack_bytes);
    pthread_attr_t how;
    pthread_t thread;
    pthread_attr_init(&how);
    check(pthread_attr_setstack(&how, stack, stack_bytes) == 0 &&
              pthread_create(&thread, &how, run_part, const_cast<Part *>(&part)) == 0 &&
              pthread_join(thread, nullptr) == 0,
          "no thread with so little stack can be made");
    if (measures) {
        auto *used = std::find_if(stack, stack + stack_bytes, [](auto byte) { return byte != 0xa5; });
        std::printf("rank %d, %s: %td bytes\n", rank, part.name, stack + stack_bytes - used);
    }
    munmap(room, page + stack_bytes);
}

int main(int argc, char **argv) {
    begin(argc, argv);
    bool fails = argc > 1 && std::strcmp(argv[1], "fatal") == 0;
    if (argc > 1 && !fails) {
        stack_bytes = std::strtoul(argv[1], nullptr, 10) * 1024;
        measures = true;
    }
    Ranks ranks;
    rank = ranks.rank, size = ranks.size, to = ranks.to, from = ranks.from;
    world = MPI_COMM_WORLD;
    many_out.assign(static_cast<size_t>(size) * long_count / 8, 1);
    many_in = many_out;
    if (fails) on_thread({"fatal", fatal});
    for (const Part &part : parts) on_thread(part);
    return MPI_Finalize();
}
