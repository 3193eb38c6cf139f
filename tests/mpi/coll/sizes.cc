// Tests reductions and broadcasts of sizes from zero to 1 MiB, so that every algorithm that may be chosen is
// used. The reductions use user-defined operations, some of which do not commute. Collectives of all kinds
// follow each other on several communicators.
#include "elements.h"

namespace {

int rank, size;

// The function x -> a x + b modulo 2^32. Composition of such functions is associative but not commutative.
struct Line {
    uint32_t a, b;
    bool operator==(const Line &) const = default;
};

Line after(Line first, Line second) { return {first.a * second.a, first.a * second.b + first.b}; }

void compose(void *in, void *inout, int *count, MPI_Datatype *) {
    auto *low = static_cast<Line *>(in), *high = static_cast<Line *>(inout);
    for (int i = 0; i < *count; ++i) high[i] = after(low[i], high[i]);
}

void add(void *in, void *inout, int *count, MPI_Datatype *) {
    auto *low = static_cast<Line *>(in), *high = static_cast<Line *>(inout);
    for (int i = 0; i < *count; ++i) high[i] = {low[i].a + high[i].a, low[i].b + high[i].b};
}

Line line_of(int r, int i) {
    return {static_cast<uint32_t>(r * 17 + i * 5 + 3), static_cast<uint32_t>(r * 29 + i)};
}

Line expected(bool ordered, int ranks, int i) {
    Line result = line_of(0, i);
    for (int r = 1; r < ranks; ++r) {
        Line next = line_of(r, i);
        result = ordered ? after(result, next) : Line{result.a + next.a, result.b + next.b};
    }
    return result;
}

void check(const std::vector<Line> &lines, int count, int first, int ranks, bool ordered, const char *what) {
    for (int i = 0; i < count; ++i)
        if (!(lines[static_cast<size_t>(i)] == expected(ordered, ranks, first + i)))
            return fail(std::string(what) + (ordered ? " ordered" : "") + " of " + std::to_string(count) +
                        " elements is wrong at " + std::to_string(i));
}

void check_reductions(MPI_Comm comm, MPI_Datatype type, MPI_Op op, bool ordered, int count, int root) {
    auto n = static_cast<size_t>(count);
    std::vector<Line> own(n), result(n);
    for (int i = 0; i < count; ++i) own[static_cast<size_t>(i)] = line_of(rank, i);
    MPI_Reduce(own.data(), result.data(), count, type, op, root, comm);
    if (rank == root) check(result, count, 0, size, ordered, "MPI_Reduce");
    MPI_Allreduce(own.data(), result.data(), count, type, op, comm);
    check(result, count, 0, size, ordered, "MPI_Allreduce");
    result = own;
    MPI_Allreduce(MPI_IN_PLACE, result.data(), count, type, op, comm);
    check(result, count, 0, size, ordered, "MPI_Allreduce in place");
    MPI_Scan(own.data(), result.data(), count, type, op, comm);
    check(result, count, 0, rank + 1, ordered, "MPI_Scan");
    MPI_Exscan(own.data(), result.data(), count, type, op, comm);
    if (rank > 0) check(result, count, 0, rank, ordered, "MPI_Exscan");
    int part = count / size;
    if (part * size == count) {
        MPI_Reduce_scatter_block(own.data(), result.data(), part, type, op, comm);
        check(result, part, rank * part, size, ordered, "MPI_Reduce_scatter_block");
    }
}

void check_bcast(MPI_Comm comm, int bytes, int root) {
    std::vector<unsigned char> data(static_cast<size_t>(bytes));
    for (int i = 0; rank == root && i < bytes; ++i)
        data[static_cast<size_t>(i)] = static_cast<unsigned char>(i * 31 + root);
    MPI_Bcast(data.data(), bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; ++i)
        if (data[static_cast<size_t>(i)] != static_cast<unsigned char>(i * 31 + root))
            return fail("MPI_Bcast of " + std::to_string(bytes) + " bytes is wrong at " + std::to_string(i));
}

// All ranks exchange blocks of `count` int.
void check_moves(MPI_Comm comm, int count) {
    auto all = static_cast<size_t>(count * size);
    std::vector<int> out(all), in(all, -1);
    for (int i = 0; i < count * size; ++i) out[static_cast<size_t>(i)] = rank * 1000000 + i;
    MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, comm);
    for (int i = 0; i < count * size; ++i)
        if (in[static_cast<size_t>(i)] != i / count * 1000000 + rank * count + i % count)
            return fail("MPI_Alltoall of " + std::to_string(count));
    MPI_Allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, comm);
    for (int i = 0; i < count * size; ++i)
        if (in[static_cast<size_t>(i)] != i / count * 1000000 + i % count)
            return fail("MPI_Allgather of " + std::to_string(count));
    int root = count % size;
    MPI_Gather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, root, comm);
    MPI_Scatter(in.data(), count, MPI_INT, out.data(), count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i)
        if (out[static_cast<size_t>(i)] != rank * 1000000 + i)
            return fail("MPI_Gather and MPI_Scatter of " + std::to_string(count));
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype line;
    MPI_Type_contiguous(2, MPI_UINT32_T, &line);
    MPI_Type_commit(&line);
    MPI_Op composing, adding;
    MPI_Op_create(compose, 0, &composing);
    MPI_Op_create(add, 1, &adding);
    MPI_Comm second;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    int round = 0;
    for (int count : {0, 1, 2, 60, 511, 512, 4200, 60000, 131072}) {
        for (MPI_Comm comm : {MPI_COMM_WORLD, second}) {
            check_reductions(comm, line, composing, true, count, ++round % size);
            check_reductions(comm, line, adding, false, count, ++round % size);
            check_bcast(comm, count * 8, ++round % size);
            if (count <= 60000 && count > 0) check_moves(comm, count);
            MPI_Barrier(comm);
        }
    }
    MPI_Comm_free(&second);
    MPI_Op_free(&composing);
    MPI_Op_free(&adding);
    MPI_Type_free(&line);
    return report();
}
