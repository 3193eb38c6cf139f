// The path of a runtime to processes that share no memory with it: the addresses at which it listens, how
// others find them, and the job's secret. Either all ranks of the job create it at the start, or none.
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
    std::unique_ptr<Liveness> liveness;    // beside datagrams
    std::unique_ptr<PacketIo> packets;       // for datagrams
    std::unique_ptr<NetworkPath> path;
    TcpPath *links = nullptr;        // the path, if it uses TCP links
    DgramPath *datagrams = nullptr;   // the path, if it uses datagrams
};

// The network that LANYARD_PATHS names first, "tcp" or "dgram"; "" if it names neither.
std::string network_word(const Settings &settings);
// True if any pair of processes needs the network. All ranks find the same result.
bool network_needed(const Bootstrap &bootstrap, bool allowed, bool shm);
// Listens, and publishes the addresses. A barrier must follow. `datagrams`: uses these instead of TCP; `shm`:
// the processes of this node reach each other through shared memory.
Error open_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, bool datagrams,
                   bool shm, Network &network);
// Does the same if shared memory turned out to be missing, whether or not a network is open. Called by all
// ranks. A barrier must follow.
Error open_network_instead(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                           bool datagrams, Network &network);
// Opens TCP links after open_network() has opened datagrams. A barrier must follow.
Error reopen_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                     Network &network);
// The speed in Mbit/s of the network that joins this host to others: that of the fastest interface that is
// published. 0: unknown.
int64_t network_speed_mbit(const Settings &settings);
// Sets the job's secret, after that barrier.
Error join_network(Bootstrap &bootstrap, Network &network);

}  // namespace lanyard
