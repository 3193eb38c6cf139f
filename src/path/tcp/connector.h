// Makes the one connection between two processes of a job, and makes it again whenever it is lost. Exchanges
// the greetings (greeting.h) and hands the socket to its user, which exchanges frames.
//
// Which connection counts (the dialer opens a connection, the acceptor accepts it):
// - Each attempt has an epoch, greater than any that the dialer has seen for this pair. If there are two
//   attempts, the one with the greater epoch counts. If both sides began at once with the same epoch, the
//   attempt dialed by the process with the lower name counts. Both sides thus choose alike without further
//   messages. The process with the lower name therefore keeps a hello of the same epoch waiting until its own
//   attempt is decided. The process with the higher name drops its own attempt when such a hello arrives.
// - An attempt dials every address of the peer at once, with the same epoch. The first connection that is
//   welcomed is confirmed, and the other connections are closed. If one address is known to be good because
//   it has been used, the other addresses are dialed only after a while.
// - A process closes its old connection before it names the envelope that it expects (User::let_go), so
//   nothing that still lies in the old connection can arrive later. A connection counts for the dialer when
//   the dialer has sent `confirm`, and for the acceptor when `confirm` has arrived. The two sides may
//   disagree for a while. A side whose connection does not count finds it closed and dials again, with a
//   greater epoch.
// - If the acceptor has closed a connection that it needs, it wants the new one too. Otherwise nobody would
//   dial again if `confirm` were lost, since the dialer may have closed the new connection as idle.
// - An attempt that fails is repeated after a pause that grows to one second, until the user no longer wants
//   the connection. An attempt without an answer is repeated after a time that grows from two seconds to
//   thirty. The peer may be computing, and then repeating does not help; but its answer may also have taken a
//   route that does not work.
// - To move a connection to another address, a process makes an attempt at that address alone. The present
//   connection stays until this attempt is welcomed.
//
// Which peers live: the host that accepts a connection may be the wrong one, since an address such as that of
// docker0 leads every host to itself. A process that receives a hello for another process closes the
// connection. So a peer counts as alive when it has sent an answer with a valid proof, or when an attempt has
// stayed open without an answer until its time was over, because the peer may be computing. While an attempt
// waits, it is not known yet whether its peer lives (awaits_answer()). A peer that has been given up is not
// welcomed any more. Its attempts are closed without an answer, so after a while it gives up this process,
// too.
//
// If no socket can be opened for a connection that arrives, the listeners are not watched for a moment.
// Otherwise the process could not sleep, since a connection that is not accepted keeps its listener readable.
//
// Strangers: a connection without a valid proof is counted and closed and changes nothing. Only a limited
// number of unproven connections can wait at a time.
// Thread rule: the owner of the engine.
// Tested by: tests/sim/strangers_test.cc, tests/sim/links_test.cc, tests/fuzz/handshake.cc.
// Tested by: tests/unit/path/tcp/connector_test.cc, tests/sim/silence_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tally.h"
#include "net/sockets.h"
#include "path/tcp/greeting.h"
#include "path/tcp/meter.h"

namespace lanyard {

class Connector {
public:
    class User {
    public:
        virtual ~User() = default;
        struct LetGo {
            uint64_t expects;    // the number of the envelope that this process expects next from the peer
            bool needs_another;  // a connection with the peer is needed now
        };
        // Closes the connection to the peer, if there is one.
        virtual LetGo let_go(uint32_t peer) = 0;
        // Called when the connection is made. `peer_expects`: the envelope that the peer expects next. The
        // socket now belongs to the user.
        virtual void connected(uint32_t peer, int socket, uint64_t peer_expects) = 0;
        // Returns the peer's addresses in `list`. `first`: how many of them, from the front, are to be tried
        // before the others; 0: all are tried at once.
        virtual Error addresses(uint32_t peer, std::vector<Address> &list, size_t &first) = 0;
        // Called when the peer has shown that it lives, although there is no new connection with it yet.
        virtual void alive(uint32_t peer) = 0;
        // Called when no further socket can be opened. Closes a connection if possible, and returns whether
        // one was closed.
        virtual bool make_room() { return false; }
        // Called if the peer's settings permit no connection. This happens inside poll(), and again when the
        // peer dials again.
        virtual void unfit(uint32_t peer, const char *why) = 0;
        // Receives the result of measure().
        virtual void measured(uint32_t peer, const AddressChoice::Found &found) = 0;
        // Called if the connection could not be moved as move() requested, perhaps inside move().
        virtual void not_moved(uint32_t peer) = 0;
    };
    struct Counts {
        Tally<uint64_t> made, dialed, strangers, measured, moves;
    };
    // Token of this class's own sockets in Sockets::ready(). poll() has work only if one of these is ready or
    // a deadline has passed.
    static constexpr uint64_t token = UINT64_MAX;

    Connector(Sockets &sockets, const WireIdentity &identity, const Processes &processes, User &user);
    ~Connector();
    Connector(const Connector &) = delete;
    Connector &operator=(const Connector &) = delete;

