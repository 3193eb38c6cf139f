// Begins and accepts attempts to connect, repeats them after a while, and gives them up. See connector.h.
#include "path/tcp/connector.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace lanyard {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t connect_patience_ns = 3'000 * ms;
constexpr uint64_t first_pause_ns = 5 * ms, longest_pause_ns = 1'000 * ms;
constexpr uint64_t shortage_patience_ns = 1'000 * ms;
constexpr uint64_t accept_again_after_ns = 100 * ms;
constexpr uint64_t others_after_ns = 250 * ms;  // for other addresses, if one is known to be good
constexpr size_t most_strangers = 128;          // connections that have not identified themselves

bool is_shortage(int result) { return result == -EMFILE || result == -ENFILE; }

}  // namespace

Connector::Connector(Sockets &sockets, const WireIdentity &identity, const Processes &processes, User &user)
    : sockets_(sockets), identity_(identity), processes_(processes), user_(user),
      meter_(sockets, identity, processes, token) {
    grow();
}

Connector::~Connector() { close(); }

void Connector::close() {
    for (auto &attempt : attempts_) end(*attempt);
    attempts_.clear();
    meter_.close();
    for (int listener : listeners_) sockets_.close(listener);
    listeners_.clear();
}

// Returns 0 or -errno.
int Connector::listen_at(const std::vector<Address> &addresses, uint16_t port) {
    for (const Address &address : addresses) {
        int listener = sockets_.listen(address.with_port(port));
        if (listener < 0) {
            for (int opened : listeners_) sockets_.close(opened);
            listeners_.clear();
            return listener;
        }
        listeners_.push_back(listener);
        port = sockets_.bound(listener).port;
    }
    return 0;
}

Error Connector::listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most,
                        uint16_t &port) {
    uint32_t choices = least == 0 ? 16 : static_cast<uint32_t>(most - least) + 1;
    auto first = static_cast<uint32_t>(sockets_.random() % choices);
    int result = -EADDRNOTAVAIL;
    for (uint32_t i = 0; i < choices; ++i) {
        result = listen_at(addresses, least == 0 ? 0 : static_cast<uint16_t>(least + (first + i) % choices));
        if (result == 0) break;
        if (result != -EADDRINUSE && result != -EACCES) break;
    }
    if (result < 0) {
        std::string where;
        for (const Address &address : addresses) where += (where.empty() ? "" : ", ") + to_text(address);
        std::string ports =
            least ? " with a port of LANYARD_PORT_RANGE=" + std::to_string(least) + "-" + std::to_string(most)
                  : "";
        const char *advice = least && result == -EADDRINUSE
                                 ? "; each process of a host needs a port of its own: name more of them"
                                 : "";
        return Error(ErrorClass::other,
                     "this process cannot listen at " + where + ports + ": " + system_text(-result) + advice);
    }
    for (int listener : listeners_) sockets_.watch(listener, token, false);
    port = sockets_.bound(listeners_.front()).port;
    return {};
}

bool Connector::under_way(uint32_t peer, bool dialed) const {
    return std::any_of(attempts_.begin(), attempts_.end(), [&](const auto &attempt) {
        return attempt->phase != Phase::ended && attempt->phase != Phase::held &&
               attempt->phase != Phase::refusing && attempt->peer == peer && attempt->dialed == dialed;
    });
}

bool Connector::want(uint32_t peer) {
    Pair &pair = pairs_[peer];
    if (std::exchange(pair.wanted, true)) return false;
    if (!under_way(peer, true) && !under_way(peer, false)) dial(peer, sockets_.now_ns());
    return true;
}

bool Connector::awaits_answer(uint32_t peer) const {
    return std::any_of(attempts_.begin(), attempts_.end(), [&](const auto &attempt) {
        return attempt->peer == peer && attempt->phase == Phase::hello_sent;
    });
}

void Connector::give_up(uint32_t peer) {
    pairs_[peer].wanted = false;
    pairs_[peer].given_up = true;
    for (auto &attempt : attempts_)
        if (attempt->peer == peer) end(*attempt);
}

