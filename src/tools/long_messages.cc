// libexec/lanyard/long-messages: an MPI program in which two ranks of one node exchange so many long messages
// that the library learns the best copy methods (src/p2p/copy_methods.h). Rank 0 then prints a line "bytes
// once twice once_mapped twice_mapped" for each size. The numbers after the first one are rates in MB/s, or 0
// if a method was not tried. `lanyard info --paths` starts this program, with two ranks.
// Tested by: tests/command/test_lanyard.py.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int sizes = 10, exchanges = 30;
constexpr size_t least_bytes = size_t{16} * 1024, growth = 2;

using Rates = std::array<unsigned long long, sizes>;

void must(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    std::fprintf(stderr, "long-messages: %s ended with error %d\n", what, code);
    std::exit(1);
}

using Send = decltype(&MPI_Send);

void exchange(int rank, void *buffer, size_t bytes, Send send) {
    int count = static_cast<int>(bytes);
    for (int i = 0; i < exchanges; ++i)
        for (int from : {0, 1}) {
            if (rank == from) send(buffer, count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
            else MPI_Recv(buffer, count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
}

Rates read_rates(MPI_T_pvar_session session, const char *name) {
    int index = 0, count = 0;
    MPI_T_pvar_handle handle;
    must(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index), name);
    must(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count), name);
    Rates rates{};
    must(count == sizes ? MPI_T_pvar_read(session, handle, rates.data()) : MPI_ERR_COUNT, name);
    must(MPI_T_pvar_handle_free(session, &handle), name);
    return rates;
}

void print_rates() {
    int provided = 0;
    MPI_T_pvar_session session;
    must(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
    must(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
    std::vector<Rates> columns;
    for (const char *name :
         {"p2p_rate_once", "p2p_rate_twice", "p2p_rate_once_mapped", "p2p_rate_twice_mapped"})
        columns.push_back(read_rates(session, name));
    for (size_t size = 0; size < sizes; ++size) {
        std::printf("%zu", least_bytes << size);
        for (const Rates &rates : columns) std::printf(" %llu", rates[size]);
        std::printf("\n");
    }
    must(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
    must(MPI_T_finalize(), "MPI_T_finalize");
}

}  // namespace

int main(int argc, char **argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    constexpr size_t most_bytes = least_bytes << (sizes - 1);
    std::vector<char> own(most_bytes);
    void *allocated = nullptr;
    MPI_Alloc_mem(static_cast<MPI_Aint>(most_bytes), MPI_INFO_NULL, &allocated);
    // The shared buffers are mapped at first use. These messages ensure that this happens before the
    // measurement.
    exchange(rank, own.data(), 64 * 1024, MPI_Send);
    // Synchronous sends are used, because other messages of up to LANYARD_EAGER_LIMIT bytes are sent at once,
    // without a choice of copy method.
    for (size_t bytes = least_bytes; bytes <= most_bytes; bytes *= growth)
        for (void *buffer : {static_cast<void *>(own.data()), allocated})
            exchange(rank, buffer, bytes, MPI_Ssend);
    MPI_Free_mem(allocated);
    if (rank == 0) print_rates();
    MPI_Finalize();
    return 0;
}
