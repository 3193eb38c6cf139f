// Fills the handle tables (handles.h) with the pools and the predefined objects.
#pragma once

namespace lanyard {

struct Universe;

void fill_handle_tables(Universe &universe);
// MPI_COMM_WORLD and MPI_COMM_SELF are valid handles from MPI_Init to MPI_Finalize.
void show_world(const Universe &universe, bool shown);

}  // namespace lanyard
