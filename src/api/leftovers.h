// What debug mode (LANYARD_CHECK) reports about what the program has left behind, in MPI_Finalize or in the
// MPI_Session_finalize that ends the last use of MPI.
#pragma once

namespace lanyard {

struct Runtime;

// Reports messages never received, requests never completed or freed, receives never matched, and objects
// never freed.
void report_leftovers(Runtime &ending, const char *call);
// Waits up to a second, then reports the sends that keep the call from returning because no receive matches
// them.
void report_what_is_waited_for(Runtime &ending, const char *call);

}  // namespace lanyard
