// Makes the one connection between two processes of a job, again whenever it is lost. Greets on it (greeting.h) and hands the socket to its
// user, who speaks frames.
//
// Which connection counts
// - Each attempt has an epoch, greater than any the dialer knows of for this pair. Of two attempts the one with the greater epoch counts; of
//   two with the same epoch, which both sides began at once, the one dialed by the process with the lower name. So both sides choose alike
//   without asking. The lower one therefore keeps a hello of the same epoch waiting until its own attempt is decided, and the higher one drops
//   its own attempt when such a hello comes.
// - An attempt dials every address of the peer at once, with the same epoch; the first that is welcomed is confirmed, the others are closed.
// - Before it names the envelope it expects, a process closes the connection it had (User::let_go): nothing that still lies in an old one
//   can arrive later. A connection counts for the dialer when it has sent `confirm`, for the acceptor when that has come; either may be wrong
//   about the other for a while, and then finds its connection closed and dials again, with a greater epoch.
//   Where one address is known to be good, by having been used, the others follow only after a while.
// - An attempt that fails is repeated, after a pause that grows to a second, until the user stops wanting it. So is one that gets no answer,
//   after a time that grows from two seconds to thirty: the peer may compute, but its answer may also have gone a way that is dead.
// - A connection is moved to another address by an attempt at that address alone. The one that there is stays until that is welcomed.
//
// Strangers: what does not prove itself is counted and closed, changes nothing, and only so many can wait at a time.
// Thread rule: the owner of the engine.
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
        // Closes the connection to the peer, if there is one, and says which envelope is expected next.
        virtual uint64_t let_go(uint32_t peer) = 0;
        // The connection, whose other end expects this envelope next. The socket is the user's now.
        virtual void connected(uint32_t peer, int socket, uint64_t peer_expects) = 0;
        // `first`: how many of them, from the front, are to be tried before the others; 0: all at once.
        virtual Error addresses(uint32_t peer, std::vector<Address> &list, size_t &first) = 0;
        // The peer's host has taken a connection, though the peer itself has not answered yet: it may be computing.
        virtual void alive(uint32_t peer) = 0;
        // No further socket can be opened: closes one if it can.
        virtual bool make_room() { return false; }
        // Its settings are such that there cannot be a connection. Called inside poll(), and again when the peer asks again.
        virtual void unfit(uint32_t peer, const char *why) = 0;
        // What measure() has found.
        virtual void measured(uint32_t peer, const AddressChoice::Found &found) = 0;
        // What move() wanted has failed.
        virtual void not_moved(uint32_t peer) = 0;
    };
    struct Counts {
        Tally<uint64_t> made, dialed, strangers, measured, moves;
    };
    // Tokens of its own sockets in Sockets::ready(): only when one of these is ready, or a deadline has come, poll() has work.
    static constexpr uint64_t token = UINT64_MAX;

    Connector(Sockets &sockets, const WireIdentity &identity, const Processes &processes, User &user);
    ~Connector();
    Connector(const Connector &) = delete;
    Connector &operator=(const Connector &) = delete;

    // Listens at these addresses, all with one port, which is drawn from least..most (0, 0: the kernel chooses) and returned in `port`.
    Error listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port);
    // There are more processes.
    void grow() { pairs_.resize(processes_.count()); }
    // Begins an attempt to connect, unless one is under way.
    void want(uint32_t peer);
    // Begins to make the connection to a peer anew by this address, unless an attempt is under way.
    void move(uint32_t peer, const Address &address);
    // Measures what this address gives, by writing to it for so long, beside the connection.
    void measure(uint32_t peer, const Address &address, uint64_t writing_ns, uint64_t bytes_between_samples) {
        meter_.begin(peer, address, writing_ns, bytes_between_samples);
    }
    // Are there sockets to spare for that?
    bool may_measure() const { return short_since_ns_ == 0 && meter_.may_begin(); }
    // The connection to this peer is needed no more.
    void give_up(uint32_t peer);
    // Why the latest attempt failed, for reports; "" when none did.
    const std::string &trouble(uint32_t peer) { return pairs_[peer].trouble; }

    // Greets; the work done. Reads the clock itself: the engine's may have stood still while the program computed, and a patience that is
    // counted from then would be over at once.
    int poll();
    // When poll() has work though no socket is ready.
    uint64_t deadline_ns() const;
    const Counts &counts() const { return counts_; }
    void close();

private:
    enum class Stage { later, connecting, hello_sent, confirming, accepted, held, welcome_sent, refusing, ended };
    // One socket on which greetings are exchanged.
    struct Attempt {
        int socket = -1;
        Stage stage = Stage::ended;
        bool dialed = false;
        bool moves = false;  // a connection that there is
        uint32_t peer = UINT32_MAX;
        uint64_t deadline_ns = UINT64_MAX;
        Address address;
        Greeting sent{}, received{};
        size_t to_write = 0, written = 0, read = 0;
    };
    // What is known of this process and one other. `epoch` is the greatest of any attempt that counted here.
    struct Pair {
        uint32_t epoch = 0;
        bool dialed_by_other = false;  // the attempt of that epoch
        bool confirmed = false;        // it became a connection
        bool wanted = false;
        uint32_t failures = 0;
        uint32_t unanswered = 0;       // attempts since the last connection that ended since no answer came
        bool no_answer = false;        // the attempt under way is one
        uint64_t again_ns = UINT64_MAX;  // when to dial again
        std::string trouble;
    };

    static constexpr uint64_t greeting_patience_ns = 10'000'000'000;  // with a side that has dialed

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

    // handshake.cc: what is said on them
    int advance(Attempt &attempt, uint64_t now_ns);
    bool flush(Attempt &attempt, uint64_t now_ns);
    bool read_greeting(Attempt &attempt, uint64_t now_ns);
    void say(Attempt &attempt, GreetingKind kind, uint32_t epoch, uint64_t expects, const Greeting *answered);
    void heard(Attempt &attempt, uint64_t now_ns);
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
    std::vector<uint32_t> pausing_;  // pairs with again_ns
    Meter meter_;
    Counts counts_;
    uint64_t short_since_ns_ = 0;
    bool shortage_told_ = false, version_told_ = false;
};

}  // namespace lanyard
