// Fills the handle tables (handles.h) with the pools and the predefined objects.
#pragma once

namespace lanyard {

struct Universe;

void fill_handle_tables(Universe &universe);

}  // namespace lanyard
