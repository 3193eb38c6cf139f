// Tests MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms: rings with every size, strips,
// wildcards, and MPI_PROC_NULL at the ends of a line.
#include "area.h"

namespace {

int ring_to, ring_from, own_rank;

void both_ways(size_t bytes, bool strided_out, bool strided_in) {
    Area out(bytes, strided_out), in(bytes, strided_in);
    MPI_Status status;
    MPI_Request request;
    out.fill(static_cast<unsigned>(own_rank));
    in.clear();
    MPI_Sendrecv(out.data(), out.count(), out.type(), ring_to, 1, in.data(), in.count(), in.type(), ring_from,
                 1, MPI_COMM_WORLD, &status);
    check_status(status, ring_from, 1, static_cast<MPI_Count>(bytes));
    in.verify(static_cast<unsigned>(ring_from));
    in.clear();
    MPI_Isendrecv(out.data(), out.count(), out.type(), ring_to, 2, in.data(), in.count(), in.type(),
                  MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    check_status(status, ring_from, 2, static_cast<MPI_Count>(bytes));
    in.verify(static_cast<unsigned>(ring_from));
    // The messages of MPI_Sendrecv must match ordinary sends and receives.
    in.clear();
    MPI_Isend(out.data(), out.count(), out.type(), ring_to, 3, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, in.data(), in.count(), in.type(), ring_from, 3,
                 MPI_COMM_WORLD, &status);
    check_status(status, ring_from, 3, static_cast<MPI_Count>(bytes));
    in.verify(static_cast<unsigned>(ring_from));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void in_place(size_t bytes, bool strided) {
    Area area(bytes, strided);
    MPI_Status status;
    MPI_Request request;
    area.fill(static_cast<unsigned>(own_rank));
    MPI_Sendrecv_replace(area.data(), area.count(), area.type(), ring_to, 4, ring_from, 4, MPI_COMM_WORLD,
                         &status);
    check_status(status, ring_from, 4, static_cast<MPI_Count>(bytes));
    area.verify(static_cast<unsigned>(ring_from));
    area.fill(static_cast<unsigned>(own_rank + 1));
    MPI_Isendrecv_replace(area.data(), area.count(), area.type(), ring_to, 5, ring_from, 5, MPI_COMM_WORLD,
                          &request);
    MPI_Wait(&request, &status);
    check_status(status, ring_from, 5, static_cast<MPI_Count>(bytes));
    area.verify(static_cast<unsigned>(ring_from + 1));
}

// Communicates along a line instead of a ring. At its ends, the ranks communicate with MPI_PROC_NULL.
void line(int size) {
    int right = own_rank + 1 < size ? own_rank + 1 : MPI_PROC_NULL,
        left = own_rank > 0 ? own_rank - 1 : MPI_PROC_NULL;
    int heard = -5, value = own_rank * 10;
    MPI_Status status;
    MPI_Request request;
    MPI_Sendrecv(&own_rank, 1, MPI_INT, right, 6, &heard, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &status);
    check_equal(heard, left == MPI_PROC_NULL ? -5 : left);
    check_status(status, left, left == MPI_PROC_NULL ? MPI_ANY_TAG : 6, left == MPI_PROC_NULL ? 0 : 4);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &status);
    check_equal(value, left == MPI_PROC_NULL ? own_rank * 10 : left * 10);
    heard = -5;
    MPI_Isendrecv(&own_rank, 1, MPI_INT, right, 8, &heard, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    check_equal(heard, left == MPI_PROC_NULL ? -5 : left);
    check_status(status, left, left == MPI_PROC_NULL ? MPI_ANY_TAG : 8, left == MPI_PROC_NULL ? 0 : 4);
    value = own_rank * 10;
    MPI_Isendrecv_replace(&value, 1, MPI_INT, right, 9, left, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    check_equal(value, left == MPI_PROC_NULL ? own_rank * 10 : left * 10);
}

// Starts several operations at once and completes them together.
void several() {
    constexpr int count = 20;
    int out[count], in[count];
    MPI_Request requests[count];
    for (int i = 0; i < count; ++i) {
        out[i] = own_rank * 100 + i;
        in[i] = -1;
        MPI_Isendrecv(&out[i], 1, MPI_INT, ring_to, i, &in[i], 1, MPI_INT, ring_from, i, MPI_COMM_WORLD,
                      &requests[i]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) check_equal(in[i], ring_from * 100 + i);
}

// The datatypes may be freed while the operation is under way.
void types_freed(int size) {
    MPI_Datatype pair_out, pair_in;
    MPI_Type_vector(20000, 1, 2, MPI_INT, &pair_out);
    MPI_Type_contiguous(20000, MPI_INT, &pair_in);
    MPI_Type_commit(&pair_out);
    MPI_Type_commit(&pair_in);
    std::vector<int> out(40000), in(20000, -1);
    for (size_t i = 0; i < out.size(); ++i) out[i] = own_rank * 1000000 + static_cast<int>(i);
    MPI_Request request;
    MPI_Isendrecv(out.data(), 1, pair_out, ring_to, 1, in.data(), 1, pair_in, ring_from, 1, MPI_COMM_WORLD,
                  &request);
    MPI_Type_free(&pair_out);
    MPI_Type_free(&pair_in);
    for (int i = 0; i < 10; ++i) {  // these datatypes may get the memory of the freed ones
        MPI_Datatype other;
        MPI_Type_contiguous(3 + i + size, MPI_DOUBLE, &other);
        MPI_Type_free(&other);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < in.size(); ++i) check_equal(in[i], ring_from * 1000000 + 2 * static_cast<int>(i));
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = size_of(MPI_COMM_WORLD);
    own_rank = rank_in(MPI_COMM_WORLD);
    ring_to = (own_rank + 1) % size;
    ring_from = (own_rank + size - 1) % size;
    for (size_t bytes : all_sizes())
        for (bool strided : {false, true}) {
            both_ways(bytes, strided, false);
            both_ways(bytes, strided, true);
            in_place(bytes, strided);
        }
    line(size);
    several();
    types_freed(size);
    MPI_Finalize();
}
