// What all ranks of a job must agree on about their network before anything is sent on it.
//
// Paths. Before the first barrier each rank publishes what its LANYARD_PATHS results in, and reads the value
// of rank 0 after it. A rank that differs also reads the values of the ranks below it. The lowest rank that
// differs ends the job with a message. Any other rank that differs waits for this in a barrier. No rank
// passes that barrier, because the lowest one never enters it, so the ranks that agree with rank 0 do not
// begin either.
//
// Datagrams. UDP is blocked between many hosts that TCP connects. So the first rank of each host sends a
// question to the first rank of every other host, in both directions, for at most patience_ns. An answer
// proves that packets pass in both directions. So both ends of a pair find the same, unless the last answers
// are lost; a missing answer at one end counts, whatever the other end found. The first rank of each host
// publishes its result. All ranks synchronise, and answer each other until the last one has arrived, and then
// read the results of all hosts. If one is "no", all ranks create links over TCP instead, and the lowest rank
// with that result reports why. No rank sends anything but questions before it has read the results, so
// nothing is under way when the path is replaced, and nothing can be lost or doubled. This costs one barrier,
// and only if datagrams go between hosts. One port of each host is tested, and stands for all.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Called before the first barrier of all ranks (tell_paths) and after it (compare_paths).
Error tell_paths(const Settings &settings, Bootstrap &bootstrap);
Error compare_paths(const Settings &settings, Bootstrap &bootstrap);

// Called when the engine runs and nothing has been sent. Datagrams between hosts remain, or are replaced by
// links.
Error prove_datagrams(Runtime &made);

}  // namespace lanyard
