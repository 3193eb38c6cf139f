// What all ranks of a job must find alike about their network before anything is sent on it.
//
// Paths. Each rank publishes before the first barrier what its LANYARD_PATHS comes to, and reads rank 0's after it. One that differs reads those of
// the ranks below it too: the lowest that differs ends the job with a sentence, any other waits for that. None of them goes on to another
// barrier, so nobody passes one: the ranks that are like rank 0 do not begin.
//
// Datagrams. UDP is closed between many hosts that TCP joins. So the first rank of each host asks the first rank of every other one, in both
// directions, for patience_ns at most. An answer proves that packets pass both ways, so both ends of a pair find the same but for
// the last answers to be lost; whoever lacks one counts, whatever the other says. The first rank of each host publishes what it found, all meet
// (and answer each other until the last has come), and all read the words of all hosts. If one is "no", all ranks make links over
// TCP instead, and the lowest that said it tells why. No rank sends anything but questions before it has read the words, so
// nothing is on its way when the path is changed, and nothing can be lost or doubled. Costs a barrier, and only where datagrams go between hosts.
// Hosts are asked for by one port each: what is closed to one is taken to be closed to all.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Before the barrier at which the ranks meet first, and after it.
Error tell_paths(const Settings &settings, Bootstrap &bootstrap);
Error compare_paths(const Settings &settings, Bootstrap &bootstrap);

// When the engine runs and nothing has been sent. Datagrams between hosts stay, or become links.
Error prove_datagrams(Runtime &made);

}  // namespace lanyard
