// A memory barrier in other processes, made by this one: every running thread of every registered process passes a full barrier during the
// call. So one side of a rare event pays for the barriers of both. membarrier(2), global expedited; Linux 4.16.
#pragma once

namespace lanyard {

// This process takes part; false where the system cannot.
bool register_for_barriers();
// False where the system does not let this process any more: the program has locked itself in.
bool barrier_everywhere();

}  // namespace lanyard
