// Stream sockets, as little of them as the paths need: everything nonblocking, results are numbers >= 0 or -errno. Two kinds: the
// kernel's (system_sockets.h) and the simulator's (path/sim/sim_sockets.h), on which the same code runs in virtual time.
// Thread rule: the owner of the engine; ready() with its descriptor by whoever sleeps.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

#include "net/address.h"

namespace lanyard {

class Sockets {
public:
    // What can be done without waiting, of a socket that is watched.
    struct Ready {
        uint64_t token;
        bool readable, writable;
    };

    // What a connection has carried away from here.
    struct Traffic {
        uint64_t acked = 0;        // bytes that the other host has
        uint64_t rate = 0;         // bytes/s, over about the latest round trip
        bool held_back = false;    // by the program, which wrote too little for the rate to say much
    };

    virtual ~Sockets() = default;

    // A listening socket; with port 0 the kernel chooses one. bound() says where.
    virtual int listen(const Address &at) = 0;
    virtual Address bound(int socket) = 0;
    // The next connection that has come, or -EAGAIN.
    virtual int accept(int listener) = 0;
    // Begins to connect; the socket becomes writable when connect_result() knows more than -EINPROGRESS.
    virtual int connect(const Address &to) = 0;
    virtual int connect_result(int socket) = 0;
    // Bytes read, 0 at the end of the stream, -EAGAIN when none are there.
    virtual ssize_t read(int socket, const iovec *parts, int count) = 0;
    virtual ssize_t write(int socket, const iovec *parts, int count) = 0;
    // Ends it, also watching it. What was written is still delivered, unless there are unread bytes here.
    virtual void close(int socket) = 0;

    // How long the other host has not acknowledged what was written; 0 when there is nothing to acknowledge.
    virtual uint64_t silence_ns(int) { return 0; }
    // The other end's address; version 0 where it is not known.
    virtual Address other_end(int socket) = 0;
    virtual Traffic traffic(int socket) = 0;

    // From now on ready() reports the socket under this token: readable always, writable where asked. May be called again to change that.
    virtual void watch(int socket, uint64_t token, bool writable) = 0;
    // No more, until watch() is called again: what arrives at a socket that is watched costs more.
    virtual void unwatch(int socket) = 0;
    // A watched socket is readable once it has so many bytes, or has ended; 1 at first. Nobody else reads it.
    virtual void wake_at(int socket, size_t bytes) = 0;
    // At most `most` of what is ready now.
    virtual int ready(Ready *list, int most) = 0;
    // Becomes readable when ready() has something; -1 in a simulation.
    virtual int descriptor() const = 0;

    virtual uint64_t now_ns() = 0;
    // For nonces; unpredictable but in a simulation.
    virtual uint64_t random() = 0;
};

}  // namespace lanyard
