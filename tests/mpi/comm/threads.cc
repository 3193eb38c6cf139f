// Several threads of each rank create communicators at the same time. Each thread creates some from its own
// parent. All threads also create some from one common parent, with MPI_Comm_create_group,
// MPI_Comm_create_from_group and the corresponding functions for intercommunicators. The tags of these
// functions keep the threads apart.
#include "check.h"

#include <thread>
#include <vector>

namespace {

constexpr int threads = 3, rounds = 30;

// The leaders of all threads communicate in MPI_COMM_WORLD. They use the same tags as the calls of
// MPI_Comm_create_group.
void make_inter(int number, MPI_Comm half) {
    int rank = rank_in(MPI_COMM_WORLD), sum = 0, others = 0, own = rank_in(half) + 1;
    MPI_Comm inter, merged;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, number, &inter);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter);
    MPI_Comm_remote_size(inter, &others);
    check_equal(sum, others * (others + 1) / 2);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    use(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
}

void make_inter_of_groups(const std::string &tag, MPI_Comm half) {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), sum = 0;
    std::vector<int> others;
    for (int other = 1 - rank % 2; other < size; other += 2) others.push_back(other);
    MPI_Group all, own, other;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(half, &own);
    MPI_Group_incl(all, static_cast<int>(others.size()), others.data(), &other);
    MPI_Comm inter;
    MPI_Intercomm_create_from_groups(own, 0, other, 0, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &inter);
    int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    check_equal(sum, static_cast<int>(others.size()));
    MPI_Comm_free(&inter);
    for (MPI_Group *group : {&all, &own, &other}) MPI_Group_free(group);
}

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
        if (size_of(MPI_COMM_WORLD) > 1) {
            make_inter(number, part);
            make_inter_of_groups(tag, part);
        }
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
