// Stream sockets, reduced to what the paths need. Everything is nonblocking; results are numbers >= 0 or
// -errno. There are two kinds: the kernel's (system_sockets.h) and the simulator's (path/sim/sim_sockets.h),
// on which the same code runs in virtual time.
// Thread rule: the owner of the engine; the thread that sleeps may use ready() with its descriptor.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

#include "net/address.h"

namespace lanyard {

class Sockets {
public:
    // What a watched socket can do without waiting.
    struct Ready {
        uint64_t token;
        bool readable, writable;
    };

    // What a connection has delivered.
    struct Traffic {
        uint64_t acked = 0;        // bytes that the other host has
        uint64_t rate = 0;         // bytes/s, over about the latest round trip
        bool held_back = false;    // by the program, which wrote too little for the rate to mean much
    };

    virtual ~Sockets() = default;

    // Opens a listening socket; with port 0 the kernel chooses one. bound() returns its address.
    virtual int listen(const Address &at) = 0;
    virtual Address bound(int socket) = 0;
    // The next connection that has arrived, or -EAGAIN.
    virtual int accept(int listener) = 0;
    // Begins to connect. The socket becomes writable when connect_result() returns something other than
    // -EINPROGRESS.
    virtual int connect(const Address &to) = 0;
    virtual int connect_result(int socket) = 0;
    // Returns the bytes read, 0 at the end of the stream, -EAGAIN if there are none.
    virtual ssize_t read(int socket, const iovec *parts, int count) = 0;
    virtual ssize_t write(int socket, const iovec *parts, int count) = 0;
    // Ends the connection, and watching it. What was written is still delivered, unless there are unread
    // bytes here.
    virtual void close(int socket) = 0;

    // For how long the other host has not acknowledged what was written; 0 if nothing is unacknowledged.
    virtual uint64_t silence_ns(int) { return 0; }
    // The other end's address; version 0 if it is unknown.
    virtual Address other_end(int socket) = 0;
    virtual Traffic traffic(int socket) = 0;

    // From now on ready() reports the socket under this token: whenever it is readable, and when it is
    // writable if requested. May be called again to change that.
    virtual void watch(int socket, uint64_t token, bool writable) = 0;
    // Ends that until watch() is called again, because data costs more to receive at a watched socket.
    virtual void unwatch(int socket) = 0;
    // A watched socket is readable once it has this many bytes, or has ended; 1 at first. Only the caller
    // reads it.
    virtual void wake_at(int socket, size_t bytes) = 0;
    // Reports at most `most` of the sockets that are ready now.
    virtual int ready(Ready *list, int most) = 0;
    // Becomes readable when ready() has something; -1 in a simulation.
    virtual int descriptor() const = 0;

    virtual uint64_t now_ns() = 0;
    // For nonces; unpredictable except in a simulation.
    virtual uint64_t random() = 0;
};

}  // namespace lanyard
