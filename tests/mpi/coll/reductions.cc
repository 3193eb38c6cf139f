// Tests every reduction operation on every predefined datatype, with and without MPI_IN_PLACE, and compares
// the result with a plain loop. If the standard does not allow an operation on a datatype (MPI-5.0 6.9.2),
// the call must report MPI_ERR_OP.
#include "elements.h"

namespace {

struct Operation {
    MPI_Op op;
    const char *name;
    Plain (*combine)(Plain low, Plain high, bool complex);
};

Plain location(Plain low, Plain high, bool low_wins) {
    if (low.a == high.a) return {low.a, low.b < high.b ? low.b : high.b};
    return low_wins ? low : high;
}

const Operation operations[] = {
    {MPI_SUM, "MPI_SUM", [](Plain x, Plain y, bool) { return Plain{x.a + y.a, x.b + y.b}; }},
    {MPI_PROD, "MPI_PROD",
     [](Plain x, Plain y, bool complex) {
         return complex ? Plain{x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a} : Plain{x.a * y.a, 0};
     }},
    {MPI_MAX, "MPI_MAX", [](Plain x, Plain y, bool) { return Plain{x.a > y.a ? x.a : y.a, 0}; }},
    {MPI_MIN, "MPI_MIN", [](Plain x, Plain y, bool) { return Plain{x.a < y.a ? x.a : y.a, 0}; }},
    {MPI_BAND, "MPI_BAND", [](Plain x, Plain y, bool) { return Plain{x.a & y.a, 0}; }},
    {MPI_BOR, "MPI_BOR", [](Plain x, Plain y, bool) { return Plain{x.a | y.a, 0}; }},
    {MPI_BXOR, "MPI_BXOR", [](Plain x, Plain y, bool) { return Plain{x.a ^ y.a, 0}; }},
    {MPI_LAND, "MPI_LAND", [](Plain x, Plain y, bool) { return Plain{x.a && y.a, 0}; }},
    {MPI_LOR, "MPI_LOR", [](Plain x, Plain y, bool) { return Plain{x.a || y.a, 0}; }},
    {MPI_LXOR, "MPI_LXOR", [](Plain x, Plain y, bool) { return Plain{!x.a != !y.a, 0}; }},
    {MPI_MAXLOC, "MPI_MAXLOC", [](Plain x, Plain y, bool) { return location(x, y, x.a > y.a); }},
    {MPI_MINLOC, "MPI_MINLOC", [](Plain x, Plain y, bool) { return location(x, y, x.a < y.a); }},
    {MPI_REPLACE, "MPI_REPLACE", nullptr},
    {MPI_NO_OP, "MPI_NO_OP", nullptr},
};

int rank, size;

// The value that rank r contributes as element i: a small number, the same on some of the ranks.
Plain contribution(const Row &row, int r, int i) {
    long a = (r * 5 + i * 3) % 3;
    if (row.kind == Kind::logical) return {a > 0, 0};
    if (row.complex()) return {a, (r + i) % 2};
    return {a + (row.index_width ? 0 : 1), (r + i) % 4};
}

Plain expected(const Row &row, const Operation &operation, int ranks, int i) {
    Plain result = contribution(row, 0, i);
    for (int r = 1; r < ranks; ++r)
        result = operation.combine(result, contribution(row, r, i), row.complex());
    return result;
}

constexpr int each = 3;  // elements of each rank's part

// One blocking call that reduces. `sendbuf` is MPI_IN_PLACE or the contribution. The result is stored from
// element 0 on.
struct Call {
    const char *name;
    // 0: the result has as many elements as the contribution. 1: each rank receives only its part of the
    // result.
    int parts;
    int (*run)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op);
};

int root() { return size - 1; }

const Call calls[] = {
    {"MPI_Reduce", 0,
     [](const void *s, void *r, int n, MPI_Datatype t, MPI_Op op) {
         return MPI_Reduce(s == MPI_IN_PLACE && rank != root() ? r : s, rank == root() ? r : nullptr, n, t,
                           op, root(), MPI_COMM_WORLD);
     }},
    {"MPI_Allreduce", 0,
     [](const void *s, void *r, int n, MPI_Datatype t, MPI_Op op) {
         return MPI_Allreduce(s, r, n, t, op, MPI_COMM_WORLD);
     }},
    {"MPI_Scan", 0,
     [](const void *s, void *r, int n, MPI_Datatype t, MPI_Op op) {
         return MPI_Scan(s, r, n, t, op, MPI_COMM_WORLD);
     }},
    {"MPI_Exscan", 0,
     [](const void *s, void *r, int n, MPI_Datatype t, MPI_Op op) {
         return MPI_Exscan(s, r, n, t, op, MPI_COMM_WORLD);
     }},
    {"MPI_Reduce_scatter_block", 1,
     [](const void *s, void *r, int, MPI_Datatype t, MPI_Op op) {
         return MPI_Reduce_scatter_block(s, r, each, t, op, MPI_COMM_WORLD);
     }},
    {"MPI_Reduce_scatter", 1,
     [](const void *s, void *r, int, MPI_Datatype t, MPI_Op op) {
         std::vector<int> counts(static_cast<size_t>(size), each);
         return MPI_Reduce_scatter(s, r, counts.data(), t, op, MPI_COMM_WORLD);
     }},
};

void check(const Row &row, const Operation &operation, const Call &call, bool in_place) {
    std::string what = std::string(call.name) + " with " + operation.name + " on " + row.name +
                       (in_place ? " in place" : "");
    int count = each * size;
    Elements own(row, count), result(row, count);
    for (int i = 0; i < count; ++i) (in_place ? result : own).put(i, contribution(row, rank, i));
    int code = call.run(in_place ? MPI_IN_PLACE : own.data(), result.data(), count, row.type, operation.op);
    if (!row.allows(operation.name)) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(code, &error_class);
        if (error_class != MPI_ERR_OP)
            fail(what + " gives error class " + std::to_string(error_class) + " instead of MPI_ERR_OP");
        return;
    }
    if (code != MPI_SUCCESS) return fail(what + " fails");
    std::string name = call.name;
    int ranks = name == "MPI_Scan" ? rank + 1 : name == "MPI_Exscan" ? rank : size;
    if ((name == "MPI_Reduce" && rank != root()) || ranks == 0) return;
    for (int i = 0; i < (call.parts ? each : count); ++i) {
        int element = call.parts ? rank * each + i : i;
        expect(result, i, expected(row, operation, ranks, element), what);
    }
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int types = 0;
    for (const Row &row : table) {
        if (!row.supported()) continue;
        ++types;
        for (const Operation &operation : operations)
            for (const Call &call : calls)
                for (bool in_place : {false, true}) check(row, operation, call, in_place);
    }
    if (types < 50) fail("only " + std::to_string(types) + " datatypes are supported");
    return report();
}
