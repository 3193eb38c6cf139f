// bench-collectives measures the time of every blocking collective operation on all ranks of the job, for
// each size. The size is that of one block: the data that a rank contributes, or that it receives from each
// rank. Reductions add int, and rank 0 is the root. The part iallreduce is MPI_Iallreduce followed by
// MPI_Wait. It is compared with allreduce, so time blocks (sampler.h) of the two alternate. The program is an
// ordinary MPI program, started by `lanyard bench collectives` or any mpirun.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

// Memory and arguments for one size. The send buffer and the receive buffer have one block for each rank.
struct Blocks {
    int size, count;  // size: number of ranks; count: number of int in a block
    std::vector<int> in, out, counts, displacements, bytes;
    std::vector<MPI_Datatype> types;

    Blocks(const Job& job, std::size_t block_bytes)
        : size(job.size),
          count(static_cast<int>(std::max<std::size_t>(1, block_bytes / sizeof(int)))),
          in(static_cast<std::size_t>(size) * count),
          out(in.size()),
          counts(size, count),
          displacements(size),
          bytes(size),
          types(size, MPI_INT) {
        for (int i = 0; i < size; ++i) {
            displacements[i] = i * count;
            bytes[i] = i * count * static_cast<int>(sizeof(int));
        }
    }
};

struct Operation {
    const char* name;
    std::function<void(Blocks&)> call;
    // Expected values on rank `rank` of `size` if every rank contributes rank + 1 everywhere. `first` is the
    // value of each element in the first block of the result, and `last` is the value of the last element of
    // the result. If the function returns 0, the value is not checked.
    std::function<int(int rank, int size)> first, last;
    // if true, the time blocks of this operation alternate with those of the operation before it in the list
    bool beside_previous = false;
};

int nothing(int, int) { return 0; }
int sum_of_all(int, int size) { return size * (size + 1) / 2; }
int sum_at_root(int rank, int size) { return rank == 0 ? sum_of_all(rank, size) : 0; }
int sum_through_own(int rank, int) { return (rank + 1) * (rank + 2) / 2; }
int sum_before_own(int rank, int) { return rank * (rank + 1) / 2; }
int from_root(int, int) { return 1; }
int last_rank(int, int size) { return size; }
int first_at_root(int rank, int) { return rank == 0 ? 1 : 0; }
int last_at_root(int rank, int size) { return rank == 0 ? size : 0; }

const std::vector<Operation>& operations() {
    constexpr auto world = [] { return MPI_COMM_WORLD; };
    static const std::vector<Operation> all = {
        {"barrier", [=](Blocks&) { MPI_Barrier(world()); }, nothing, nothing},
        {"bcast", [=](Blocks& b) { MPI_Bcast(b.out.data(), b.count, MPI_INT, 0, world()); },
         from_root, nothing},
        {"reduce",
         [=](Blocks& b) { MPI_Reduce(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, 0, world()); },
         sum_at_root, nothing},
        {"allreduce",
         [=](Blocks& b) { MPI_Allreduce(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, world()); },
         sum_of_all, nothing},
        {"iallreduce", [=](Blocks& b) {
             MPI_Request request;
             MPI_Iallreduce(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, world(), &request);
             MPI_Wait(&request, MPI_STATUS_IGNORE);
         }, sum_of_all, nothing, true},
        {"scan", [=](Blocks& b) { MPI_Scan(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, world()); },
         sum_through_own, nothing},
        {"exscan",
         [=](Blocks& b) { MPI_Exscan(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, world()); },
         sum_before_own, nothing},
        {"gather", [=](Blocks& b) {
             MPI_Gather(b.in.data(), b.count, MPI_INT, b.out.data(), b.count, MPI_INT, 0, world());
         }, first_at_root, last_at_root},
        {"gatherv", [=](Blocks& b) {
             MPI_Gatherv(b.in.data(), b.count, MPI_INT, b.out.data(), b.counts.data(), b.displacements.data(),
                         MPI_INT, 0, world());
         }, first_at_root, last_at_root},
        {"scatter", [=](Blocks& b) {
             MPI_Scatter(b.in.data(), b.count, MPI_INT, b.out.data(), b.count, MPI_INT, 0, world());
         }, from_root, nothing},
        {"scatterv", [=](Blocks& b) {
             MPI_Scatterv(b.in.data(), b.counts.data(), b.displacements.data(), MPI_INT, b.out.data(),
                          b.count, MPI_INT, 0, world());
         }, from_root, nothing},
        {"allgather", [=](Blocks& b) {
             MPI_Allgather(b.in.data(), b.count, MPI_INT, b.out.data(), b.count, MPI_INT, world());
         }, from_root, last_rank},
        {"allgatherv", [=](Blocks& b) {
             MPI_Allgatherv(b.in.data(), b.count, MPI_INT, b.out.data(), b.counts.data(),
                            b.displacements.data(), MPI_INT, world());
         }, from_root, last_rank},
        {"alltoall", [=](Blocks& b) {
             MPI_Alltoall(b.in.data(), b.count, MPI_INT, b.out.data(), b.count, MPI_INT, world());
         }, from_root, last_rank},
        {"alltoallv", [=](Blocks& b) {
             MPI_Alltoallv(b.in.data(), b.counts.data(), b.displacements.data(), MPI_INT, b.out.data(),
                           b.counts.data(), b.displacements.data(), MPI_INT, world());
         }, from_root, last_rank},
        {"alltoallw", [=](Blocks& b) {
             MPI_Alltoallw(b.in.data(), b.counts.data(), b.bytes.data(), b.types.data(), b.out.data(),
                           b.counts.data(), b.bytes.data(), b.types.data(), world());
         }, from_root, last_rank},
        {"reduce_scatter_block", [=](Blocks& b) {
             MPI_Reduce_scatter_block(b.in.data(), b.out.data(), b.count, MPI_INT, MPI_SUM, world());
         }, sum_of_all, nothing},
        {"reduce_scatter", [=](Blocks& b) {
             MPI_Reduce_scatter(b.in.data(), b.out.data(), b.counts.data(), MPI_INT, MPI_SUM, world());
         }, sum_of_all, nothing},
    };
    return all;
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Operation& operation : operations()) all.emplace_back(operation.name);
    return all;
}

