// Fills the handle tables (handles.h) with the pools and the predefined objects.
// Tested by: tests/mpi/sessions/models.cc, tests/mpi/datatype/names.cc.
#pragma once

namespace lanyard {

struct Universe;

void fill_handle_tables(Universe &universe);
// Makes MPI_COMM_WORLD and MPI_COMM_SELF valid handles (`shown`, in MPI_Init) or invalid ones (in
// MPI_Finalize).
void show_world(const Universe &universe, bool shown);

}  // namespace lanyard
