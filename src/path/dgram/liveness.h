// Whether a process that does not answer datagrams still runs. It may compute for as long as it likes, and
// with LANYARD_DGRAM_PROGRESS=engine only the program answers for it. A TCP connection, in contrast, is
// answered by the kernel of its host, from before it is accepted until the process ends. Each process
// therefore listens at a port of its own. A process in doubt about another dials it, sends nothing, and looks
// at what becomes of the connection:
//
//   not made (yet)            unknown: the host is cut off, or TCP is blocked on the way
//   made                      the process lives and its host answers: the kernel sends keepalives, and ends
//                             the connection if the host is silent for LANYARD_PEER_TIMEOUT
//                             (net/system_sockets.h)
//   made once, and ended      gone: the process has ended, or its host is silent
//
// A refused connection proves nothing, since firewalls refuse connections too. The cost is a listening
// socket, and a connection for each peer in doubt, which is closed when the peer is heard again. Connections
// from others are kept until they end; a process that computes leaves them to the kernel.
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
    // any). Returns the port; 0: it could not listen.
    uint16_t listen(const std::vector<Address> &addresses, uint16_t wanted, uint16_t least, uint16_t most);
    // What is known about the peer. Dials it if that has not been done.
    dgram::Life ask(uint32_t peer);
    // The peer has been heard.
    void heard(uint32_t peer) {
        if (!lines_.empty()) let_go(peer);
    }
    // Accepts what others have dialed, and drops what they have closed.
    void tend();
    void close();

private:
    struct Line {
        int socket;
        bool made = false;
    };

    bool listen_at(const std::vector<Address> &addresses, uint16_t port);
    void let_go(uint32_t peer);
    bool has_ended(int socket);

    Sockets &sockets_;
    FindAddresses find_;
    std::vector<int> listeners_;
    std::map<uint32_t, std::vector<Line>> lines_;  // by peer
    std::vector<int> from_others_;
};

}  // namespace lanyard
