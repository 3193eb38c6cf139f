// Tests every operation that moves data, on every predefined datatype and on a derived one with gaps, with
// and without MPI_IN_PLACE, with even and uneven blocks. The results are compared with what the standard
// requires.
#include "elements.h"

namespace {

int rank, size;

// Element i of the data that rank `from` sends to rank `to`.
Plain value(const Row &row, int from, int to, int i) {
    long a = from * 7 + to * 3 + i;
    if (row.kind == Kind::logical) return {a % 2, 0};
    return {a % 100, (from + 2 * to + i) % 50};
}

// A layout of blocks. If `even`, each block has two elements. Otherwise the lengths differ between pairs of
// ranks, and each block is followed by a gap.
struct Blocks {
    std::vector<int> counts, displacements;
    int elements = 0;

    Blocks(bool even, int salt) {
        for (int r = 0; r < size; ++r) {
            counts.push_back(even ? 2 : (r + salt) % 3);
            displacements.push_back(elements);
            elements += counts.back() + (even ? 0 : 1);
        }
    }
};

void fill(const Row &row, Elements &elements, const Blocks &blocks, int at, int from, int to) {
    auto r = static_cast<size_t>(at);
    for (int i = 0; i < blocks.counts[r]; ++i)
        elements.put(blocks.displacements[r] + i, value(row, from, to, i));
}

void expect_block(const Row &row, Elements &elements, const Blocks &blocks, int at, int from, int to,
                  const std::string &what) {
    auto r = static_cast<size_t>(at);
    for (int i = 0; i < blocks.counts[r]; ++i)
        expect(elements, blocks.displacements[r] + i, value(row, from, to, i), what);
}

void succeed(int code, const std::string &what) {
    if (code != MPI_SUCCESS) fail(what + " fails");
}

std::string title(const char *call, const Row &row, bool in_place) {
    return std::string(call) + " of " + row.name + (in_place ? " in place" : "");
}

void check_bcast(const Row &row, int root) {
    Elements data(row, 5);
    for (int i = 0; rank == root && i < 5; ++i) data.put(i, value(row, root, 0, i));
    succeed(MPI_Bcast(data.data(), 5, row.type, root, MPI_COMM_WORLD), title("MPI_Bcast", row, false));
    for (int i = 0; i < 5; ++i) expect(data, i, value(row, root, 0, i), title("MPI_Bcast", row, false));
}

void check_gather(const Row &row, int root, bool even, bool in_place) {
    std::string what = title(even ? "MPI_Gather" : "MPI_Gatherv", row, in_place);
    Blocks blocks(even, root);
    bool here = in_place && rank == root;
    int count = blocks.counts[static_cast<size_t>(rank)];
    Elements own(row, count), all(row, blocks.elements);
    for (int i = 0; i < count; ++i) own.put(i, value(row, rank, root, i));
    if (here) fill(row, all, blocks, rank, rank, root);
    const void *sent = here ? MPI_IN_PLACE : own.data();
    succeed(even ? MPI_Gather(sent, count, row.type, all.data(), 2, row.type, root, MPI_COMM_WORLD)
                 : MPI_Gatherv(sent, count, row.type, all.data(), blocks.counts.data(),
                               blocks.displacements.data(), row.type, root, MPI_COMM_WORLD),
            what);
    for (int r = 0; rank == root && r < size; ++r) expect_block(row, all, blocks, r, r, root, what);
}

void check_scatter(const Row &row, int root, bool even, bool in_place) {
    std::string what = title(even ? "MPI_Scatter" : "MPI_Scatterv", row, in_place);
    Blocks blocks(even, root);
    bool here = in_place && rank == root;
    int count = blocks.counts[static_cast<size_t>(rank)];
    Elements all(row, blocks.elements), own(row, count);
    for (int r = 0; rank == root && r < size; ++r) fill(row, all, blocks, r, root, r);
    void *received = here ? MPI_IN_PLACE : own.data();
    succeed(even ? MPI_Scatter(all.data(), 2, row.type, received, count, row.type, root, MPI_COMM_WORLD)
                 : MPI_Scatterv(all.data(), blocks.counts.data(), blocks.displacements.data(), row.type,
                                received, count, row.type, root, MPI_COMM_WORLD),
            what);
    for (int i = 0; !here && i < count; ++i) expect(own, i, value(row, root, rank, i), what);
}

void check_allgather(const Row &row, bool even, bool in_place) {
    std::string what = title(even ? "MPI_Allgather" : "MPI_Allgatherv", row, in_place);
    Blocks blocks(even, 1);
    int count = blocks.counts[static_cast<size_t>(rank)];
    Elements own(row, count), all(row, blocks.elements);
    for (int i = 0; i < count; ++i) own.put(i, value(row, rank, 0, i));
    if (in_place) fill(row, all, blocks, rank, rank, 0);
    const void *sent = in_place ? MPI_IN_PLACE : own.data();
    succeed(even ? MPI_Allgather(sent, count, row.type, all.data(), 2, row.type, MPI_COMM_WORLD)
                 : MPI_Allgatherv(sent, count, row.type, all.data(), blocks.counts.data(),
                                  blocks.displacements.data(), row.type, MPI_COMM_WORLD),
            what);
    for (int r = 0; r < size; ++r) expect_block(row, all, blocks, r, r, 0, what);
}

enum class Form { even, uneven, typed };

void check_alltoall(const Row &row, Form form, bool in_place) {
    const char *names[] = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"};
    std::string what = title(names[static_cast<int>(form)], row, in_place);
    Blocks blocks(form == Form::even, rank);
    Elements out(row, blocks.elements), in(row, blocks.elements);
    for (int r = 0; r < size; ++r) fill(row, in_place ? in : out, blocks, r, rank, r);
    const void *sent = in_place ? MPI_IN_PLACE : out.data();
    const int *counts = blocks.counts.data(), *displacements = blocks.displacements.data();
    int code = MPI_SUCCESS;
    if (form == Form::even) code = MPI_Alltoall(sent, 2, row.type, in.data(), 2, row.type, MPI_COMM_WORLD);
    if (form == Form::uneven)
        code = MPI_Alltoallv(sent, counts, displacements, row.type, in.data(), counts, displacements,
                             row.type, MPI_COMM_WORLD);
    if (form == Form::typed) {
        MPI_Aint lower = 0, extent = 0;
        MPI_Type_get_extent(row.type, &lower, &extent);
        std::vector<int> bytes;
        for (int d : blocks.displacements) bytes.push_back(d * static_cast<int>(extent));
        std::vector<MPI_Datatype> types(static_cast<size_t>(size), row.type);
        code = MPI_Alltoallw(sent, counts, bytes.data(), types.data(), in.data(), counts, bytes.data(),
                             types.data(), MPI_COMM_WORLD);
    }
    succeed(code, what);
    for (int r = 0; r < size; ++r) expect_block(row, in, blocks, r, r, rank, what);
}

void check_all(const Row &row) {
    for (int root : {0, size - 1}) {
        check_bcast(row, root);
        for (bool even : {true, false})
            for (bool in_place : {false, true}) {
                check_gather(row, root, even, in_place);
                check_scatter(row, root, even, in_place);
            }
    }
    for (bool in_place : {false, true}) {
        for (bool even : {true, false}) check_allgather(row, even, in_place);
        for (Form form : {Form::even, Form::uneven, Form::typed}) check_alltoall(row, form, in_place);
    }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const Row &row : table)
        if (row.supported()) check_all(row);

    Row gaps{MPI_DATATYPE_NULL, "an int with a gap behind", Kind::signed_integer, 4, Kind::none, 0, ""};
    MPI_Type_create_resized(MPI_INT, 0, 12, &gaps.type);
    MPI_Type_commit(&gaps.type);
    check_all(gaps);
    MPI_Type_free(&gaps.type);
    return report();
}