// Counts a further attempt, with the next epoch.
void Connector::begin_attempt(uint32_t peer) {
    Pair &pair = pairs_[peer];
    ++pair.epoch;
    pair.dialed_by_other = pair.confirmed = false;
    ++counts_.dialed;
}

void Connector::dial(uint32_t peer, uint64_t now_ns) {
    Pair &pair = pairs_[peer];
    pair.again_ns = UINT64_MAX;
    std::vector<Address> addresses;
    size_t first = 0;
    if (Error error = user_.addresses(peer, addresses, first)) pair.trouble = error.take().sentence;
    begin_attempt(peer);
    for (size_t i = 0; i < addresses.size(); ++i)
        dial_one(peer, addresses[i], first == 0 || i < first ? now_ns : now_ns + others_after_ns, false,
                 now_ns);
    settle(peer, now_ns);
}

void Connector::move(uint32_t peer, const Address &address) {
    if (under_way(peer, true) || under_way(peer, false)) return user_.not_moved(peer);
    uint64_t now_ns = sockets_.now_ns();
    begin_attempt(peer);
    dial_one(peer, address, now_ns, true, now_ns);
}

// Dials one address, at `start_ns`.
void Connector::dial_one(uint32_t peer, const Address &address, uint64_t start_ns, bool moves,
                         uint64_t now_ns) {
    auto attempt = std::make_unique<Attempt>();
    attempt->phase = Phase::later;
    attempt->dialed = true;
    attempt->moves = moves;
    attempt->peer = peer;
    attempt->deadline_ns = start_ns;
    attempt->address = address;
    if (start_ns > now_ns || connect(*attempt, now_ns)) attempts_.push_back(std::move(attempt));
    else if (moves) user_.not_moved(peer);
}

bool Connector::connect(Attempt &attempt, uint64_t now_ns) {
    int socket = sockets_.connect(attempt.address);
    // No connection is closed to make room for an attempt that only moves an existing connection.
    if (is_shortage(socket) && !attempt.moves && user_.make_room())
        socket = sockets_.connect(attempt.address);
    if (socket < 0) {
        pairs_[attempt.peer].trouble = to_text_with_port(attempt.address) + ": " + system_text(-socket);
        if (!attempt.moves) note_shortage(socket, now_ns);
        return false;
    }
    short_since_ns_ = 0;
    attempt.socket = socket;
    attempt.phase = Phase::connecting;
    attempt.deadline_ns = now_ns + connect_patience_ns;
    sockets_.watch(socket, token, true);
    return true;
}

// Reports a shortage of sockets once, if it lasts, since the other processes only see that this one does not
// answer.
void Connector::note_shortage(int result, uint64_t now_ns) {
    if (!is_shortage(result)) return;
    if (!short_since_ns_) short_since_ns_ = now_ns;
    if (shortage_told_ || now_ns < short_since_ns_ + shortage_patience_ns) return;
    shortage_told_ = true;
    log(LogLevel::warn, "tcp",
        "no socket can be opened for a further connection of the job: %s; raise the limit of open files "
        "(ulimit -n)",
        system_text(-result).c_str());
}

int Connector::accept_all(uint64_t now_ns) {
    int work = 0;
    bool is_short = false;
    for (int listener : listeners_) {
        for (int socket; (socket = sockets_.accept(listener)) != -EAGAIN; ++work) {
            if (is_shortage(socket) && user_.make_room()) continue;
            if (socket < 0) {
                note_shortage(socket, now_ns);
                is_short |= is_shortage(socket);
                break;
            }
            short_since_ns_ = 0;
            auto is_unknown = [](const auto &attempt) { return attempt->phase == Phase::accepted; };
            if (std::count_if(attempts_.begin(), attempts_.end(), is_unknown) >=
                static_cast<std::ptrdiff_t>(most_strangers)) {
                auto oldest = std::find_if(attempts_.begin(), attempts_.end(), is_unknown);
                refuse_stranger(**oldest, "it says nothing, and others wait");
            }
            auto attempt = std::make_unique<Attempt>();
            attempt->socket = socket;
            attempt->phase = Phase::accepted;
            attempt->deadline_ns = now_ns + greeting_patience_ns;
            sockets_.watch(socket, token, false);
            attempts_.push_back(std::move(attempt));
        }
    }
    if (!is_short && accept_again_ns_ == UINT64_MAX) return work;
    accept_again_ns_ = is_short ? now_ns + accept_again_after_ns : UINT64_MAX;
    for (int listener : listeners_) {
        if (is_short) sockets_.unwatch(listener);
        else sockets_.watch(listener, token, false);
    }
    return work;
}

