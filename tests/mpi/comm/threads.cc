// Several threads of each rank make communicators at once: each thread out of its own parent, and all out of one parent by
// MPI_Comm_create_group and MPI_Comm_create_from_group, which tags keep apart.
#include "check.h"

#include <thread>
#include <vector>

namespace {

constexpr int threads = 3, rounds = 30;

void work(int number, MPI_Comm parent) {
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    std::string tag = "thread " + std::to_string(number);
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm copy, part, of_group, from_group, later;
        MPI_Request request;
        MPI_Comm_idup(parent, &later, &request);
        MPI_Comm_dup(parent, &copy);
        MPI_Comm_split(copy, rank_in(copy) % 2, 0, &part);
        MPI_Comm_create_group(MPI_COMM_WORLD, all, number, &of_group);
        MPI_Comm_create_from_group(all, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &from_group);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (MPI_Comm *comm : {&copy, &part, &of_group, &from_group, &later}) {
            use(*comm);
            MPI_Comm_free(comm);
        }
    }
    MPI_Group_free(&all);
}

}  // namespace

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check(provided == MPI_THREAD_MULTIPLE, "the library does not allow several threads");
    std::vector<MPI_Comm> parents(threads);
    for (MPI_Comm &parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(work, i, parents[static_cast<size_t>(i)]);
    for (std::thread &thread : running) thread.join();
    for (MPI_Comm &parent : parents) MPI_Comm_free(&parent);
    MPI_Finalize();
}
