// Creates the datagram paths (path/dgram/dgram_path.h) of all processes of a simulated job. They share one
// simulated network of packets (net/sim/packet_network.h). The baton (path/sim/baton.h) gives the time. The
// network is a thread of the baton too: it sleeps until a packet reaches the switch or a host, and then
// notifies every process that has received a packet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/sim/packet_network.h"
#include "path/dgram/dgram_path.h"
#include "path/sim/baton.h"

namespace lanyard::sim {

// A process of a simulation, and the table of the processes that it knows. The index of a process in
// the network is its serial.
struct Member {
    ProcessName name;
    const Processes *known;
};
// Makes all these processes members that know each other. They are the processes of one job.
std::vector<Member> members_of(const Processes &everybody);

class SimDatagrams {
public:
    SimDatagrams(Baton &baton, const PacketBehaviour &behaviour, const DgramLimits &limits,
                 const std::vector<Member> &members);
    ~SimDatagrams();

    DgramPath &path(uint32_t process) { return *paths_[process]; }
    // Sets which thread of the baton polls the path of this process, so that the network can notify
    // the thread.
    void drives(uint32_t process, uint32_t thread) { threads_[process] = thread; }
    // Adds the network's own thread, which runs until end().
    void add_thread(const std::string &name);
    void end();

    PacketNetwork network;

private:
    class Endpoint;

    void live();
    // Called when a packet was sent. Notifies the network's thread if the packet reaches the switch earlier
    // than the event for which that thread sleeps.
    void wake();

    Baton &baton_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<std::unique_ptr<DgramPath>> paths_;
    std::vector<uint32_t> threads_;  // by process
    uint32_t thread_ = UINT32_MAX;
    uint64_t wakes_ns_ = 0;  // when the network's thread runs next
    bool over_ = false;
};

}  // namespace lanyard::sim
