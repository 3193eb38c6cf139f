// SimSockets simulates the sockets of processes for tests, in the virtual time of a Baton (baton.h).
// Controlled by a seed, the streams between the processes do everything that TCP may do to a program. Bytes
// arrive late and in any portions, and buffers fill. Connections are refused, never answered or accepted
// slowly. Connections are reset at any moment, each end learns of the reset at a time of its own, and what
// was in flight is lost. While a cable is cut, its connections are silent, and nothing reports the cut. What
// is written during this time arrives when the cable is repaired, since the kernel repeats it. If one end
// closes a connection with unread bytes during this time, the other end never learns of this reset. (Random
// resets do not depend on cuts.)
// Thread rule: the thread that holds the baton. Compiled into tests only.
// Tested by: tests/conformance/conformance_test.cc, tests/sim/links_test.cc.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "net/sockets.h"
#include "path/sim/baton.h"

namespace lanyard::sim {

struct SocketBehaviour {
    uint64_t usual_delay_ns = 2000;
    uint64_t long_delay_ns = 200'000;
    int long_delay_percent = 2;
    size_t capacity = 8192;    // bytes in flight in one direction; beyond this, the sender waits
    int portion_percent = 30;  // reads and writes that transfer only some of the bytes
    int refuse_percent = 0;    // connections that are refused
    int vanish_percent = 0;    // connections that are never answered
    int reset_permille = 0;    // reads and writes at which the connection is reset
    int preempt_percent = 25;  // polls before which other threads run
    int resets_left = 1'000'000;
    // Writes in which one bit is changed. any() leaves this 0, since only links that check their frames
    // survive a changed bit.
    int flip_permille = 0;
    int flips_left = 0;
    uint32_t addresses = 1;  // the number of addresses of each process
    uint32_t fastest = 0;  // index of the fastest address; the others have a third of its rate, a fifth...
    int held_back_percent = 0;  // calls of delivery() that report the connection as held back
    // A connection ends when the other host has been silent for this time (as with keepalives).
    uint64_t patience_ns = UINT64_MAX;

    static SocketBehaviour any(Random &random);
};

class SimSockets;

// SimInternet connects the sockets of all processes. It has their listeners, and decides what happens to
// their streams. It must outlive them.
class SimInternet {
public:
    SimInternet(Baton &baton, const SocketBehaviour &behaviour) : baton_(baton), behaviour_(behaviour) {}

    // States which thread is notified when something happens at the sockets of this process.
    void drives(uint32_t process, uint32_t thread);
    // An address of a process.
    static Address address_of(uint32_t process, uint32_t which = 0);
    std::vector<Address> addresses_of(uint32_t process) const;
    // The rate that delivery() reports for connections to this address. Rates have no other effect.
    uint64_t rate_by(const Address &address) const;
    uint64_t resets() const { return resets_; }
    uint64_t flips() const { return flips_; }
    // Cuts the cable behind one address of a process (`which`: the address's index), or behind all its
    // addresses, during this time. Bytes that would arrive during the cut arrive after its end instead, even
    // if they were written before the cut. Must be called before drives().
    void cut(uint32_t process, uint64_t from_ns, uint64_t until_ns, uint32_t which = UINT32_MAX) {
        cuts_.push_back({process, which, from_ns, until_ns});
    }
    // From now on nothing breaks, except by cuts.
    void calm() {
        behaviour_.reset_permille = behaviour_.refuse_percent = behaviour_.vanish_percent =
            behaviour_.flip_permille = 0;
    }

private:
    friend class SimSockets;
    struct Chunk {
        uint64_t time_ns;
        std::vector<std::byte> bytes;
    };
    struct End {  // one end of a stream, with what arrives at this end
        uint32_t process = UINT32_MAX;
        std::deque<Chunk> arriving;
        size_t arriving_bytes = 0;
        size_t read_of_first = 0;
        uint64_t last_time_ns = 0;
        uint64_t read_time_ns = 0;  // when the chunk that was read last had arrived
        bool ended = false;         // the other end has been closed, so nothing arrives after `arriving`
        uint64_t end_time_ns = 0;
        uint64_t reset_time_ns = UINT64_MAX;
        bool closed = false;  // by its owner
        bool other_wants_room = false;
    };
    struct Stream {
        End ends[2];  // 0: the end that connected; 1: the end that accepted
        uint64_t established_ns = 0;
        Address addresses[2];       // of the two ends
        uint64_t read[2] = {0, 0};  // bytes read by each end
        bool refused = false;
    };
    struct Waiting {
        uint64_t time_ns;
        std::shared_ptr<Stream> stream;
    };
    struct Listener {
        Address at;
        uint32_t process;
        std::deque<Waiting> waiting;
    };

    struct Cut {
        uint32_t process, which;
        uint64_t from_ns, until_ns;
    };

    uint64_t delay_ns();
    static bool is_on(const Cut &cut, const Stream &stream, uint64_t time_ns);
    uint64_t passes_ns(const Stream &stream, uint64_t time_ns);
    uint64_t cut_since_ns(const Stream &stream) const;
    static uint64_t latest_arrival_ns(const End &end, uint64_t now_ns);
    void tell(uint32_t process, uint64_t time_ns);
    void reset(Stream &stream);

    Baton &baton_;
    SocketBehaviour behaviour_;
    std::vector<uint32_t> threads_;
    std::vector<std::shared_ptr<Listener>> listeners_;
    std::vector<Cut> cuts_;
    uint64_t resets_ = 0, flips_ = 0;
    uint16_t next_port_ = 1000;
};

// The sockets of one process.
class SimSockets final : public Sockets {
public:
    SimSockets(SimInternet &internet, uint32_t process) : net_(internet), process_(process) {}
    ~SimSockets() override;

    int listen(const Address &at) override;
    Address bound(int socket) override;
    int accept(int listener) override;
    int connect(const Address &to) override;
    int connect_result(int socket) override;
    ssize_t read(int socket, const iovec *parts, int count) override;
    ssize_t write(int socket, const iovec *parts, int count) override;
    void close(int socket) override;
    uint64_t silence_ns(int socket) override;
    Address other_end(int socket) override;
    Delivery delivery(int socket) override;
    void watch(int socket, uint64_t token, bool writable) override;
    void unwatch(int socket) override { sockets_[at(socket)].watched = false; }
    void wake_at(int socket, size_t bytes) override { sockets_[at(socket)].wake_at = bytes; }
    int ready(Ready *list, int most) override;
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return net_.baton_.now_ns(); }
    uint64_t random() override { return net_.baton_.random().next(); }

private:
    struct Socket {
        std::shared_ptr<SimInternet::Stream> stream;
        std::shared_ptr<SimInternet::Listener> listener;
        int side = 0;
        bool watched = false, wants_writable = false;
        size_t wake_at = 1;
        uint64_t token = 0;
        bool in_use = false;
    };

    static size_t at(int socket) { return static_cast<size_t>(socket); }
    int add(Socket socket);
    size_t portion(size_t bytes);
    bool readable(const Socket &socket) const;
    bool writable(const Socket &socket) const;
    void note_silence(Socket &socket);
    bool misfortune(SimInternet::Stream &stream);
    void flip_a_bit(std::vector<std::byte> &bytes);

    SimInternet &net_;
    uint32_t process_;
    std::vector<Socket> sockets_;
};

}  // namespace lanyard::sim
