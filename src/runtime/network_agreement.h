// Lets all ranks of a job agree on two things before anything is sent on the network: their paths, and
// whether datagrams work between all hosts.
//
// Paths. Before the first barrier each rank publishes the version of its protocol and the paths that follow
// from its LANYARD_PATHS. After the barrier each rank compares its value with that of rank 0. A rank that
// differs from rank 0 also reads the values of the ranks below itself. The lowest rank that differs ends the
// job with a message. Any other rank that differs enters a further barrier, in which it waits for the end of
// the job. No rank passes that barrier, because the lowest rank that differs never enters it. For the same
// reason, a rank that agrees with rank 0 does not pass its own next barrier.
//
// Datagrams. Between many hosts UDP is blocked although TCP works. So the first rank of each host sends
// probes to the first rank of every other host, for at most three seconds. An answer to a probe proves that
// packets pass in both directions. So both ranks of a pair come to the same result, unless the last answers
// are lost. If only one of the two ranks receives no answer, the result of this rank counts. The first rank
// of each host publishes its result. Then all ranks synchronise, and answer probes until the last rank has
// arrived. Then each rank reads the results of all hosts. If one result is "no", all ranks create links over
// TCP instead, and the lowest rank with this result reports why. Before a rank has read the results, it sends
// only probes and answers. So no message is under way when the path is replaced, and none can be lost or
// duplicated. The test costs one barrier. It is made only if datagrams are used between hosts. For each host
// only one port is tested.
//
// Thread rule: the thread that creates the runtime. All ranks call each of these functions. An error must end
// the job, because the other ranks wait.
// Tested by: tests/failures/test_settings.py, tests/lab/test_datagrams.py.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Publishes the protocol version and the paths of this rank. Called before the first barrier of all ranks.
Error tell_paths(const Settings &settings, Bootstrap &bootstrap);
// Compares the version and the paths of this rank with those of rank 0. Called after the first barrier.
Error compare_paths(const Settings &settings, Bootstrap &bootstrap);

// Tests the datagrams between hosts. If they are blocked, replaces the datagrams of `made` by TCP links.
// Called when the engine exists and no message has been sent. The caller must not own the engine.
Error prove_datagrams(Runtime &made);

}  // namespace lanyard
