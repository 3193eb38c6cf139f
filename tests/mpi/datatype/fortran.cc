// Tests the datatypes of Fortran kinds (MPI_Type_create_f90_real and others), datatypes found by their size,
// and pairs of value and index. The same arguments must always return the same handle. The tests cover
// queries of these datatypes, reductions and messages with them, and arguments for which no datatype exists.
#include <vector>

#include "comm/check.h"

namespace {

void expect(int code, int error_class, const char *part,
            const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    check(std::strstr(text, part) != nullptr, std::string("the text is: ") + text, where);
}

void verify(MPI_Datatype type, int size, int combiner, const std::vector<int> &arguments,
            const std::source_location &where = std::source_location::current()) {
    int bytes, length, integers, addresses, types, made_by, contents[2] = {-7, -7};
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_size(type, &bytes);
    check_equal(bytes, size, where);
    MPI_Type_get_name(type, name, &length);
    check_equal(length, 0, where);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &made_by);
    check(addresses == 0 && types == 0 && made_by == combiner, "the envelope", where);
    check_equal(integers, static_cast<int>(arguments.size()), where);
    MPI_Type_get_contents(type, 2, 0, 0, contents, nullptr, nullptr);
    for (size_t i = 0; i < arguments.size(); ++i) check_equal(contents[i], arguments[i], where);
    MPI_Datatype freed = type;
    expect(MPI_Type_free(&freed), MPI_ERR_TYPE, "predefined");
    check(freed == type, "the handle was changed", where);
}

void kinds() {
    MPI_Datatype type, again;
    for (int round = 0; round < 2; ++round) {
        MPI_Type_create_f90_real(15, 307, &type);
        MPI_Type_create_f90_real(15, 307, &again);
        check(type == again && type != MPI_DOUBLE && type != MPI_REAL8);
        verify(type, 8, MPI_COMBINER_F90_REAL, {15, 307});
        MPI_Type_create_f90_real(MPI_UNDEFINED, 30, &type);
        verify(type, 4, MPI_COMBINER_F90_REAL, {MPI_UNDEFINED, 30});
        MPI_Type_create_f90_real(33, MPI_UNDEFINED, &type);
        verify(type, 16, MPI_COMBINER_F90_REAL, {33, MPI_UNDEFINED});
        MPI_Type_create_f90_complex(6, 37, &type);
        verify(type, 8, MPI_COMBINER_F90_COMPLEX, {6, 37});
        MPI_Type_create_f90_integer(9, &type);
        MPI_Type_create_f90_integer(9, &again);
        check(type == again);
        verify(type, 4, MPI_COMBINER_F90_INTEGER, {9});
        MPI_Type_create_f90_integer(38, &type);
        verify(type, 16, MPI_COMBINER_F90_INTEGER, {38});
    }
    expect(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG, "range 39");
    expect(MPI_Type_create_f90_real(34, 10, &type), MPI_ERR_ARG, "precision 34");
    expect(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG, "both MPI_UNDEFINED");
    expect(MPI_Type_create_f90_complex(6, 5000, &type), MPI_ERR_ARG, "range 5000");
}

// Uses these datatypes in reductions, in messages without a commit, and inside other datatypes. For such an
// outer datatype, MPI_Type_get_contents must return the same handle.
void use_them() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Datatype real, integer, complex, made, inner;
    MPI_Type_create_f90_real(15, 307, &real);
    MPI_Type_create_f90_integer(18, &integer);
    MPI_Type_create_f90_complex(6, 37, &complex);
    double number = rank + 0.5, sum, most;
    MPI_Allreduce(&number, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
    check(sum == 0.5 * size * size);
    MPI_Allreduce(&number, &most, 1, real, MPI_MAX, MPI_COMM_WORLD);
    check(most == size - 0.5);
    int64_t mask = int64_t{1} << (rank + 33), masks;
    MPI_Allreduce(&mask, &masks, 1, integer, MPI_BOR, MPI_COMM_WORLD);
    check(masks == ((int64_t{1} << size) - 1) << 33);
    float pair[] = {1, static_cast<float>(rank)}, pairs[2];
    MPI_Allreduce(pair, pairs, 1, complex, MPI_SUM, MPI_COMM_WORLD);
    int rank_sum = size * (size - 1) / 2;
    check(pairs[0] == static_cast<float>(size) && pairs[1] == static_cast<float>(rank_sum));
    expect(MPI_Allreduce(pair, pairs, 1, complex, MPI_MAX, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_MAX");

    int contents[1];
    MPI_Type_contiguous(3, real, &made);
    MPI_Type_commit(&made);
    MPI_Type_get_contents(made, 1, 0, 1, contents, nullptr, &inner);
    check(inner == real, "another handle of a predefined datatype");
    double out[3] = {1, 2, rank + 3.0}, in[3];
    MPI_Sendrecv(out, 1, made, (rank + 1) % size, 0, in, 3, real, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in[2] == (rank + size - 1) % size + 3.0);
    char packed[24];
    MPI_Aint position = 0, bytes;
    MPI_Pack_external_size("external32", 1, made, &bytes);
    check(bytes == 24);
    MPI_Pack_external("external32", out, 1, made, packed, 24, &position);
    position = 0;
    MPI_Unpack_external("external32", packed, 24, &position, in, 3, real);
    check(in[0] == 1 && in[2] == out[2]);
    MPI_Type_free(&made);
    MPI_Type_dup(real, &made);
    MPI_Sendrecv(out, 1, made, rank, 0, in, 1, made, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&made);
}

void found() {
    MPI_Datatype type;
    struct {
        int typeclass, size;
        MPI_Datatype wanted;
    } sized[] = {{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                 {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
                 {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}};
    for (auto &one : sized) {
        MPI_Type_match_size(one.typeclass, one.size, &type);
        check(type == one.wanted);
    }
    expect(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &type), MPI_ERR_ARG, "5 bytes");
    struct {
        MPI_Datatype value, index, wanted;
    } pairs[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                 {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                 {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
                 {MPI_INT, MPI_FLOAT, MPI_DATATYPE_NULL}};
    for (auto &one : pairs) {
        MPI_Type_get_value_index(one.value, one.index, &type);
        check(type == one.wanted);
    }
    expect(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &type), MPI_ERR_TYPE, "value_type");
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    kinds();
    use_them();
    found();
    MPI_Finalize();
}
