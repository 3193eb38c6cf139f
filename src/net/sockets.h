// Sockets is the interface to stream sockets, reduced to what the paths need. No function blocks. Results are
// numbers >= 0 or -errno. There are two kinds: the kernel's sockets (system_sockets.h) and those of the
// simulator (path/sim/sim_sockets.h), on which the same code runs in virtual time.
// Thread rule: only the owner of the engine calls these functions; the thread that sleeps may use
// descriptor().
// Tested by: tests/conformance/conformance_test.cc.
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
    struct Delivery {
        uint64_t acked = 0;        // bytes that the other host has acknowledged
        uint64_t rate = 0;         // bytes/s, over about the latest round trip
        bool held_back = false;    // too little was written for `rate` to show what the network can carry
    };

    virtual ~Sockets() = default;

    // Opens a listening socket. If the port is 0, the kernel chooses a port. bound() returns the local
    // address of any socket.
    virtual int listen(const Address &at) = 0;
    virtual Address bound(int socket) = 0;
    // Returns the next connection that has arrived, -EAGAIN if there is none, or another error.
    virtual int accept(int listener) = 0;
    // Begins to connect a new socket and returns the socket. When the attempt has ended, the socket becomes
    // writable. connect_result() returns -EINPROGRESS until then, and then 0 or, only once, the error.
    virtual int connect(const Address &to) = 0;
    virtual int connect_result(int socket) = 0;
    // Returns the number of bytes read, 0 at the end of the stream, or -EAGAIN if nothing has arrived.
    virtual ssize_t read(int socket, const iovec *parts, int count) = 0;
    virtual ssize_t write(int socket, const iovec *parts, int count) = 0;
    // Closes the socket, which also ends watching it and ends the connection, even if a child of fork() has a
    // copy of the socket. (In the child itself, only the copy is closed.) Bytes written before are still
    // delivered, unless bytes that have arrived here are still unread.
    virtual void close(int socket) = 0;
    // Would read() return something: bytes, the end of the stream, or an error? A simulation may leave this
    // out.
    virtual bool has_unread(int) { return false; }

    // The time since the other host last acknowledged anything, at least 1; 0 if all bytes that the kernel
    // has sent are acknowledged.
    virtual uint64_t silence_ns(int) { return 0; }
    // The address of the other end; its version is 0 if it is unknown.
    virtual Address other_end(int socket) = 0;
    virtual Delivery delivery(int socket) = 0;

    // Lets ready() report the socket under this token from now on: when it is readable, and, if `writable` is
    // true, also when it is writable. May be called again to change `writable` or the token.
    virtual void watch(int socket, uint64_t token, bool writable) = 0;
    // Ends watching until watch() is called again. Receiving data costs more at a watched socket.
    virtual void unwatch(int socket) = 0;
    // Sets how many unread bytes a watched socket must have to count as readable; 1 at first. A connection
    // that has ended is always readable. read() returns what has arrived, even if it is less.
    virtual void wake_at(int socket, size_t bytes) = 0;
    // Lists sockets that are ready now, at most `most` of them. Returns how many.
    virtual int ready(Ready *list, int most) = 0;
    // A descriptor that becomes readable when ready() can report a socket; -1 in a simulation.
    virtual int descriptor() const = 0;

    virtual uint64_t now_ns() = 0;
    // A random number for a nonce; unpredictable except in a simulation, or if the system refuses random
    // numbers.
    virtual uint64_t random() = 0;
};

}  // namespace lanyard
