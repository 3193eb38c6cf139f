// Measures the rate at which data can be sent to one address of a peer. Each measurement has a connection of
// its own, which carries no data of the program. Both sides prove that they belong to the job. Then the
// dialer writes zeros for a few milliseconds and queries the kernel for the rate. The other side reads and
// drops the zeros.
//
//     dialer                                acceptor
//       measure                   ------->    checks the proof; the pair's connection is not affected
//                                 <-------    welcome
//       zeros                     ------->    reads and drops them, until the dialer closes
//
// The cost is at most `most_bytes` (meter.cc) on an address that the job does not use. A stranger may replay
// a `measure`, since its proof does not depend on an earlier greeting. This process then reads and drops some
// more bytes, for a limited number of connections at a time.
// Thread rule: the owner of the engine.
// Tested by: tests/sim/links_test.cc, tests/sim/strangers_test.cc.
#pragma once

#include <memory>
#include <vector>

#include "net/sockets.h"
#include "path/tcp/address_choice.h"
#include "path/tcp/greeting.h"

namespace lanyard {

class Meter {
public:
    struct Outcome {
        uint32_t peer;
        AddressChoice::Found found;
    };

    // The meter's sockets are watched under `token`.
    Meter(Sockets &sockets, const WireIdentity &identity, const Processes &processes, uint64_t token)
        : sockets_(sockets), identity_(identity), processes_(processes), token_(token) {}
    ~Meter() { close(); }
    Meter(const Meter &) = delete;
    Meter &operator=(const Meter &) = delete;

    // Begins a measurement, which writes for at most `writing_ns`. poll() returns the outcome. RateSamples
    // explains `bytes_between_samples`.
    void begin(uint32_t peer, const Address &address, uint64_t writing_ns, uint64_t bytes_between_samples);
    // False while many measurements are under way, since each takes a socket.
    bool may_begin() const;
    // Answers a proven `measure` of that peer, and then drops what arrives on the socket. The socket now
    // belongs to the meter.
    void serve(int socket, uint32_t peer, const Greeting &measure);
    // Advances all measurements. Returns the work done, and appends finished measurements to `outcomes`.
    int poll(uint64_t now_ns, std::vector<Outcome> &outcomes);
    uint64_t deadline_ns() const;
    void close();

private:
    enum class Phase { connecting, asked, writing, serving, ended };
    struct Run {
        explicit Run(uint64_t bytes_between_samples = 0) : samples(bytes_between_samples) {}
        int socket = -1;
        Phase phase = Phase::ended;
        uint32_t peer = UINT32_MAX;
        AddressChoice::Found found;
        uint64_t deadline_ns = UINT64_MAX;
        uint64_t writing_ns = 0;
        Greeting sent{}, received{};
        size_t greeting_written = sizeof(Greeting), greeting_read = 0;
        uint64_t bytes = 0;  // bytes written, or read and dropped
        RateSamples samples;
    };

    void say(Run &run, GreetingKind kind, uint32_t to, const Greeting *answered);
    bool flush(Run &run);
    int advance(Run &run, uint64_t now_ns);
    int greet(Run &run, uint64_t now_ns);
    int write_zeros(Run &run, uint64_t now_ns);
    int drop_what_arrives(Run &run);
    void end(Run &run, const char *trouble);

    Sockets &sockets_;
    const WireIdentity &identity_;
    const Processes &processes_;
    const uint64_t token_;
    std::vector<std::unique_ptr<Run>> runs_;
    std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace lanyard
