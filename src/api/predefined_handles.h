// Fills in the entries of the handle tables (handles.h) that need a Universe. handles.cc fills in the others
// when the library is loaded.
// Tested by: tests/mpi/sessions/models.cc, tests/mpi/datatype/names.cc.
#pragma once

namespace lanyard {

struct Universe;

// Fills in the pools of communicators and groups, and MPI_GROUP_EMPTY.
void fill_handle_tables(Universe &universe);
// Makes MPI_COMM_WORLD and MPI_COMM_SELF valid handles (`shown`, in MPI_Init) or invalid ones (in
// MPI_Finalize).
void show_world(const Universe &universe, bool shown);

}  // namespace lanyard
