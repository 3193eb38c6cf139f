// A provider of libfabric's for tests, in this process, that demands what InfiniBand's unreliable datagrams do and the provider `udp` does not:
// - 40 bytes before every packet for the provider (FI_MSG_PREFIX), which it scribbles over at both ends; at most 2 KiB behind them;
// - memory that is registered and stays so while it is posted (FI_MR_LOCAL), and a context of the provider's with each operation (FI_CONTEXT2);
// - short queues: EAGAIN where the transmit context or the posted receives are full; a completion for which a queue has no room is a fault;
// - a packet leaves, and its bytes are read, some time after it was sent, and is dropped where no receive is posted;
// - a descriptor wakes only after fi_trywait; objects are closed before what they were made from.
// Whoever breaks such a rule finds a sentence in faults(). Time goes on with every call that reads a queue. Single-threaded.
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
    int missing_object = -1;               // of those that are made, which one cannot be
};

struct Counts {
    uint64_t sent = 0, dropped = 0, refused_for_now = 0;
    int open = 0;  // objects
};

// From now on, for endpoints that are opened. Forgets what was counted; all endpoints must have gone.
void begin(const Behaviour &behaviour = {});
// Packets stay in the transmit contexts until they are let go.
void hold(bool held);
// The next packet to leave fails in the provider, and the next to arrive.
void fail_one_sent();
void fail_one_arrival();
// What fi_send answers once.
void refuse_next(int error);

const Counts &counts();
const std::vector<std::string> &faults();

// Its providers: `mock`, `streams` (without datagram endpoints) and `absent` (without a device).
const FabricLibrary &library();

}  // namespace lanyard::mock_fabric
