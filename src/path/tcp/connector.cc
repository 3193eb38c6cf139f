#include "path/tcp/connector.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.h"

namespace lanyard {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t connect_patience_ns = 3'000 * ms;
constexpr uint64_t greeting_patience_ns = 10'000 * ms;
constexpr uint64_t answer_patience_ns = 60'000 * ms;  // a peer that computes does not answer meanwhile
constexpr uint64_t first_pause_ns = 5 * ms, longest_pause_ns = 1'000 * ms;
constexpr uint64_t shortage_patience_ns = 1'000 * ms;
constexpr uint64_t others_after_ns = 250 * ms;        // where an address is known to be good
constexpr size_t most_strangers = 128;  // that have not said who they are

bool is_shortage(int result) { return result == -EMFILE || result == -ENFILE; }

}  // namespace

Connector::Connector(Sockets &sockets, const WireIdentity &identity, uint32_t peers, User &user)
    : sockets_(sockets), identity_(identity), user_(user), pairs_(peers), meter_(sockets, identity, token) {}

Connector::~Connector() { close(); }

void Connector::close() {
    for (auto &attempt : attempts_) end(*attempt);
    attempts_.clear();
    meter_.close();
    for (int listener : listeners_) sockets_.close(listener);
    listeners_.clear();
}

// 0 or -errno.
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

Error Connector::listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port) {
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
        std::string ports = least ? " with a port of LANYARD_PORT_RANGE=" + std::to_string(least) + "-" + std::to_string(most) : "";
        return Error(ErrorClass::other, "this process cannot listen at " + where + ports + ": " + system_text(-result));
    }
    for (int listener : listeners_) sockets_.watch(listener, token, false);
    port = sockets_.bound(listeners_.front()).port;
    return {};
}

bool Connector::under_way(uint32_t peer, bool dialed) const {
    return std::any_of(attempts_.begin(), attempts_.end(), [&](const auto &attempt) {
        return attempt->stage != Stage::ended && attempt->stage != Stage::held && attempt->stage != Stage::refusing && attempt->peer == peer &&
               attempt->dialed == dialed;
    });
}

void Connector::want(uint32_t peer) {
    Pair &pair = pairs_[peer];
    if (pair.wanted) return;
    pair.wanted = true;
    if (!under_way(peer, true) && !under_way(peer, false)) dial(peer, sockets_.now_ns());
}

void Connector::give_up(uint32_t peer) {
    pairs_[peer].wanted = false;
    for (auto &attempt : attempts_)
        if (attempt->peer == peer) end(*attempt);
}

// A further attempt, as far as epochs go.
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
        dial_one(peer, addresses[i], first == 0 || i < first ? now_ns : now_ns + others_after_ns, false, now_ns);
    settle(peer, now_ns);
}

void Connector::move(uint32_t peer, const Address &address) {
    if (under_way(peer, true) || under_way(peer, false)) return user_.not_moved(peer);
    uint64_t now_ns = sockets_.now_ns();
    ++counts_.moves;
    begin_attempt(peer);
    dial_one(peer, address, now_ns, true, now_ns);
}

// Dials at `start_ns`.
void Connector::dial_one(uint32_t peer, const Address &address, uint64_t start_ns, bool moves, uint64_t now_ns) {
    auto attempt = std::make_unique<Attempt>();
    attempt->stage = Stage::later;
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
    // Nothing is closed for a connection that the job has already.
    if (is_shortage(socket) && !attempt.moves && user_.make_room()) socket = sockets_.connect(attempt.address);
    if (socket < 0) {
        pairs_[attempt.peer].trouble = to_text_with_port(attempt.address) + ": " + system_text(-socket);
        if (!attempt.moves) note_shortage(socket, now_ns);
        return false;
    }
    short_since_ns_ = 0;
    attempt.socket = socket;
    attempt.stage = Stage::connecting;
    attempt.deadline_ns = now_ns + connect_patience_ns;
    sockets_.watch(socket, token, true);
    return true;
}

// Told once, when it does not pass, since the others see no more of it than a process that does not answer.
void Connector::note_shortage(int result, uint64_t now_ns) {
    if (!is_shortage(result)) return;
    if (!short_since_ns_) short_since_ns_ = now_ns;
    if (shortage_told_ || now_ns < short_since_ns_ + shortage_patience_ns) return;
    shortage_told_ = true;
    log(LogLevel::warn, "tcp", "no socket can be opened for a further connection of the job: %s; raise the limit of open files (ulimit -n)",
        system_text(-result).c_str());
}

