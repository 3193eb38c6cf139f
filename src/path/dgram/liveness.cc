// See liveness.h.
#include "path/dgram/liveness.h"

#include <errno.h>

namespace lanyard {

namespace {
constexpr uint64_t dial_every_ns = 1'000'000'000;
// How often the kernel may choose a port, if any port will do. It chooses one that is free at the first
// address; another process may have it at another address.
constexpr uint32_t ports_tried = 16;
}  // namespace

bool Liveness::listen_at(const std::vector<Address> &addresses, uint16_t port) {
    for (const Address &address : addresses) {
        int listener = sockets_.listen(address.with_port(port));
        if (listener < 0) {
            for (int other : listeners_) sockets_.close(other);
            listeners_.clear();
            return false;
        }
        listeners_.push_back(listener);
        port = sockets_.bound(listener).port;
    }
    return !listeners_.empty();
}

uint16_t Liveness::listen(const std::vector<Address> &addresses, uint16_t wanted, uint16_t least,
                          uint16_t most) {
    bool listens = listen_at(addresses, wanted);
    uint32_t choices = least == 0 ? ports_tried : static_cast<uint32_t>(most - least) + 1;
    for (uint32_t i = 0; !listens && i < choices; ++i)
        listens = listen_at(addresses, static_cast<uint16_t>(least == 0 ? 0 : least + i));
    return listens ? sockets_.bound(listeners_.front()).port : 0;
}

bool Liveness::has_ended(int socket) {
    char byte;
    iovec place{&byte, 1};
    return sockets_.read(socket, &place, 1) != -EAGAIN;  // no process sends anything here
}

// The lines are looked at before they are dialed anew, since a connection may have been made meanwhile.
dgram::PeerState Liveness::ask(uint32_t peer) {
    Lines &lines = lines_[peer];
    dgram::PeerState state = look(lines);
    uint64_t now_ns = sockets_.now_ns();
    if (state != dgram::PeerState::unknown || now_ns < lines.dial_at_ns) return state;
    lines.dial_at_ns = now_ns + dial_every_ns;
    dial(peer, lines);
    return look(lines);
}

dgram::PeerState Liveness::look(Lines &lines) {
    bool ended = false;
    for (Line &line : lines.list) {
        if (line.socket < 0) continue;
        int result = line.made ? 0 : sockets_.connect_result(line.socket);
        if (result == -EINPROGRESS) continue;
        line.made = result == 0;
        if (line.made && !has_ended(line.socket)) return dgram::PeerState::alive;
        ended |= line.made;
        sockets_.close(line.socket);
        line.socket = -1;
    }
    return ended ? dgram::PeerState::gone : dgram::PeerState::unknown;
}

void Liveness::dial(uint32_t peer, Lines &lines) {
    hang_up(lines);
    std::vector<Address> addresses;
    if (Error error = find_(peer, addresses)) return error.discard();
    for (const Address &address : addresses)
        if (int socket = sockets_.connect(address); socket >= 0) lines.list.push_back({socket});
}

void Liveness::hang_up(Lines &lines) {
    for (const Line &line : lines.list)
        if (line.socket >= 0) sockets_.close(line.socket);
    lines.list.clear();
}

void Liveness::let_go(uint32_t peer) {
    auto entry = lines_.find(peer);
    if (entry == lines_.end()) return;
    hang_up(entry->second);
    lines_.erase(entry);
}

void Liveness::tend() {
    for (int listener : listeners_)
        for (int socket; (socket = sockets_.accept(listener)) >= 0;) from_others_.push_back(socket);
    std::erase_if(from_others_, [&](int socket) {
        if (!has_ended(socket)) return false;
        sockets_.close(socket);
        return true;
    });
}

void Liveness::close() {
    while (!lines_.empty()) let_go(lines_.begin()->first);
    for (std::vector<int> *list : {&from_others_, &listeners_}) {
        for (int socket : *list) sockets_.close(socket);
        list->clear();
    }
}

}  // namespace lanyard
