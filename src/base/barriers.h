// A memory barrier in other processes, made by this one. During the call every running thread of every
// registered process passes a full barrier, so one side of a rare event can pay for the barriers of both.
// Uses membarrier(2), global expedited, of Linux 4.16 and later. Thread rule: any thread.
#pragma once

namespace lanyard {

// Registers this process as a target of barriers. False if the system does not support it.
bool register_for_barriers();
// False if the system no longer allows this process to make barriers, because the program has restricted its
// own system calls.
bool barrier_everywhere();

}  // namespace lanyard