    // Listens at these addresses, all with one port. The port is chosen at random from least..most (0, 0: the
    // kernel chooses) and returned in `port`.
    Error listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port);
    // Called when the table of processes has grown.
    void grow() { pairs_.resize(processes_.count()); }
    // Begins an attempt to connect, unless one is under way. Attempts are repeated until one succeeds or
    // give_up() is called. Returns false if the connection was wanted already.
    bool want(uint32_t peer);
    // Has a host accepted an attempt to connect to this peer that still waits for the peer's answer?
    bool awaits_answer(uint32_t peer) const;
    // Begins to move the connection with the peer to this address. Calls User::not_moved() if this fails, and
    // also if an attempt to connect is under way.
    void move(uint32_t peer, const Address &address);
    // Measures the rate of this address by writing to it for at most `writing_ns`, on a separate connection.
    // User::measured() receives the result, inside poll(). RateSamples explains `bytes_between_samples`.
    void measure(uint32_t peer, const Address &address, uint64_t writing_ns, uint64_t bytes_between_samples) {
        meter_.begin(peer, address, writing_ns, bytes_between_samples);
    }
    // Are there sockets to spare for a measurement?
    bool may_measure() const { return short_since_ns_ == 0 && meter_.may_begin(); }
    // Ends all attempts to connect to this peer, and from now on refuses the peer's attempts.
    void give_up(uint32_t peer);
    // Returns why the latest attempt failed, for reports, or "" if none has failed since the last connection.
    const std::string &trouble(uint32_t peer) { return pairs_[peer].trouble; }

    // Exchanges greetings. Returns the work done. Reads the clock itself: the engine's time may have stood
    // still while the program computed, and a timeout that is counted from then would expire at once.
    int poll();
    // The time at which poll() has work even if no socket is ready.
    uint64_t deadline_ns() const;
    const Counts &counts() const { return counts_; }
    void close();

private:
    enum class Phase {
        later,
        connecting,
        hello_sent,
        confirming,
        accepted,
        held,
        welcome_sent,
        refusing,
        ended
    };
    // One socket on which greetings are exchanged.
    struct Attempt {
        int socket = -1;
        Phase phase = Phase::ended;
        bool dialed = false;
        bool moves = false;  // moves an existing connection
        uint32_t peer = UINT32_MAX;
        uint64_t deadline_ns = UINT64_MAX;
        Address address;
        Greeting sent{}, received{};
        size_t to_write = 0, written = 0, read = 0;
        bool awaits_room = false;  // the socket has not taken the whole greeting, and is watched for room
    };
    // What is known about the connection between this process and one other process. `epoch` is the greatest
    // epoch that this process has dialed, welcomed, or received in a proven `behind`.
    struct Pair {
        uint32_t epoch = 0;
        bool dialed_by_other = false;  // the other process dialed the attempt of that epoch
        bool confirmed = false;        // that attempt became a connection
        bool wanted = false;
        bool given_up = false;
        uint32_t failures = 0;
        uint32_t unanswered = 0;         // attempts without an answer since the last connection
        bool no_answer = false;          // the attempt under way has waited for an answer in vain
        uint64_t again_ns = UINT64_MAX;  // when to dial again
        std::string trouble;
    };

    // How long to wait for the next greeting of a process that has dialed.
    static constexpr uint64_t greeting_patience_ns = 10'000'000'000;

    // connector.cc: attempts
    int listen_at(const std::vector<Address> &addresses, uint16_t port);
    void dial(uint32_t peer, uint64_t now_ns);
    void begin_attempt(uint32_t peer);
    void dial_one(uint32_t peer, const Address &address, uint64_t start_ns, bool moves, uint64_t now_ns);
    bool connect(Attempt &attempt, uint64_t now_ns);
    void note_shortage(int result, uint64_t now_ns);
    int accept_all(uint64_t now_ns);
    int take_measured(uint64_t now_ns);
    bool under_way(uint32_t peer, bool dialed) const;
    void end(Attempt &attempt);
    void fail(Attempt &attempt, const std::string &why, uint64_t now_ns);
    void settle(uint32_t peer, uint64_t now_ns);

    // handshake.cc: the greetings on these attempts
    int advance(Attempt &attempt, uint64_t now_ns);
    bool flush(Attempt &attempt, uint64_t now_ns);
    bool read_greeting(Attempt &attempt, uint64_t now_ns);
    void say(Attempt &attempt, GreetingKind kind, uint32_t epoch, uint64_t expects, const Greeting *answered);
    bool counts(const Attempt &attempt, const Pair &pair) const;
    void heard_hello(Attempt &attempt, uint64_t now_ns);
    void welcome(Attempt &attempt, uint64_t now_ns);
    void heard_answer(Attempt &attempt, uint64_t now_ns);
    void hand_over(Attempt &attempt);
    void end_others(const Attempt &chosen);
    void refuse_unfit(Attempt &attempt, uint32_t peer, const char *why);
    void refuse_version(Attempt &attempt);
    void refuse_stranger(Attempt &attempt, const std::string &why);

    Sockets &sockets_;
    const WireIdentity &identity_;
    const Processes &processes_;
    User &user_;
    std::vector<Pair> pairs_;
    std::vector<int> listeners_;
    std::vector<std::unique_ptr<Attempt>> attempts_;
    std::vector<uint32_t> pausing_;  // peers whose again_ns is set
    Meter meter_;
    Counts counts_;
    uint64_t short_since_ns_ = 0;
    // While the listeners are not watched, because no socket could be opened: when to accept again.
    uint64_t accept_again_ns_ = UINT64_MAX;
    bool shortage_told_ = false, version_told_ = false;
};

}  // namespace lanyard
