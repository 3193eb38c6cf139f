// What a program in debug mode (LANYARD_CHECK) is told of what it has left behind, in MPI_Finalize or in the MPI_Session_finalize that
// ends the last use of MPI.
#pragma once

namespace lanyard {

struct Runtime;

// Messages never received, requests never completed or freed, receives never matched, objects never freed.
void report_leftovers(Runtime &ending, const char *call);
// After a second says which sends keep the call from returning, since no receive matches them.
void report_what_is_waited_for(Runtime &ending, const char *call);

}  // namespace lanyard
