// Checks the names of the predefined datatypes. A name must be that of the datatype's constant. If a datatype
// has two constants, it must be the one that the standard does not call a synonym. The table contains every
// datatype that has a size or on which a reduction is defined, including the optional datatypes and those of
// Fortran and C++.
#include "coll/elements.h"

namespace {

void expect_name(MPI_Datatype type, const std::string &wanted) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Type_get_name(type, name, &length);
    if (name != wanted || length != static_cast<int>(wanted.size()))
        fail("the name of " + wanted + " is " + name);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int types = 0;
    for (const Row &row : table) {
        if (!row.supported()) continue;
        expect_name(row.type, row.name);
        ++types;
    }
    if (types < 50) fail("only " + std::to_string(types) + " datatypes are supported");
    // A datatype with several constants must give the same name for all of them.
    for (MPI_Datatype type : {MPI_LONG_LONG, MPI_LONG_LONG_INT}) expect_name(type, "MPI_LONG_LONG_INT");
    for (MPI_Datatype type : {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX}) expect_name(type, "MPI_C_COMPLEX");
    expect_name(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG");
    expect_name(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX");
    expect_name(MPI_PACKED, "MPI_PACKED");
    // The program may set another name.
    MPI_Type_set_name(MPI_LONG_LONG, "my own");
    expect_name(MPI_LONG_LONG_INT, "my own");
    MPI_Finalize();
    return failures != 0;
}
