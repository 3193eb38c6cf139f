// Exchanges greetings on an attempt to connect, until the attempt is a connection or has failed. Decides
// which of several attempts counts. See connector.h.
#include <errno.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "path/tcp/connector.h"

namespace lanyard {

namespace {
// How long to wait for the answer to a hello, at first and at most. A peer does not answer while it computes.
constexpr uint64_t first_answer_patience_ns = 2'000'000'000, answer_patience_ns = 30'000'000'000;
}  // namespace

// Advances one attempt as far as possible now.
int Connector::advance(Attempt &attempt, uint64_t now_ns) {
    int work = 0;
    if (attempt.phase == Phase::later) {
        if (now_ns < attempt.deadline_ns || connect(attempt, now_ns)) return 0;
        end(attempt);
        settle(attempt.peer, now_ns);
        return 1;
    }
    if (attempt.phase == Phase::connecting) {
        int result = sockets_.connect_result(attempt.socket);
        if (result == 0) {
            attempt.deadline_ns =
                now_ns + std::min(first_answer_patience_ns << std::min(pairs_[attempt.peer].unanswered, 16u),
                                  answer_patience_ns);
            attempt.phase = Phase::hello_sent;
            say(attempt, GreetingKind::hello, pairs_[attempt.peer].epoch, 0, nullptr);
            ++work;
        } else if (result != -EINPROGRESS) {
            fail(attempt, system_text(-result).c_str(), now_ns);
            return 1;
        }
    }
    // A held attempt is a hello that is kept waiting. Its dialer sends nothing before it gets an answer. If
    // the read returns anything, the dialer has given up.
    if (attempt.phase == Phase::held) {
        char byte;
        iovec place{&byte, 1};
        if (sockets_.read(attempt.socket, &place, 1) != -EAGAIN) end(attempt);
        return work;
    }
    while (attempt.phase != Phase::ended && attempt.phase != Phase::connecting) {
        if (!flush(attempt, now_ns)) break;
        if (attempt.phase == Phase::confirming) {
            hand_over(attempt);
            return work + 1;
        }
        if (attempt.phase == Phase::refusing) {
            end(attempt);
            return work + 1;
        }
        if (!read_greeting(attempt, now_ns)) break;
        if (attempt.phase == Phase::accepted) heard_hello(attempt, now_ns);
        else heard_answer(attempt, now_ns);
        ++work;
    }
    if (attempt.phase != Phase::ended && now_ns >= attempt.deadline_ns) {
        if (attempt.phase == Phase::hello_sent) user_.alive(attempt.peer);
        fail(attempt, "no answer", now_ns);
    }
    return work;
}

// Writes the greeting. Returns false while something is left to write, and if the attempt has ended.
bool Connector::flush(Attempt &attempt, uint64_t now_ns) {
    while (attempt.written < attempt.to_write) {
        iovec rest{reinterpret_cast<char *>(&attempt.sent) + attempt.written,
                   attempt.to_write - attempt.written};
        ssize_t bytes = sockets_.write(attempt.socket, &rest, 1);
        if (bytes > 0) {
            attempt.written += static_cast<size_t>(bytes);
            continue;
        }
        if (bytes == -EAGAIN) sockets_.watch(attempt.socket, token, attempt.awaits_room = true);
        else fail(attempt, system_text(static_cast<int>(-bytes)).c_str(), now_ns);
        return false;
    }
    if (std::exchange(attempt.awaits_room, false)) sockets_.watch(attempt.socket, token, false);
    return true;
}

// Reads a greeting. Returns true when the whole greeting has arrived.
bool Connector::read_greeting(Attempt &attempt, uint64_t now_ns) {
    while (attempt.read < sizeof(Greeting)) {
        iovec rest{reinterpret_cast<char *>(&attempt.received) + attempt.read,
                   sizeof(Greeting) - attempt.read};
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

void Connector::say(Attempt &attempt, GreetingKind kind, uint32_t epoch, uint64_t expects,
                    const Greeting *answered) {
    attempt.sent = {};
    attempt.sent.kind = kind;
    address(attempt.sent, processes_.name(attempt.peer));
    attempt.sent.epoch = epoch;
    attempt.sent.expects = expects;
    attempt.sent.nonce = sockets_.random();
    seal(attempt.sent, identity_, answered);
    attempt.to_write = sizeof attempt.sent;
    attempt.written = 0;
    sockets_.watch(attempt.socket, token, false);
}

// Does the attempt whose hello has arrived count more than the attempt known so far? (The head of connector.h
// has the reasons.)
bool Connector::counts(const Attempt &attempt, const Pair &pair) const {
    uint32_t epoch = attempt.received.epoch;
    if (epoch != pair.epoch) return epoch > pair.epoch;
    if (pair.dialed_by_other) return !pair.confirmed;  // another address of the same attempt
    return sender_of(attempt.received) < identity_.own || !pair.confirmed;
}

void Connector::heard_hello(Attempt &attempt, uint64_t now_ns) {
    const Greeting &hello = attempt.received;
    std::string why = doubt(hello, identity_, nullptr);
    if (why.empty() && hello.kind != GreetingKind::hello && hello.kind != GreetingKind::measure)
        why = "it does not begin with a hello";
    uint32_t peer = processes_.find(sender_of(hello));
    if (why.empty() && (peer == nobody || sender_of(hello) == identity_.own))
        why = "there is no such process in the job";
    if (speaks_another_version(hello)) return refuse_version(attempt);
    if (!why.empty()) return refuse_stranger(attempt, why);
    if (const char *difference = lanyard::difference(hello, identity_))
        return refuse_unfit(attempt, peer, difference);
    if (pairs_[peer].given_up) return end(attempt);
    if (hello.kind == GreetingKind::measure) {
        meter_.serve(std::exchange(attempt.socket, -1), peer, hello);
        return end(attempt);
    }
    attempt.peer = peer;
    Pair &pair = pairs_[attempt.peer];
    if (!counts(attempt, pair)) {
        attempt.phase = Phase::refusing;
        return say(attempt, GreetingKind::behind, pair.epoch, 0, &attempt.received);
    }
    bool same_moment = hello.epoch == pair.epoch && !pair.dialed_by_other;
    if (same_moment && identity_.own < sender_of(hello) && under_way(attempt.peer, true)) {
        attempt.phase = Phase::held;
        attempt.deadline_ns = UINT64_MAX;
        return;
    }
    welcome(attempt, now_ns);
}

void Connector::welcome(Attempt &attempt, uint64_t now_ns) {
    Pair &pair = pairs_[attempt.peer];
    for (auto &other : attempts_) {
        if (other->peer != attempt.peer || other.get() == &attempt) continue;
        bool sibling = !other->dialed && other->phase == Phase::welcome_sent &&
                       other->received.epoch == attempt.received.epoch;
        if (!sibling) end(*other);
    }
    pair.epoch = attempt.received.epoch;
    pair.dialed_by_other = true;
    pair.confirmed = false;
    pair.again_ns = UINT64_MAX;
    attempt.phase = Phase::welcome_sent;
    attempt.deadline_ns = now_ns + greeting_patience_ns;
    // If this attempt fails, the other side may not try again, because it may have been connected for a
    // moment and may have closed the connection as idle. So this side tries if it needs a connection.
    User::LetGo gone = user_.let_go(attempt.peer);
    pair.wanted |= gone.needs_another;
    say(attempt, GreetingKind::welcome, pair.epoch, gone.expects, &attempt.received);
}

// The answer to a hello is welcome or behind. The answer to a welcome is confirm.
void Connector::heard_answer(Attempt &attempt, uint64_t now_ns) {
    Pair &pair = pairs_[attempt.peer];
    std::string why = doubt(attempt.received, identity_, &attempt.sent);
    if (why.empty() && processes_.find(sender_of(attempt.received)) != attempt.peer)
        why = "another process answers";
    if (!why.empty()) {
        ++counts_.strangers;
        return fail(attempt, why, now_ns);
    }
    if (const char *difference = lanyard::difference(attempt.received, identity_)) {
        ++counts_.strangers;
        user_.unfit(attempt.peer, difference);
        return fail(attempt, difference, now_ns);
    }
    user_.alive(attempt.peer);
    GreetingKind kind = attempt.received.kind;
    if (attempt.phase == Phase::welcome_sent && kind == GreetingKind::confirm) {
        hand_over(attempt);
    } else if (attempt.phase == Phase::hello_sent && kind == GreetingKind::welcome) {
        end_others(attempt);
        // When a connection is moved, `wanted` may be false until here. let_go() closes the old connection,
        // so the new one is wanted now.
        pair.wanted = true;
        attempt.phase = Phase::confirming;
        uint64_t expects = user_.let_go(attempt.peer).expects;
        say(attempt, GreetingKind::confirm, pair.epoch, expects, &attempt.received);
    } else if (attempt.phase == Phase::hello_sent && kind == GreetingKind::behind) {
        pair.epoch = std::max(pair.epoch, attempt.received.epoch);
        for (auto &other : attempts_)
            if (other->peer == attempt.peer && other->phase == Phase::later) end(*other);
        fail(attempt, "the other process knew of a later attempt", now_ns);
    } else {
        ++counts_.strangers;
        fail(attempt, "it answers something else than was asked", now_ns);
    }
}

// Called when the connection is made. Passes its socket to the user.
void Connector::hand_over(Attempt &attempt) {
    Pair &pair = pairs_[attempt.peer];
    end_others(attempt);
    pair.confirmed = true;
    pair.wanted = false;
    pair.failures = pair.unanswered = 0;
    pair.again_ns = UINT64_MAX;
    pair.trouble.clear();
    ++counts_.made;
    if (attempt.moves) ++counts_.moves;
    int socket = attempt.socket;
    attempt.socket = -1;
    attempt.phase = Phase::ended;
    attempt.deadline_ns = UINT64_MAX;
    user_.connected(attempt.peer, socket, attempt.received.expects);
}

void Connector::end_others(const Attempt &chosen) {
    for (auto &other : attempts_)
        if (other->peer == chosen.peer && other.get() != &chosen) end(*other);
}

// Refuses a peer that has other settings. The answer shows the reason to the other side, and is sent although
// the peer is given up.
void Connector::refuse_unfit(Attempt &attempt, uint32_t peer, const char *why) {
    ++counts_.strangers;
    attempt.phase = Phase::refusing;
    attempt.peer = peer;
    say(attempt, GreetingKind::behind, pairs_[peer].epoch, 0, &attempt.received);
    attempt.peer = UINT32_MAX;
    user_.unfit(peer, why);
}

// Refuses a greeting of another version. The answer contains this process's version, without proof, so that
// the other side can report why there is no connection. This process warns once, since the greeting may come
// from a process of the job.
void Connector::refuse_version(Attempt &attempt) {
    std::string why = doubt(attempt.received, identity_, nullptr);
    ++counts_.strangers;
    log(std::exchange(version_told_, true) ? LogLevel::debug : LogLevel::warn, "tcp",
        "a connection is refused: %s", why.c_str());
    attempt.phase = Phase::refusing;
    attempt.sent = {};
    attempt.sent.magic = greeting_magic;
    attempt.sent.version = wire_version;
    attempt.sent.kind = GreetingKind::behind;
    attempt.to_write = sizeof attempt.sent;
    attempt.written = 0;
    sockets_.watch(attempt.socket, token, false);
}

void Connector::refuse_stranger(Attempt &attempt, const std::string &why) {
    ++counts_.strangers;
    log(LogLevel::info, "tcp", "a connection from elsewhere is refused: %s", why.c_str());
    end(attempt);
}

}  // namespace lanyard
