// Makes memory barriers (fences) in other processes. During a call of barrier_everywhere() every running
// thread of every registered process executes a full memory barrier. Suppose that two processes each need a
// barrier, and that one of them acts rarely. Then the process that acts rarely can pay for both barriers.
// Uses membarrier(2), global expedited, of Linux 4.16 and later. Thread rule: any thread.
// Tested by: tests/failures/test_resources.py, tests/failures/test_refused_calls.py.
#pragma once

namespace lanyard {

// Registers this process as a target of barriers. False if the system does not support membarrier(2).
bool register_for_barriers();
// Makes the barriers. False if the system no longer allows this, because the program has restricted its own
// system calls.
bool barrier_everywhere();

}  // namespace lanyard
