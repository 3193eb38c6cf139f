// Creates the network of a runtime: opens the path to processes that share no memory with this process,
// publishes the addresses at which this process listens, finds the addresses of its peers, and distributes
// the job's secret. At the start either all ranks of the job create a network, or none does. Errors state
// what the user can change, or what the system or the launcher has reported. The settings, the bootstrap and
// the processes must outlive the network, which refers to them.
// Thread rule: the thread that creates the runtime, before other threads use the engine.
#pragma once

#include <memory>

#include "base/processes.h"
#include "bootstrap/bootstrap.h"
#include "config/settings.h"

namespace lanyard {

class DgramPath;
class Liveness;
class NetworkPath;
class PacketIo;
class SystemSockets;
class TcpPath;

struct Network {
    std::unique_ptr<SystemSockets> sockets;  // for TCP links, or for liveness checks
    std::unique_ptr<Liveness> liveness;      // only if datagrams are used
    std::unique_ptr<PacketIo> packets;       // for datagrams
    std::unique_ptr<NetworkPath> path;
    TcpPath *links = nullptr;        // the path, if it uses TCP links
    DgramPath *datagrams = nullptr;  // the path, if it uses datagrams
};

// The network that LANYARD_PATHS names first, "tcp" or "dgram"; "" if LANYARD_PATHS names no network. Any
// thread.
std::string network_word(const Settings &settings);
// True if any pair of processes needs a network. The result is the same on all ranks. `allowed` is true if
// LANYARD_PATHS names a network, and `shm` is true if it names shared memory.
bool network_needed(const Bootstrap &bootstrap, bool allowed, bool shm);
// Opens the network: listens, and publishes the addresses. Rank 0 also publishes the job's secret. A barrier
// must follow. `network` is empty before. `datagrams` requests datagrams instead of TCP. `shm` is true if the
// processes of this node reach each other through shared memory.
Error open_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, bool datagrams,
                   bool shm, Network &network);
// Opens a network that is used instead of shared memory. Called by all ranks after some node has turned out
// to have no shared memory. If a network is open already, it is closed first. A barrier must follow.
Error open_network_instead(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                           bool datagrams, Network &network);
// Opens TCP links after open_network() has opened datagrams. `network` is empty before; the network with the
// datagrams stays open. A barrier must follow.
Error reopen_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                     Network &network);
// The speed in Mbit/s of the network between this host and others. This is the speed of the fastest interface
// that may be used (LANYARD_INTERFACES), or 0 if no speed is known.
int64_t network_speed_mbit(const Settings &settings);
// Gets the job's secret and sets it in the network's path. Called after the barrier that the functions above
// require.
Error join_network(Bootstrap &bootstrap, Network &network);

}  // namespace lanyard
