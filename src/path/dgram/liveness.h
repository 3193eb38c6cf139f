// Finds out whether a process that does not answer datagrams still runs. The process may be computing for any
// length of time, and with LANYARD_DGRAM_PROGRESS=engine it answers only while the program is inside MPI. A
// TCP connection, in contrast, is answered by the kernel of the process's host, even before the process
// accepts it, until the process ends. Each process therefore listens at a port of its own. A process in doubt
// about another process dials it, sends nothing, and observes the connection:
//
//   not made (yet)            unknown: the host is cut off, or TCP is blocked on the way
//   made                      the process lives and its host answers: the kernel sends keepalives, and ends
//                             the connection if the host is silent for LANYARD_PEER_TIMEOUT
//                             (net/system_sockets.h)
//   made once, and ended      gone: the process has ended, or its host is silent
//
// A connection that is refused or not made proves nothing, since firewalls refuse connections too, and a
// route may be out of order for a while. As long as none is made, the peer is therefore dialed anew every
// second. (The kernel repeats a single attempt at ever longer intervals.) The cost is a listening socket for
// each address of this process, and a connection to each address of a peer in doubt, which is closed when
// something arrives from the peer again.
// Connections from other processes are kept until they end; while a process computes, its kernel takes care
// of them.
// Thread rule: the owner of the engine.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/error.h"
#include "net/sockets.h"
#include "path/dgram/flow.h"

namespace lanyard {

class Liveness {
public:
    using FindAddresses = std::function<Error(uint32_t peer, std::vector<Address> &list)>;

    Liveness(Sockets &sockets, FindAddresses find) : sockets_(sockets), find_(std::move(find)) {}
    ~Liveness() { close(); }
    Liveness(const Liveness &) = delete;
    Liveness &operator=(const Liveness &) = delete;

    // Listens at these addresses, all with one port: `wanted` if it is free, else one of least..most (0, 0:
    // any). Returns the port, or 0 if no port is free at all the addresses; other processes then cannot check
    // this one.
    uint16_t listen(const std::vector<Address> &addresses, uint16_t wanted, uint16_t least, uint16_t most);
    // Returns what is known about the peer. Dials the peer if no connection is made, at most once a second.
    // `gone` is returned only once, by the call that finds that a connection has ended.
    dgram::PeerState ask(uint32_t peer);
    // Called when something has arrived from the peer, or its flow has ended. Closes the connections to it.
    void heard(uint32_t peer) {
        if (!lines_.empty()) let_go(peer);
    }
    // Accepts connections that other processes have dialed, and drops those that have ended.
    void tend();
    void close();

private:
    struct Line {
        int socket;
        bool made = false;
    };
    struct Lines {  // to the addresses of one peer
        std::vector<Line> list;
        uint64_t dial_at_ns = 0;  // when the peer is dialed next if no connection is made
    };

    bool listen_at(const std::vector<Address> &addresses, uint16_t port);
    dgram::PeerState look(Lines &lines);
    void dial(uint32_t peer, Lines &lines);
    void hang_up(Lines &lines);
    void let_go(uint32_t peer);
    bool has_ended(int socket);

    Sockets &sockets_;
    FindAddresses find_;
    std::vector<int> listeners_;
    std::map<uint32_t, Lines> lines_;  // indexed by peer
    std::vector<int> from_others_;
};

}  // namespace lanyard
