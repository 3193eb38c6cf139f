// The path of a runtime to processes that share no memory with it: which addresses it listens at, how the others find them, and the
// job's secret. Made at the start, by all ranks of the job or by none.
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
    std::unique_ptr<SystemSockets> sockets;  // of links, or liveness
    std::unique_ptr<Liveness> liveness;    // beside datagrams
    std::unique_ptr<PacketIo> packets;       // of datagrams
    std::unique_ptr<NetworkPath> path;
    TcpPath *links = nullptr;        // the path, where it is one of links
    DgramPath *datagrams = nullptr;   // the same of datagrams
};

// Of the two networks of LANYARD_PATHS the one that is named first; "" where there is none.
std::string network_word(const Settings &settings);
// Does any pair of processes need it? All ranks find the same.
bool network_needed(const Bootstrap &bootstrap, bool allowed, bool shm);
// Listens, and tells the others where. `datagrams`: by these instead of TCP; `shm`: the processes of this node are reached without it. Then
// comes a barrier.
Error open_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, bool datagrams, bool shm, Network &network);
// The same for all ranks that had hoped to share memory, whether or not a network is open. Then comes a barrier.
Error open_network_instead(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, bool datagrams, Network &network);
// Links, where open_network() made datagrams. Then comes a barrier.
Error reopen_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, Network &network);
// Of the network that joins this host to others, in Mbit/s: of the fastest interface that others are told of; 0: not known.
int64_t network_speed_mbit(const Settings &settings);
// After it.
Error join_network(Bootstrap &bootstrap, Network &network);

}  // namespace lanyard
