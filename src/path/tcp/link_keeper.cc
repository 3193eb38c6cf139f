// See link_keeper.h.
#include "path/tcp/link_keeper.h"

#include <algorithm>

#include "base/events.h"
#include "base/log.h"

namespace lanyard {

namespace {
constexpr const char *interfaces_hint = "; LANYARD_INTERFACES says by which interfaces it may be reached";
}

Connector::User::LetGo LinkKeeper::let_go(uint32_t peer) {
    Link &link = links_.at(peer);
    if (link.connection.is_open()) part(link);
    return {link.incoming.expected(), link.parted_ns != 0};
}

void LinkKeeper::connected(uint32_t peer, int socket, uint64_t peer_expects) {
    Link &link = links_.at(peer);
    if (link.lost) return links_.sockets.close(socket);
    if (peer_expects > link.next_number) {
        log(LogLevel::warn, "tcp",
            "peer %u: it expects an envelope that was never sent; the connection is closed", peer);
        ++links_.counts.garbled;
        return links_.sockets.close(socket);
    }
    if (links_.open >= links_.limits.most_open) make_room();
    link.connection.open(links_.sockets, socket);
    ++links_.open;
    link.parted_ns = 0;
    link.idle_closed = false;
    link.sent_ns = links_.now_ns;
    routes_.connected(link.route, socket);
    link.incoming.told();  // the greeting has acknowledged everything
    link.log.acknowledged(peer_expects);
    link.log.take_released(links_.reports.tokens());
    const char *again = link.was_connected ? " again" : "";
    if (log_enabled(LogLevel::debug))
        log(LogLevel::debug, "tcp", "peer %u: connected%s by %s", peer, again,
            to_text(link.route.last).c_str());
    if (event_wanted(Event::connection_made))
        tell_event(Event::connection_made, 0, {peer, link.was_connected});
    if (link.was_connected) links_.sink->renewed(peer);
    link.was_connected = true;
    writer_.write_out(link);
    links_.recount(link);
    routes_.follow_choice(peer, link.route, true);
}

Error LinkKeeper::addresses(uint32_t peer, std::vector<Address> &list, size_t &first) {
    return routes_.addresses(peer, links_.at(peer).route, list, first);
}

void LinkKeeper::measured(uint32_t peer, const AddressChoice::Found &found) {
    Link &link = links_.at(peer);
    if (!link.lost) routes_.measured(peer, link.route, found, !link.idle_closed);
}

void LinkKeeper::not_moved(uint32_t peer) {
    Link &link = links_.at(peer);
    routes_.not_moved(peer, link.route, !link.idle_closed);
}

void LinkKeeper::alive(uint32_t peer) {
    Link &link = links_.at(peer);
    uint64_t now_ns = links_.sockets.now_ns();
    if (link.parted_ns) link.parted_ns = now_ns;
    link.connection.silence.heard(now_ns);
}

// The settings of a process do not change. If a connection with the peer existed before, another process must
// have sent this greeting, so it has no effect.
void LinkKeeper::unfit(uint32_t peer, const char *why) {
    Link &link = links_.at(peer);
    if (link.lost || link.was_connected) return;
    log(LogLevel::warn, "tcp", "peer %u: %s", peer, why);
    lose(link, std::string("at all: ") + why);
}

// Closes the connection and prepares the link for the next one.
void LinkKeeper::part(Link &link) {
    if (links_.buffer.owner() == &link.connection) links_.buffer.drop();
    link.connection.close(links_.sockets, links_.reports.tokens());
    --links_.open;
    link.answer_asked = false;
    link.log.rewind();
    links_.recount(link);
    if (links_.leaving || (link.idle_closed && link.log.empty())) return;
    ++links_.counts.broken;
    if (event_wanted(Event::connection_broken)) tell_event(Event::connection_broken, 0, {link.peer});
    links_.miss(link, link.connection.silence.ended(links_.sockets.now_ns()));
}

void LinkKeeper::check_silence(Link &link, uint64_t now_ns) {
    Connection &connection = link.connection;
    if (!connection.is_open()) return connection.silence.stop(connection.bulk_bytes());
    SilenceCheck::Seen seen{.silent_for_ns = links_.sockets.silence_ns(connection.socket()),
                            .unacknowledged = link.counted.unacknowledged,
                            .all_written = link.log.unwritten() == 0,
                            .bulk_bytes = connection.bulk_bytes(),
                            .last_received_ns = connection.last_received_ns()};
    switch (
        connection.silence.check(seen, {links_.limits.silence_ns, links_.limits.peer_timeout_ns}, now_ns)) {
        case SilenceCheck::Finding::fine: break;
        case SilenceCheck::Finding::unanswered: writer_.answer(link, answer_now); break;
        case SilenceCheck::Finding::silent:
            if (!connector_.want(link.peer)) break;
            log(LogLevel::debug, "tcp", "peer %u: its host is silent; another connection is tried",
                link.peer);
            ++links_.counts.silences;
            break;
        case SilenceCheck::Finding::timed_out:
            if (connector_.awaits_answer(link.peer)) break;  // until the next check
            part(link);
            time_out(link);
            break;
    }
}

void LinkKeeper::tend_one(Link &link, uint64_t now_ns) {
    Connection &connection = link.connection;
    if (connection.has_failed() && connection.is_open()) {
        part(link);
        // Something that the other side sent to this process may have been lost with the connection. The
        // other side may wait until this process connects again and requests what was lost.
        if (!links_.leaving && (!link.idle_closed || !link.log.empty())) connector_.want(link.peer);
    }
    if (connection.silence.due_ns() && connection.silence.due_ns() <= now_ns) check_silence(link, now_ns);
    if (link.incoming.answer_due_ns() <= now_ns && connection.is_open()) writer_.answer(link);
    if (connection.is_open() || !link.parted_ns || link.lost) return;
    if (now_ns >= link.parted_ns + links_.limits.peer_timeout_ns) {
        if (!connector_.awaits_answer(link.peer)) return time_out(link);
        link.parted_ns = now_ns - links_.limits.peer_timeout_ns + SilenceCheck::every_ns;
    }
    if (!link.was_connected && !link.told_waiting && now_ns >= link.parted_ns + Links::tell_waiting_after_ns)
        tell_waiting(link);
}

void LinkKeeper::tend(uint64_t now_ns) {
    for (Link *link : links_.take_due()) {
        tend_one(*link, now_ns);
        if (link->lost) continue;
        const Connection &connection = link->connection;
        if (connection.silence.due_ns()) links_.set_due(*link, connection.silence.due_ns());
        if (link->incoming.answer_due_ns() != no_deadline && connection.is_open())
            links_.set_due(*link, link->incoming.answer_due_ns());
        if (!connection.is_open() && link->parted_ns)
            links_.set_due(*link, link->parted_ns + links_.patience_ns(*link));
    }
}

// A user who has waited for a first connection for a while may want to know why.
void LinkKeeper::tell_waiting(Link &link) {
    link.told_waiting = true;
    const std::string &trouble = connector_.trouble(link.peer);
    log(LogLevel::warn, "tcp",
        "process %u cannot be reached so far (%s); it is tried until %llu s are over "
        "(LANYARD_PEER_TIMEOUT)%s",
        link.peer, trouble.empty() ? "no answer" : trouble.c_str(),
        static_cast<unsigned long long>(links_.limits.peer_timeout_ns / 1'000'000'000), interfaces_hint);
}

void LinkKeeper::time_out(Link &link) {
    const std::string &trouble = connector_.trouble(link.peer);
    lose(link, "since " + std::to_string(links_.limits.peer_timeout_ns / 1'000'000'000) +
                   " s (LANYARD_PEER_TIMEOUT)" + (trouble.empty() ? "" : "; the last attempt: " + trouble) +
                   (link.was_connected ? "" : interfaces_hint));
}

void LinkKeeper::lose(Link &link, const std::string &why) {
    connector_.give_up(link.peer);
    link.lost = true;
    std::string at = link.route.last.version ? "at " + to_text(link.route.last) + " " : "";
    links_.reports.lost(link.peer, at + "cannot be reached " + why, link.log.copied());
    link.log.clear();
    links_.recount(link);
}

// Has this process nothing under way on the link?
bool LinkKeeper::is_idle_here(const Link &link) const {
    const Connection &connection = link.connection;
    return connection.is_usable() && link.log.empty() && !connection.bulk.is_open() &&
           !connection.frames.in_frame() && links_.buffer.owner() != &connection;
}

// For a link that is idle here: is nothing under way between the two hosts either?
bool LinkKeeper::is_idle_there(const Link &link) const {
    int socket = link.connection.socket();
    return links_.sockets.silence_ns(socket) == 0 && !links_.sockets.has_unread(socket);
}

// Closes the idle connection that was used least recently. Returns whether a connection was closed.
bool LinkKeeper::make_room() {
    Link *oldest = nullptr;
    links_.for_each([&](Link &each) {
        bool older = !oldest || each.used_ns() < oldest->used_ns();
        if (older && is_idle_here(each) && is_idle_there(each)) oldest = &each;
    });
    return oldest && close_idle(*oldest);
}

bool LinkKeeper::close_idle(Link &link) {
    if (!writer_.say_idle_close(link)) return false;
    log(LogLevel::debug, "tcp", "peer %u: the connection is closed because it is idle", link.peer);
    ++links_.counts.idle_closed;
    link.idle_closed = true;
    part(link);
    return true;
}

void LinkKeeper::close_idle() {
    links_.for_each([&](Link &link) {
        if (is_idle_here(link)) close_idle(link);
    });
}

void LinkKeeper::close_all() {
    links_.for_each([&](Link &link) {
        if (link.connection.is_open()) part(link);
        routes_.tell_choice(link.peer, link.route);
    });
}

}  // namespace lanyard