void check(const Job& job, const Operation& operation, Blocks& blocks) {
    std::fill(blocks.in.begin(), blocks.in.end(), job.rank + 1);
    std::fill(blocks.out.begin(), blocks.out.end(), job.rank + 1);
    operation.call(blocks);
    int first = operation.first(job.rank, job.size), last = operation.last(job.rank, job.size);
    bool wrong = (first && (blocks.out.front() != first ||
                            blocks.out[static_cast<std::size_t>(blocks.count) - 1] != first)) ||
                 (last && blocks.out.back() != last);
    if (wrong)
        fail(job, std::string("MPI_") + operation.name + " of blocks of " + std::to_string(blocks.count) +
                      " int gave wrong values");
}

using Group = std::vector<const Operation*>;

void measure_group(const Job& job, const Group& group, std::size_t bytes, Report& report) {
    Blocks blocks(job, bytes);
    for (const Operation* operation : group) check(job, *operation, blocks);
    Settings turn = job.settings;
    if (group.size() > 1) turn.blocks = 1;
    std::vector<std::vector<double>> samples(group.size());
    for (int done = 0; done < job.settings.blocks; done += turn.blocks) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            auto taken = sample(turn, [&] { group[i]->call(blocks); });
            samples[i].insert(samples[i].end(), taken.begin(), taken.end());
        }
    }
    for (std::size_t i = 0; i < group.size(); ++i)
        report.add_named_size(group[i]->name, blocks.count * sizeof(int), "us",
                              summarise_as(std::move(samples[i]), [](double s) { return s * 1e6; }));
}

void measure(const Job& job, Report& report) {
    std::vector<Group> groups;
    for (const Operation& operation : operations()) {
        const auto& parts = job.settings.parts;
        if (std::find(parts.begin(), parts.end(), operation.name) == parts.end()) continue;
        if (!operation.beside_previous || groups.empty() || groups.back().back() != &operation - 1)
            groups.emplace_back();
        groups.back().push_back(&operation);
    }
    for (const Group& group : groups) {
        for (std::size_t bytes : job.settings.sizes_bytes) {
            measure_group(job, group, bytes, report);
            if (group.front()->name == std::string("barrier")) break;  // a barrier has no size
        }
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "collectives",
         .purpose = "Time of every blocking collective operation, per size of a rank's block in bytes.",
         .sizes = "8,1k,32k,1M",
         .blocks = 5,
         .parts = names()},
        any_ranks,
        {"time of one call", "us"},
        measure};
    return run_program(frame, argc, argv);
}
