// A libfabric provider for tests, in this process. It makes the demands of InfiniBand's unreliable datagrams,
// which the provider `udp` does not make:
// - Every packet begins with 40 bytes for the provider (FI_MSG_PREFIX), which the provider overwrites at both
//   ends. At most 2 KiB follow.
// - Memory must be registered, and stay registered while it is posted (FI_MR_LOCAL). Each operation has a
//   context for the provider (FI_CONTEXT2).
// - Queues are short: EAGAIN while the transmit context or the posted receives are full. A completion for
//   which a queue has no room is a fault.
// - A packet leaves, and its bytes are read, some time after it was sent. If no receive is posted, the packet
//   is dropped.
// - A descriptor wakes only after fi_trywait. An object is closed before the objects from which it was made.
// If a rule is broken, faults() has a message. Time passes with every call that reads a queue, and with
// fi_trywait. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/fabric_library.h"

namespace lanyard::mock_fabric {

struct Behaviour {
    size_t transmits = 16, receives = 32;  // of an endpoint's contexts
    size_t largest = 2048;
    bool wakes = true;                     // has descriptors
    int missing_object = -1;               // the number of the object that cannot be made; -1: all can
};

struct Counts {
    uint64_t sent = 0, dropped = 0, refused_for_now = 0;
    int open = 0;  // objects
};

// Begins anew, for endpoints that are opened from now on, and resets the counts. All earlier endpoints must
// be closed.
void begin(const Behaviour &behaviour = {});
// While held, packets stay in the transmit contexts.
void hold(bool held);
// The next packet to leave, or the next to arrive, fails in the provider.
void fail_one_sent();
void fail_one_arrival();
// The error that fi_send returns once.
void refuse_next(int error);

const Counts &counts();
const std::vector<std::string> &faults();

// The library has the providers `mock`, `streams` (without datagram endpoints) and `absent` (without a
// device).
const FabricLibrary &library();

}  // namespace lanyard::mock_fabric
