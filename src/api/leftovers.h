// Makes the reports of debug mode (LANYARD_CHECK) about messages, requests and objects that the program has
// left behind. The call that ends the last use of MPI, MPI_Finalize or MPI_Session_finalize, makes the
// reports.
// Tested by: tests/failures/test_messages.py, tests/launch/test_sessions.py.
#pragma once

namespace lanyard {

struct Runtime;

// Reports messages never received, requests never completed or freed, receives never matched, and objects
// never freed. No other thread may make progress meanwhile.
void report_leftovers(Runtime &ending, const char *call);
// Takes the engine, and waits up to a second for the program's sends to complete. Then reports the sends that
// no receive matches and that therefore keep `call` from returning.
void report_what_is_waited_for(Runtime &ending, const char *call);

}  // namespace lanyard