int Connector::poll() {
    uint64_t now_ns = sockets_.now_ns();
    int work = accept_all(now_ns);
    // By index, since greetings that are received may begin further attempts.
    for (size_t i = 0; i < attempts_.size(); ++i) work += advance(*attempts_[i], now_ns);
    work += take_measured(now_ns);
    std::erase_if(attempts_, [](const auto &attempt) { return attempt->phase == Phase::ended; });
    for (size_t i = 0; i < pausing_.size();) {
        uint32_t peer = pausing_[i];
        Pair &pair = pairs_[peer];
        bool due = pair.again_ns <= now_ns;
        if (!due && pair.again_ns != UINT64_MAX) {
            ++i;
            continue;
        }
        pausing_[i] = pausing_.back();
        pausing_.pop_back();
        pair.again_ns = UINT64_MAX;
        if (due && pair.wanted && !under_way(peer, true) && !under_way(peer, false)) {
            dial(peer, now_ns);
            ++work;
        }
    }
    return work;
}

uint64_t Connector::deadline_ns() const {
    uint64_t earliest = std::min(meter_.deadline_ns(), accept_again_ns_);
    for (const auto &attempt : attempts_) earliest = std::min(earliest, attempt->deadline_ns);
    for (uint32_t peer : pausing_) earliest = std::min(earliest, pairs_[peer].again_ns);
    return earliest;
}

int Connector::take_measured(uint64_t now_ns) {
    std::vector<Meter::Outcome> outcomes;
    int work = meter_.poll(now_ns, outcomes);
    counts_.measured += outcomes.size();
    for (const Meter::Outcome &outcome : outcomes) user_.measured(outcome.peer, outcome.found);
    return work;
}

void Connector::end(Attempt &attempt) {
    if (attempt.socket >= 0) sockets_.close(attempt.socket);
    attempt.socket = -1;
    attempt.phase = Phase::ended;
    attempt.deadline_ns = UINT64_MAX;
}

void Connector::fail(Attempt &attempt, const std::string &why, uint64_t now_ns) {
    uint32_t peer = attempt.peer;
    if (peer == UINT32_MAX)
        return now_ns < attempt.deadline_ns ? end(attempt)
                                            : refuse_stranger(attempt, "it does not say who it is");
    if (attempt.dialed) pairs_[peer].trouble = to_text_with_port(attempt.address) + ": " + why;
    log(LogLevel::debug, "tcp", "peer %u: an attempt to connect has failed: %s", peer, why.c_str());
    if (attempt.phase == Phase::hello_sent && now_ns >= attempt.deadline_ns) pairs_[peer].no_answer = true;
    bool moves = attempt.moves;
    end(attempt);
    for (auto &other : attempts_)
        if (other->peer == peer && other->phase == Phase::later) other->deadline_ns = now_ns;
    if (moves) user_.not_moved(peer);
    settle(peer, now_ns);
}

// Called when an attempt has ended. Answers a hello that was kept waiting for this; if there is none,
// prepares the next attempt.
void Connector::settle(uint32_t peer, uint64_t now_ns) {
    Pair &pair = pairs_[peer];
    if (under_way(peer, true) || under_way(peer, false)) return;
    for (auto &attempt : attempts_) {
        if (attempt->peer != peer || attempt->phase != Phase::held) continue;
        return welcome(*attempt, now_ns);
    }
    pair.unanswered += std::exchange(pair.no_answer, false);
    if (!pair.wanted || pair.again_ns != UINT64_MAX) return;
    uint64_t pause_ns = std::min(first_pause_ns << std::min(pair.failures++, 16u), longest_pause_ns);
    pair.again_ns = now_ns + pause_ns;
    pausing_.push_back(peer);
}

}  // namespace lanyard
