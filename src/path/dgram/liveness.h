// Whether a process lives that does not answer datagrams: it may compute for as long as it likes, and nobody but the program answers for it where
// LANYARD_DGRAM_PROGRESS=engine. A TCP connection is answered by the kernel of its host, from before it is accepted to the end of the process. So
// each process listens at a port of its own, and who doubts another dials it, sends nothing, and looks at what has become of the connection:
//
//   not made (yet)            unknown: the host is cut off, or TCP is closed on the way
//   made                      the process lives, and its host answers: the kernel asks it, and ends the connection if it is silent for
//                             LANYARD_PEER_TIMEOUT (net/system_sockets.h)
//   made once, and ended      gone: the process has ended, or its host is silent
//
// A connection that is refused proves nothing, as firewalls do that too. Costs a listening socket, and a connection for each peer in doubt, which is
// closed when it is heard again. Connections from others are kept until they end; a process that computes leaves them to the kernel.
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

    // At these addresses, all with one port: `wanted` if it is free, else one of least..most (0, 0: any). 0: at none.
    uint16_t listen(const std::vector<Address> &addresses, uint16_t wanted, uint16_t least, uint16_t most);
    // What is known of the peer; dials it, if that has not been done.
    dgram::Life ask(uint32_t peer);
    // The peer has been heard.
    void heard(uint32_t peer) {
        if (!lines_.empty()) let_go(peer);
    }
    // Takes what others have dialed, and drops what they have closed.
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
