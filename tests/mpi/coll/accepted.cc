// Tests reductions that the standard does not define but that MPICH, Intel MPI and Open MPI all compute:
// arithmetic, logical and bitwise operations on MPI_CHAR, and logical operations on MPI_AINT, MPI_OFFSET and
// MPI_COUNT. MPI_CHAR is the C type char, which is signed or unsigned as on this machine. Every call that
// reduces is tested. With LANYARD_CHECK=on, the library for the standard's ABI refuses these reductions with
// an error message, but the library for MPICH's ABI still computes them. reductions.cc tests every operation
// on every datatype.
#include <climits>
#include <vector>

#include "comm/check.h"

namespace {

int rank, size;
bool refused;  // the library accepts only what the standard defines

// Checks the return code of a call that reduces. Returns true if the reduction was computed, so that its
// result can be compared.
bool computed(int code, const char *type,
              const std::source_location &where = std::source_location::current()) {
    if (!refused) {
        check_equal(code, MPI_SUCCESS, where);
        return true;
    }
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    check_class(code, MPI_ERR_OP, where);
    MPI_Error_string(code, text, &length);
    std::string sentence = text;
    check(sentence.find(std::string(" is not defined on ") + type + "; it is for ") != std::string::npos,
          sentence, where);
    return false;
}

bool finished(int code, MPI_Request &request, const char *type,
              const std::source_location &where = std::source_location::current()) {
    if (!computed(code, type, where)) return false;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return true;
}

bool started(int code, MPI_Request &request, const char *type,
             const std::source_location &where = std::source_location::current()) {
    if (!computed(code, type, where)) return false;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return true;
}

// Computes the minimum of -1, -2, ... as char, where rank r contributes -1 - r, with all calls and in all
// forms.
void characters() {
    const MPI_Datatype type = MPI_CHAR;
    const char *name = "MPI_CHAR";
    auto each = static_cast<size_t>(size);
    std::vector<char> own(each, static_cast<char>(-1 - rank)), all(each);
    auto least = [&](int ranks) {
        char result = static_cast<char>(-1);
        for (int r = 0; r < ranks; ++r) result = std::min(result, static_cast<char>(-1 - r));
        return result;
    };
    auto expect = [&](int ranks, const std::source_location &where = std::source_location::current()) {
        if (ranks > 0) check_equal(static_cast<int>(all[0]), static_cast<int>(least(ranks)), where);
        std::fill(all.begin(), all.end(), 'x');
    };
    const MPI_Op op = MPI_MIN;
    const MPI_Comm comm = MPI_COMM_WORLD;
    const std::vector<int> ones(each, 1);
    const int at_root = rank == 0 ? size : 0;
    MPI_Request request;
    if (computed(MPI_Allreduce(own.data(), all.data(), 1, type, op, comm), name)) expect(size);
    if (computed(MPI_Reduce(own.data(), all.data(), 1, type, op, 0, comm), name)) expect(at_root);
    if (computed(MPI_Scan(own.data(), all.data(), 1, type, op, comm), name)) expect(rank + 1);
    if (computed(MPI_Exscan(own.data(), all.data(), 1, type, op, comm), name)) expect(rank);
    if (computed(MPI_Reduce_scatter(own.data(), all.data(), ones.data(), type, op, comm), name)) expect(size);
    if (computed(MPI_Reduce_scatter_block(own.data(), all.data(), 1, type, op, comm), name)) expect(size);
    if (finished(MPI_Iallreduce(own.data(), all.data(), 1, type, op, comm, &request), request, name))
        expect(size);
    if (finished(MPI_Ireduce(own.data(), all.data(), 1, type, op, 0, comm, &request), request, name))
        expect(at_root);
    if (finished(MPI_Iscan(own.data(), all.data(), 1, type, op, comm, &request), request, name))
        expect(rank + 1);
    if (finished(MPI_Iexscan(own.data(), all.data(), 1, type, op, comm, &request), request, name))
        expect(rank);
    if (finished(MPI_Ireduce_scatter(own.data(), all.data(), ones.data(), type, op, comm, &request), request,
                 name))
        expect(size);
    if (finished(MPI_Ireduce_scatter_block(own.data(), all.data(), 1, type, op, comm, &request), request,
                 name))
        expect(size);
    const MPI_Info none = MPI_INFO_NULL;
    if (started(MPI_Allreduce_init(own.data(), all.data(), 1, type, op, comm, none, &request), request, name))
        expect(size);
    if (started(MPI_Reduce_init(own.data(), all.data(), 1, type, op, 0, comm, none, &request), request, name))
        expect(at_root);
    if (started(MPI_Scan_init(own.data(), all.data(), 1, type, op, comm, none, &request), request, name))
        expect(rank + 1);
    if (started(MPI_Reduce_scatter_block_init(own.data(), all.data(), 1, type, op, comm, none, &request),
                request, name))
        expect(size);
    // A long reduction uses other algorithms than a short one.
    std::vector<char> long_own(100'000, static_cast<char>(-1 - rank)), long_all(long_own.size());
    if (computed(MPI_Allreduce_c(long_own.data(), long_all.data(), 100'000, type, op, comm), name))
        check(long_all == std::vector<char>(long_own.size(), least(size)), "a long reduction");
}

void between_groups() {
    if (size < 2) return;
    MPI_Comm part, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    char own = static_cast<char>(rank + 1), sum = 0;
    int others = rank == 0 ? size * (size + 1) / 2 - 1 : 1;
    if (computed(MPI_Allreduce(&own, &sum, 1, MPI_CHAR, MPI_SUM, both), "MPI_CHAR"))
        check_equal(static_cast<int>(sum), others);
    MPI_Comm_free(&both);
    MPI_Comm_free(&part);
}

// Tests one operation on the operands `from` and `to`. MPI_Reduce_local overwrites the second operand, `to`,
// with the result.
template <class T>
void local(MPI_Op op, MPI_Datatype type, const char *name, T from, T to, T wanted) {
    T result = to;
    if (computed(MPI_Reduce_local(&from, &result, 1, type, op), name))
        check(result == wanted, "the result is wrong");
    result = to;
    if (computed(MPI_Reduce_local_c(&from, &result, 1, type, op), name))
        check(result == wanted, "the result is wrong");
}

void locals() {
    const char low = static_cast<char>(-3), high = 5;
    auto on_char = [&](MPI_Op op, int wanted) {
        local(op, MPI_CHAR, "MPI_CHAR", low, high, static_cast<char>(wanted));
    };
    on_char(MPI_SUM, low + high);
    on_char(MPI_PROD, low * high);
    on_char(MPI_MAX, CHAR_MIN < 0 ? high : low);
    on_char(MPI_MIN, CHAR_MIN < 0 ? low : high);
    on_char(MPI_LAND, 1);
    on_char(MPI_LOR, 1);
    on_char(MPI_LXOR, 0);
    on_char(MPI_BAND, low & high);
    on_char(MPI_BOR, low | high);
    on_char(MPI_BXOR, low ^ high);
    auto logical = [](auto number, MPI_Datatype type, const char *name) {
        using T = decltype(number);
        for (T a : {T{0}, T{7}, T{256}})
            for (T b : {T{0}, T{-1}}) {
                local<T>(MPI_LAND, type, name, a, b, a && b);
                local<T>(MPI_LOR, type, name, a, b, a || b);
                local<T>(MPI_LXOR, type, name, a, b, !a != !b);
            }
    };
    logical(MPI_Aint{}, MPI_AINT, "MPI_AINT");
    logical(MPI_Offset{}, MPI_OFFSET, "MPI_OFFSET");
    logical(MPI_Count{}, MPI_COUNT, "MPI_COUNT");
}

// Tests reductions that at least one of MPICH, Intel MPI and Open MPI does not compute. Lanyard must refuse
// them.
void still_refused() {
    char from[16] = {}, to[16] = {};
    auto refuse = [&](MPI_Datatype type, MPI_Op op,
                      const std::source_location &where = std::source_location::current()) {
        check_class(MPI_Reduce_local(from, to, 1, type, op), MPI_ERR_OP, where);
        check_class(MPI_Allreduce(from, to, 1, type, op, MPI_COMM_SELF), MPI_ERR_OP, where);
    };
    for (MPI_Op op : {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP})
        for (MPI_Datatype type : {MPI_CHAR, MPI_AINT}) refuse(type, op);
    for (MPI_Datatype type : {MPI_WCHAR, MPI_BYTE, MPI_PACKED, MPI_C_BOOL}) refuse(type, MPI_SUM);
    refuse(MPI_FLOAT, MPI_LAND);
    refuse(MPI_DOUBLE, MPI_BAND);
    MPI_Datatype derived;
    MPI_Type_contiguous(2, MPI_CHAR, &derived);
    MPI_Type_commit(&derived);
    refuse(derived, MPI_SUM);
    MPI_Type_free(&derived);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#ifdef MPI_ABI_VERSION
    const char *checked = std::getenv("LANYARD_CHECK");
    refused = checked && std::string(checked) == "on";
#endif
    characters();
    between_groups();
    locals();
    still_refused();
    MPI_Finalize();
}