int Connector::accept_all(uint64_t now_ns) {
    int work = 0;
    for (int listener : listeners_) {
        for (int socket; (socket = sockets_.accept(listener)) != -EAGAIN; ++work) {
            if (is_shortage(socket) && user_.make_room()) continue;
            if (socket < 0) {
                note_shortage(socket, now_ns);
                break;
            }
            short_since_ns_ = 0;
            auto is_unknown = [](const auto &attempt) { return attempt->stage == Stage::accepted; };
            if (std::count_if(attempts_.begin(), attempts_.end(), is_unknown) >= static_cast<std::ptrdiff_t>(most_strangers)) {
                auto oldest = std::find_if(attempts_.begin(), attempts_.end(), is_unknown);
                refuse_stranger(**oldest, "it says nothing, and others wait");
            }
            auto attempt = std::make_unique<Attempt>();
            attempt->socket = socket;
            attempt->stage = Stage::accepted;
            attempt->deadline_ns = now_ns + greeting_patience_ns;
            sockets_.watch(socket, token, false);
            attempts_.push_back(std::move(attempt));
        }
    }
    return work;
}

int Connector::poll() {
    uint64_t now_ns = sockets_.now_ns();
    int work = accept_all(now_ns);
    // What is heard may begin further attempts.
    for (size_t i = 0; i < attempts_.size(); ++i) work += advance(*attempts_[i], now_ns);
    work += take_measured(now_ns);
    std::erase_if(attempts_, [](const auto &attempt) { return attempt->stage == Stage::ended; });
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
    uint64_t earliest = meter_.deadline_ns();
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

// Moves one attempt on as far as it goes now.
int Connector::advance(Attempt &attempt, uint64_t now_ns) {
    int work = 0;
    if (attempt.stage == Stage::later) {
        if (now_ns < attempt.deadline_ns || connect(attempt, now_ns)) return 0;
        end(attempt);
        settle(attempt.peer, now_ns);
        return 1;
    }
    if (attempt.stage == Stage::connecting) {
        int result = sockets_.connect_result(attempt.socket);
        if (result == 0) {
            attempt.deadline_ns = now_ns + answer_patience_ns;
            attempt.stage = Stage::hello_sent;
            user_.alive(attempt.peer);
            say(attempt, GreetingKind::hello, pairs_[attempt.peer].epoch, 0, nullptr);
            ++work;
        } else if (result != -EINPROGRESS) {
            fail(attempt, system_text(-result).c_str(), now_ns);
            return 1;
        }
    }
    if (attempt.stage == Stage::held) {  // its dialer has nothing to say before it is answered, but may give up
        char byte;
        iovec place{&byte, 1};
        if (sockets_.read(attempt.socket, &place, 1) != -EAGAIN) end(attempt);
        return work;
    }
    while (attempt.stage != Stage::ended && attempt.stage != Stage::connecting) {
        if (!flush(attempt, now_ns)) break;
        if (attempt.stage == Stage::confirming) {
            hand_over(attempt);
            return work + 1;
        }
        if (attempt.stage == Stage::refusing) {
            end(attempt);
            return work + 1;
        }
        if (!read_greeting(attempt, now_ns)) break;
        heard(attempt, now_ns);
        ++work;
    }
    if (attempt.stage != Stage::ended && now_ns >= attempt.deadline_ns) fail(attempt, "no answer", now_ns);
    return work;
}

// False while something is still to be written, and when the attempt has ended.
bool Connector::flush(Attempt &attempt, uint64_t now_ns) {
    while (attempt.written < attempt.to_write) {
        iovec rest{reinterpret_cast<char *>(&attempt.sent) + attempt.written, attempt.to_write - attempt.written};
        ssize_t bytes = sockets_.write(attempt.socket, &rest, 1);
        if (bytes > 0) {
            attempt.written += static_cast<size_t>(bytes);
            continue;
        }
        if (bytes == -EAGAIN) sockets_.watch(attempt.socket, token, true);
        else fail(attempt, system_text(static_cast<int>(-bytes)).c_str(), now_ns);
        return false;
    }
    return true;
}

// True once a whole greeting has come.
bool Connector::read_greeting(Attempt &attempt, uint64_t now_ns) {
    while (attempt.read < sizeof(Greeting)) {
        iovec rest{reinterpret_cast<char *>(&attempt.received) + attempt.read, sizeof(Greeting) - attempt.read};
        ssize_t bytes = sockets_.read(attempt.socket, &rest, 1);
        if (bytes > 0) {
            attempt.read += static_cast<size_t>(bytes);
            continue;
        }
        if (bytes == 0) fail(attempt, "the connection was closed", now_ns);
        else if (bytes != -EAGAIN) fail(attempt, system_text(static_cast<int>(-bytes)).c_str(), now_ns);
        return false;
    }
    attempt.read = 0;
    return true;
}

void Connector::say(Attempt &attempt, GreetingKind kind, uint32_t epoch, uint64_t expects, const Greeting *answered) {
    attempt.sent = {};
    attempt.sent.kind = kind;
    attempt.sent.to = attempt.peer;
    attempt.sent.epoch = epoch;
    attempt.sent.expects = expects;
    attempt.sent.nonce = sockets_.random();
    seal(attempt.sent, identity_, answered);
    attempt.to_write = sizeof attempt.sent;
    attempt.written = 0;
    sockets_.watch(attempt.socket, token, false);
}

void Connector::heard(Attempt &attempt, uint64_t now_ns) {
    if (attempt.stage == Stage::accepted) return heard_hello(attempt, now_ns);
    heard_answer(attempt, now_ns);
}

// Does the attempt whose hello has come count more than what is known? (The head of connector.h says why.)
bool Connector::counts(const Attempt &attempt, const Pair &pair) const {
    uint32_t epoch = attempt.received.epoch;
    if (epoch != pair.epoch) return epoch > pair.epoch;
    if (pair.dialed_by_other) return !pair.confirmed;  // another address of the same attempt
    return attempt.received.from < identity_.own || !pair.confirmed;
}

void Connector::heard_hello(Attempt &attempt, uint64_t now_ns) {
    const Greeting &hello = attempt.received;
    const char *why = doubt(hello, identity_, nullptr);
    if (!why && hello.kind != GreetingKind::hello && hello.kind != GreetingKind::measure) why = "it does not begin with a hello";
    if (!why && (hello.from >= pairs_.size() || hello.from == identity_.own)) why = "there is no such process in the job";
    if (why) return refuse_stranger(attempt, why);
    if (const char *difference = lanyard::difference(hello, identity_)) return refuse_unfit(attempt, difference);
    if (hello.kind == GreetingKind::measure) {
        meter_.serve(std::exchange(attempt.socket, -1), hello);
        return end(attempt);
    }
    attempt.peer = hello.from;
    Pair &pair = pairs_[attempt.peer];
    if (!counts(attempt, pair)) {
        attempt.stage = Stage::refusing;
        return say(attempt, GreetingKind::behind, pair.epoch, 0, &attempt.received);
    }
    bool same_moment = hello.epoch == pair.epoch && !pair.dialed_by_other;
    if (same_moment && identity_.own < attempt.peer && under_way(attempt.peer, true)) {
        attempt.stage = Stage::held;
        attempt.deadline_ns = UINT64_MAX;
        return;
    }
    welcome(attempt, now_ns);
}

void Connector::welcome(Attempt &attempt, uint64_t now_ns) {
    Pair &pair = pairs_[attempt.peer];
    for (auto &other : attempts_) {
        if (other->peer != attempt.peer || other.get() == &attempt) continue;
        bool sibling = !other->dialed && other->stage == Stage::welcome_sent && other->received.epoch == attempt.received.epoch;
        if (!sibling) end(*other);
    }
    pair.epoch = attempt.received.epoch;
    pair.dialed_by_other = true;
    pair.confirmed = false;
    pair.again_ns = UINT64_MAX;
    attempt.stage = Stage::welcome_sent;
    attempt.deadline_ns = now_ns + greeting_patience_ns;
    say(attempt, GreetingKind::welcome, pair.epoch, user_.let_go(attempt.peer), &attempt.received);
}

// Of a hello: welcome or behind. Of a welcome: confirm.
void Connector::heard_answer(Attempt &attempt, uint64_t now_ns) {
    Pair &pair = pairs_[attempt.peer];
    const char *why = doubt(attempt.received, identity_, &attempt.sent);
    if (!why && attempt.received.from != attempt.peer) why = "another process answers";
    if (why) {
        ++counts_.strangers;
        return fail(attempt, why, now_ns);
    }
    if (const char *difference = lanyard::difference(attempt.received, identity_)) {
        ++counts_.strangers;
        user_.unfit(attempt.peer, difference);
        return fail(attempt, difference, now_ns);
    }
    GreetingKind kind = attempt.received.kind;
    if (attempt.stage == Stage::welcome_sent && kind == GreetingKind::confirm) {
        hand_over(attempt);
    } else if (attempt.stage == Stage::hello_sent && kind == GreetingKind::welcome) {
        end_others(attempt);
        pair.wanted = true;  // also of a connection that is moved: the old one ends here
        attempt.stage = Stage::confirming;
        say(attempt, GreetingKind::confirm, pair.epoch, user_.let_go(attempt.peer), &attempt.received);
    } else if (attempt.stage == Stage::hello_sent && kind == GreetingKind::behind) {
        pair.epoch = std::max(pair.epoch, attempt.received.epoch);
        for (auto &other : attempts_)
            if (other->peer == attempt.peer && other->stage == Stage::later) end(*other);
        fail(attempt, "the other process knew of a later attempt", now_ns);
    } else {
        ++counts_.strangers;
        fail(attempt, "it answers something else than was asked", now_ns);
    }
}

// The connection is made: its socket goes to the user.
void Connector::hand_over(Attempt &attempt) {
    Pair &pair = pairs_[attempt.peer];
    end_others(attempt);
    pair.confirmed = true;
    pair.wanted = false;
    pair.failures = 0;
    pair.again_ns = UINT64_MAX;
    pair.trouble.clear();
    ++counts_.made;
    int socket = attempt.socket;
    attempt.socket = -1;
    attempt.stage = Stage::ended;
    attempt.deadline_ns = UINT64_MAX;
    user_.connected(attempt.peer, socket, attempt.received.expects);
}

void Connector::end(Attempt &attempt) {
    if (attempt.socket >= 0) sockets_.close(attempt.socket);
    attempt.socket = -1;
    attempt.stage = Stage::ended;
    attempt.deadline_ns = UINT64_MAX;
}

void Connector::end_others(const Attempt &chosen) {
    for (auto &other : attempts_)
        if (other->peer == chosen.peer && other.get() != &chosen) end(*other);
}

// The answer tells the other side why; it goes out though the peer is given up.
void Connector::refuse_unfit(Attempt &attempt, const char *why) {
    uint32_t peer = attempt.received.from;
    ++counts_.strangers;
    attempt.stage = Stage::refusing;
    attempt.peer = peer;
    say(attempt, GreetingKind::behind, pairs_[peer].epoch, 0, &attempt.received);
    attempt.peer = UINT32_MAX;
    user_.unfit(peer, why);
}

void Connector::refuse_stranger(Attempt &attempt, const char *why) {
    ++counts_.strangers;
    log(LogLevel::info, "tcp", "a connection from elsewhere is refused: %s", why);
    end(attempt);
}

void Connector::fail(Attempt &attempt, const char *why, uint64_t now_ns) {
    uint32_t peer = attempt.peer;
    if (peer == UINT32_MAX) return now_ns < attempt.deadline_ns ? end(attempt) : refuse_stranger(attempt, "it does not say who it is");
    if (attempt.dialed) pairs_[peer].trouble = to_text_with_port(attempt.address) + ": " + why;
    log(LogLevel::debug, "tcp", "peer %u: an attempt to connect has failed: %s", peer, why);
    bool moves = attempt.moves;
    end(attempt);
    for (auto &other : attempts_)
        if (other->peer == peer && other->stage == Stage::later) other->deadline_ns = now_ns;
    if (moves) user_.not_moved(peer);
    settle(peer, now_ns);
}

// After an attempt has ended: a hello that waited for that is answered, else the next attempt is prepared.
void Connector::settle(uint32_t peer, uint64_t now_ns) {
    Pair &pair = pairs_[peer];
    if (under_way(peer, true) || under_way(peer, false)) return;
    for (auto &attempt : attempts_) {
        if (attempt->peer != peer || attempt->stage != Stage::held) continue;
        return welcome(*attempt, now_ns);
    }
    if (!pair.wanted || pair.again_ns != UINT64_MAX) return;
    uint64_t pause_ns = std::min(first_pause_ns << std::min(pair.failures++, 16u), longest_pause_ns);
    pair.again_ns = now_ns + pause_ns;
    pausing_.push_back(peer);
}

}  // namespace lanyard
