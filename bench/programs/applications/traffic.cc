// See traffic.h.
#include "bench/programs/applications/traffic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>
#include <mpi.h>

#include "bench/programs/blocks.h"

namespace lanyard::bench {

namespace {

Traffic traffic;
bool counting = false;

double bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<double>(count) * size;
}

void count_message(int count, MPI_Datatype type, int to) {
    // a negative rank is MPI_PROC_NULL, to which no message is sent
    if (!counting || to < 0) return;
    double bytes = bytes_of(count, type);
    ++traffic.messages;
    traffic.bytes += bytes;
    traffic.largest = std::max(traffic.largest, bytes);
    int place = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
    ++traffic.by_size[static_cast<std::size_t>(std::min(place, Traffic::size_classes - 1))];
    traffic.sent_to[static_cast<std::size_t>(to)] = 1;
}

void count_collective(const char* name, double bytes) {
    if (!counting) return;
    Collectives& of_name = traffic.collectives[name];
    ++of_name.calls;
    of_name.bytes += bytes;
}

template <class Call>
int timed(Call call) {
    double start = now_seconds();
    int code = call();
    traffic.seconds += now_seconds() - start;
    return code;
}

int ranks_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

}  // namespace

void start_counting(int ranks) {
    traffic = {};
    traffic.sent_to.resize(static_cast<std::size_t>(ranks));
    counting = true;
}

Traffic stop_counting() {
    counting = false;
    return traffic;
}

Totals total(const Traffic& mine) {
    Totals all;
    // The collectives that rank 0 has called stand for those of all ranks. The ranks have called the same
    // collectives, except on communicators of a part of the job.
    all.sum.collectives = mine.collectives;
    int ranks = ranks_of(MPI_COMM_WORLD);
    int own = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &own);
    int peers = static_cast<int>(std::count(mine.sent_to.begin(), mine.sent_to.end(), 1)) -
                mine.sent_to[static_cast<std::size_t>(own)];
    PMPI_Allreduce(&mine.messages, &all.sum.messages, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine.bytes, &all.sum.bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine.largest, &all.sum.largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine.seconds, &all.sum.seconds, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine.seconds, &all.most_seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine.seconds, &all.least_seconds, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(mine.by_size.data(), all.sum.by_size.data(), Traffic::size_classes, MPI_LONG, MPI_SUM,
                   MPI_COMM_WORLD);
    PMPI_Allreduce(&peers, &all.peers, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    all.sum.seconds /= ranks;
    return all;
}

std::string describe(const Totals& totals, double seconds) {
    constexpr int bar_length = 40;
    const Traffic& sum = totals.sum;
    std::string text;
    if (sum.messages > 0)
        text += fmt::format(
            "    {} message{} with {:.4g} MB, {:.4g} a second with {:.4g} MB/s; the largest had {:.0f} B; "
            "a rank sent to {} other{} at most\n",
            sum.messages, sum.messages == 1 ? "" : "s", sum.bytes / 1e6,
            static_cast<double>(sum.messages) / seconds, sum.bytes / 1e6 / seconds, sum.largest, totals.peers,
            totals.peers == 1 ? "" : "s");
    for (const auto& [name, of_name] : sum.collectives)
        text += fmt::format("    {} {} times, {:.4g} MB of each rank\n", name, of_name.calls,
                            of_name.bytes / 1e6);
    // Shows, as published figures do, the cumulative share: the share of messages up to this length.
    long so_far = 0;
    for (std::size_t k = 0; k < sum.by_size.size(); ++k) {
        if (sum.by_size[k] == 0) continue;
        so_far += sum.by_size[k];
        double share = static_cast<double>(so_far) / static_cast<double>(sum.messages);
        text += fmt::format("    to {:>11} B {:>10} {:>6.1f} % {}\n", (std::uint64_t{1} << k) - 1,
                            sum.by_size[k], 100 * share,
                            std::string(static_cast<std::size_t>(std::lround(share * bar_length)), '#'));
    }
    return text;
}

}  // namespace lanyard::bench

// These are the MPI functions that the applications call. Because they are defined here, they are called
// instead of the library's.
using namespace lanyard::bench;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    count_message(count, type, to);
    return timed([&] { return PMPI_Send(data, count, type, to, tag, comm); });
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    count_message(count, type, to);
    return timed([&] { return PMPI_Isend(data, count, type, to, tag, comm, request); });
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    return timed([&] { return PMPI_Recv(data, count, type, from, tag, comm, status); });
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
    return timed([&] { return PMPI_Irecv(data, count, type, from, tag, comm, request); });
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
    count_message(out_count, out_type, to);
    return timed([&] {
        return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm,
                             status);
    });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return timed([&] { return PMPI_Wait(request, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    return timed([&] { return PMPI_Waitall(count, requests, statuses); });
}

int MPI_Barrier(MPI_Comm comm) {
    count_collective("MPI_Barrier", 0);
    return timed([&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    count_collective("MPI_Bcast", rank == root ? bytes_of(count, type) : 0);
    return timed([&] { return PMPI_Bcast(data, count, type, root, comm); });
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    count_collective("MPI_Allreduce", bytes_of(count, type));
    return timed([&] { return PMPI_Allreduce(out, in, count, type, op, comm); });
}

int MPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm) {
    count_collective("MPI_Allgather", bytes_of(out_count, out_type));
    return timed([&] { return PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, comm); });
}

int MPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm) {
    count_collective("MPI_Alltoall", bytes_of(out_count, out_type) * ranks_of(comm));
    return timed([&] { return PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm); });
}

int MPI_Alltoallv(const void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type,
                  void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, MPI_Comm comm) {
    double elements = 0;
    for (int rank = 0; rank < ranks_of(comm); ++rank) elements += out_counts[rank];
    count_collective("MPI_Alltoallv", elements * bytes_of(1, out_type));
    return timed([&] {
        return PMPI_Alltoallv(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm);
    });
}

}  // extern "C"
