// Connections of links, and what is due when.
#include "path/tcp/tcp_path.h"

#include <algorithm>

#include "base/events.h"
#include "base/log.h"

namespace lanyard {

namespace {
constexpr uint32_t arrivals_to_be_hot = 3;
constexpr int most_ready = 32;
constexpr uint64_t check_silence_every_ns = 500'000'000;
constexpr uint64_t tell_waiting_after_ns = 5'000'000'000;
constexpr const char *interfaces_hint = "; LANYARD_INTERFACES says by which interfaces it may be reached";
}  // namespace

TcpPath::TcpPath(Sockets &sockets, const WireIdentity &identity, uint32_t peers, const TcpLimits &limits, FindAddresses find, Crc32c crc)
    : NetworkPath({.name = "tcp",
                   .max_eager = limits.max_eager,
                   .max_bulk = crc ? most_checked_bulk : max_bulk_frame,
                   .eager_limit = 64 * 1024,
                   .keep_from = limits.keep_from,
                   .bulk_follows = true,
                   .loses_bulk = true,
                   .descriptor = sockets.descriptor()}),
      sockets_(sockets), identity_(identity), limits_(limits), find_(std::move(find)), crc_(crc), check_bytes_(crc ? sizeof(FrameCheck) : 0),
      connector_(sockets, identity_, peers, *this), links_(peers) {
    if (crc_) identity_.settings |= checksum_setting;
}

TcpPath::~TcpPath() { close(); }

void TcpPath::close() {
    if (closed_) return;
    closed_ = true;
    for (auto &each : links_) {
        if (each && each->socket >= 0) part(*each);
        if (each) tell_choice(*each);
    }
    connector_.close();
}

Link &TcpPath::link(uint32_t peer) {
    if (!links_[peer]) links_[peer] = std::make_unique<Link>(peer, spare_, check_bytes_);
    return *links_[peer];
}

// Until something is to be said or done of a connection that is missing.
uint64_t TcpPath::next_patience_ns(const Link &link) const {
    return link.was_connected || link.told_waiting ? limits_.peer_timeout_ns : std::min(limits_.peer_timeout_ns, tell_waiting_after_ns);
}

// After anything that was written, read or acknowledged.
void TcpPath::recount(Link &link) {
    bool busy = link.log.unwritten() > 0 || link.bulk.open || link.frame.payload.is_open(), unsettled = !link.log.empty();
    busy_ += busy - link.busy;
    unsettled_ += unsettled - link.unsettled;
    link.busy = busy;
    link.unsettled = unsettled;
    if (link.check_silence_at_ns || (!unsettled && link.bulk_flowed == link.heard_bulk)) return;
    link.check_silence_at_ns = now_ns_ + check_silence_every_ns;
    tend_to(link, link.check_silence_at_ns);
}

// A host that acknowledges nothing, though the connection is open, may be reached by another one. Where it has everything, but the peer has
// not answered, the peer computes or its answer goes a way that is dead: a question shows which.
void TcpPath::check_silence(Link &link, uint64_t now_ns) {
    uint64_t silence_ns = link.socket >= 0 ? sockets_.silence_ns(link.socket) : 0;
    if (silence_ns == 0) link.heard_bulk = link.bulk_flowed;
    if (link.socket < 0 || (!link.unsettled && link.heard_bulk == link.bulk_flowed)) {
        link.check_silence_at_ns = link.silence_checked_ns = 0;
        return;
    }
    if (silence_ns == 0 && link.log.unwritten() == 0 && now_ns >= std::max(link.last_came_ns, link.asked_ns) + limits_.silence_ns) {
        link.asked_ns = now_ns;
        append_answer(link, answer_now);
        write_out(link);
    }
    bool silent = silence_ns > 0 && silence_ns >= now_ns - link.silence_checked_ns;  // all the time since the last check
    if (!silent) link.heard_ns = now_ns;
    link.silence_checked_ns = now_ns;
    link.check_silence_at_ns = now_ns + check_silence_every_ns;
    if (now_ns >= link.heard_ns + limits_.peer_timeout_ns) {
        part(link);
        return time_out(link);
    }
    if (now_ns < link.heard_ns + limits_.silence_ns) return;
    log(LogLevel::debug, "tcp", "peer %u: its host is silent; another connection is tried", link.peer);
    ++counts_.silences;
    connector_.want(link.peer);
}

// What is to be done for this link, not before `when_ns`, is done by tend_one().
void TcpPath::tend_to(Link &link, uint64_t when_ns) {
    tend_at_ns_ = std::min(tend_at_ns_, when_ns);
    if (link.tended) return;
    link.tended = true;
    tended_.push_back(&link);
}

// The connection is of no use any more; it is closed by poll(), which may tell others.
void TcpPath::fail(Link &link) {
    link.failed = true;
    tend_to(link, 0);
}

// Closes the connection and makes everything ready to begin anew on the next.
void TcpPath::part(Link &link) {
    sockets_.close(link.socket);
    link.socket = -1;
    --open_;
    link.failed = link.awaits_room = link.answer_asked = false;
    link.log.rewind();
    if (link.bulk.open) {
        link.bulk.open = false;
        link.bulk.packed.reset();
        sent_.push_back(link.bulk.token);
        tend_at_ns_ = 0;
    }
    link.frame.payload.drop();
    coming_slowly_ -= link.wake_at > 1;
    link.wake_at = 1;
    link.frame.head_come = 0;
    if (rest_of_ == &link) rest_of_ = nullptr;
    recount(link);
    if (closed_ || leaving_ || (link.resting && link.log.empty())) return;
    ++counts_.broken;
    if (event_wanted(Event::connection_broken)) tell_event(Event::connection_broken, 0, {link.peer});
    link.parted_ns = link.silence_checked_ns ? link.heard_ns : sockets_.now_ns();  // the kernel may have given up a host that was silent
    link.silence_checked_ns = 0;
    tend_to(link, link.parted_ns + limits_.peer_timeout_ns);
}

// Who has waited for a first connection for a while may want to know why.
void TcpPath::tell_waiting(Link &link) {
    link.told_waiting = true;
    const std::string &trouble = connector_.trouble(link.peer);
    log(LogLevel::warn, "tcp", "process %u cannot be reached so far (%s); it is tried until %llu s are over (LANYARD_PEER_TIMEOUT)%s", link.peer,
        trouble.empty() ? "no answer" : trouble.c_str(), static_cast<unsigned long long>(limits_.peer_timeout_ns / 1'000'000'000), interfaces_hint);
}

void TcpPath::time_out(Link &link) {
    const std::string &trouble = connector_.trouble(link.peer);
    lose(link, "since " + std::to_string(limits_.peer_timeout_ns / 1'000'000'000) + " s (LANYARD_PEER_TIMEOUT)" +
                   (trouble.empty() ? "" : "; the last attempt: " + trouble) + (link.was_connected ? "" : interfaces_hint));
}

void TcpPath::lose(Link &link, std::string why) {
    connector_.give_up(link.peer);
    link.lost = true;
    for (const Envelope &envelope : link.log.copied()) sink_->undelivered(link.peer, envelope);
    link.log.clear();
    recount(link);
    ++told_lost_;
    if (event_wanted(Event::peer_lost)) tell_event(Event::peer_lost, 0, {link.peer});
    std::string at = link.last_address.version ? " at " + to_text(link.last_address) : "";
    sink_->lost(link.peer, Error(ErrorClass::proc_aborted, "process " + std::to_string(link.peer) + at + " cannot be reached " + why));
}

void TcpPath::alive(uint32_t peer) {
    Link &link = this->link(peer);
    if (link.parted_ns) link.parted_ns = sockets_.now_ns();
    link.heard_ns = sockets_.now_ns();
}

// Whom there was a connection with does not change: somebody else says that.
void TcpPath::unfit(uint32_t peer, const char *why) {
    Link &link = this->link(peer);
    if (link.lost || link.was_connected) return;
    log(LogLevel::warn, "tcp", "peer %u: %s", peer, why);
    lose(link, std::string("at all: ") + why);
}

uint64_t TcpPath::let_go(uint32_t peer) {
    Link &link = this->link(peer);
    if (link.socket >= 0) part(link);
    return link.expected;
}

void TcpPath::connected(uint32_t peer, int socket, uint64_t peer_expects) {
    Link &link = this->link(peer);
    if (link.lost) return sockets_.close(socket);
    if (peer_expects > link.next_number) {
        log(LogLevel::warn, "tcp", "peer %u: it expects an envelope that was never sent; the connection is closed", peer);
        ++counts_.garbled;
        return sockets_.close(socket);
    }
    if (open_ >= limits_.most_open) make_room();
    link.socket = socket;
    ++open_;
    link.parted_ns = link.silence_checked_ns = 0;
    link.resting = false;
    link.used_ns = now_ns_;
    link.bulk_flowed = link.heard_bulk = 0;
    link.last_address = sockets_.other_end(socket);
    if (link.choice) link.choice->connected(link.last_address, sockets_.bound(socket));
    link.answer_due_ns = UINT64_MAX;  // the greeting said what had come
    link.untold_bytes = 0;
    link.log.acknowledged(peer_expects);
    take_released(link);
    sockets_.watch(socket, peer, false);
    const char *again = link.was_connected ? " again" : "";
    if (log_enabled(LogLevel::debug)) log(LogLevel::debug, "tcp", "peer %u: connected%s by %s", peer, again, to_text(link.last_address).c_str());
    if (event_wanted(Event::connection_made)) tell_event(Event::connection_made, 0, {peer, link.was_connected});
    if (link.was_connected) sink_->renewed(peer);
    link.was_connected = true;
    write_out(link);
    recount(link);
    if (link.choice) follow_choice(link);
}

void TcpPath::tend_one(Link &link, uint64_t now_ns) {
    if (link.failed && link.socket >= 0) {
        part(link);
        // What the other side had for us may have been lost with it, and it may wait for us to ask.
        if (!leaving_ && (!link.resting || !link.log.empty())) connector_.want(link.peer);
    }
    if (link.check_silence_at_ns && link.check_silence_at_ns <= now_ns) check_silence(link, now_ns);
    if (link.answer_due_ns <= now_ns && link.socket >= 0) {
        append_answer(link, 0);
        write_out(link);
        recount(link);
    }
    if (link.socket >= 0 || !link.parted_ns || link.lost) return;
    if (now_ns >= link.parted_ns + limits_.peer_timeout_ns) return time_out(link);
    if (!link.was_connected && !link.told_waiting && now_ns >= link.parted_ns + tell_waiting_after_ns) tell_waiting(link);
}

int TcpPath::tend(uint64_t now_ns) {
    int work = 0;
    for (size_t i = 0; i < sent_.size(); ++i, ++work) sink_->sent(sent_[i]);
    sent_.clear();
    tend_at_ns_ = UINT64_MAX;
    std::vector<Link *> due;
    due.swap(tended_);
    for (Link *link : due) {
        link->tended = false;
        tend_one(*link, now_ns);
        if (link->check_silence_at_ns && !link->lost) tend_to(*link, link->check_silence_at_ns);
        if (link->answer_due_ns != UINT64_MAX && link->socket >= 0) tend_to(*link, link->answer_due_ns);
        if (link->socket < 0 && link->parted_ns && !link->lost) tend_to(*link, link->parted_ns + next_patience_ns(*link));
    }
    return work;
}

// Reads what something came on lately, without asking the kernel where there is something.
int TcpPath::read_hot(int budget) {
    int work = 0;
    for (size_t i = 0; i < hot_.size() && work < budget;) {
        Link &link = *hot_[i];
        if (link.socket >= 0 && now_ns_ < link.last_came_ns + limits_.hot_ns) {
            work += read_in(link, budget - work);
            ++i;
        } else {
            cool(link);
            hot_.erase(hot_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return work;
}

void TcpPath::cool(Link &link) {
    link.hot = false;
    if (link.socket >= 0) sockets_.watch(link.socket, link.peer, link.awaits_room);
}

// Something came on a link that is watched. One on which much comes while this process does not sleep is read without asking.
void TcpPath::note_arrival(Link &link) {
    if (link.sleeps != sleeps_) link.came_awake = 0;
    link.sleeps = sleeps_;
    if (++link.came_awake < arrivals_to_be_hot || hot_.size() >= most_hot_ || link.socket < 0) return;
    link.hot = true;
    hot_.push_back(&link);
    sockets_.unwatch(link.socket);
}

void TcpPath::prepare_to_sleep(bool process_sleeps) {
    if (process_sleeps) {
        look_at_ns_ = 0;
        ++sleeps_;
    }
    for (Link *link : hot_) {
        cool(*link);
        link->came_awake = 0;  // a program that comes and goes would have it in and out of the set with each message
    }
    hot_.clear();
}

// Asks which of all sockets have something.
int TcpPath::look(int budget) {
    Sockets::Ready list[most_ready];
    int count = sockets_.ready(list, most_ready);
    int work = 0;
    bool greet = connector_.deadline_ns() <= now_ns_;
    for (int i = 0; i < count; ++i) {
        if (list[i].token == Connector::token) {
            greet = true;
            continue;
        }
        Link &link = *links_[list[i].token];
        if (list[i].writable && link.awaits_room && link.socket >= 0) {
            write_out(link);
            recount(link);
        }
        if (!list[i].readable || link.hot) continue;
        work += read_in(link, budget - work);
        if (link.last_came_ns == now_ns_) note_arrival(link);
    }
    if (greet) work += connector_.poll();
    return work;
}

int TcpPath::poll(Sink &sink, int budget, uint64_t now_ns) {
    if (closed_) return 0;
    sink_ = &sink;
    now_ns_ = now_ns;
    told_lost_ = 0;
    int work = take_rest(budget);
    // Where some links used up the last budget the others come first.
    if (!passed_over_) work += read_hot(budget - work);
    looked_ = (now_ns >= look_at_ns_ || passed_over_) && work < budget;
    if (looked_) {
        look_at_ns_ = now_ns + (hot_.empty() ? limits_.look_every_ns : std::max(limits_.look_every_ns, limits_.look_beside_hot_ns));
        work += look(budget - work);
    }
    if (passed_over_ && looked_) work += read_hot(budget - work);
    passed_over_ = !looked_ && work >= budget;
    if (work == 0 && !keeping_.empty()) copy_kept();
    if (now_ns >= tend_at_ns_) work += tend(now_ns);
    if (!to_flush_.empty()) flush_all();
    sink_ = nullptr;
    return work + told_lost_;
}

// Nobody sleeps before all sockets have been looked at.
uint64_t TcpPath::deadline_ns() const {
    if (rest_of_) return 0;
    return std::min({tend_at_ns_, connector_.deadline_ns(), looked_ ? UINT64_MAX : look_at_ns_});
}

// Asks for an answer where something is open, once for all that is open then.
bool TcpPath::settled() {
    bool all = true;
    for (auto &each : links_) {
        if (!each || each->lost || each->log.empty()) continue;
        all = false;
        if (each->answer_asked || !ready_to_send(*each)) continue;
        each->answer_asked = true;
        append_answer(*each, answer_now);
        write_out(*each);
        recount(*each);
    }
    return all;
}

void TcpPath::answer_all() {
    for (auto &each : links_) {
        if (!each || each->socket < 0 || each->answer_due_ns == UINT64_MAX) continue;
        append_answer(*each, 0);
        write_out(*each);
        recount(*each);
    }
}

bool TcpPath::connected_to_all() {
    bool all = true;
    for (uint32_t peer = 0; peer < links_.size(); ++peer) {
        if (!reaches(peer)) continue;
        Link &link = this->link(peer);
        if (link.lost || link.was_connected) continue;  // it may have been closed as it was quiet
        ready_to_send(link);
        all = false;
    }
    return all;
}

std::string TcpPath::describe() const {
    int connections = 0;
    for (auto &each : links_) connections += each && each->socket >= 0;
    return "tcp: " + std::to_string(links_.size() - 1) + " processes over TCP, " + std::to_string(connections) + " of them connected";
}

}  // namespace lanyard
