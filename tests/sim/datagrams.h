// Datagram paths (path/dgram/dgram_path.h) of all processes of a simulated job, over one simulated network of packets
// (net/sim/packet_network.h) in the baton's time. The network is a thread of the baton too: it sleeps until a packet reaches the switch or a host,
// and tells the process that has one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/sim/packet_network.h"
#include "path/dgram/dgram_path.h"
#include "path/sim/baton.h"

namespace lanyard::sim {

// Who a process of a simulation is, and whom it knows. Its place in the network is its serial.
struct Member {
    ProcessName name;
    const Processes *known;
};
// All of the first job, who know each other.
std::vector<Member> members_of(const Processes &everybody);

class SimDatagrams {
public:
    SimDatagrams(Baton &baton, const PacketBehaviour &behaviour, const DgramLimits &limits, const std::vector<Member> &members);
    ~SimDatagrams();

    DgramPath &path(uint32_t process) { return *paths_[process]; }
    // The thread of the baton that polls this process's path.
    void drives(uint32_t process, uint32_t thread) { threads_[process] = thread; }
    // Adds the network's own thread, which lives until end().
    void add_thread(const std::string &name);
    void end();

    PacketNetwork network;

private:
    class Endpoint;

    void live();
    // Something was sent: it may reach the switch before whatever the network waits for.
    void wake();

    Baton &baton_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<std::unique_ptr<DgramPath>> paths_;
    std::vector<uint32_t> threads_;  // by process
    uint32_t thread_ = UINT32_MAX;
    uint64_t wakes_ns_ = 0;  // when the network looks next
    bool over_ = false;
};

}  // namespace lanyard::sim
