// See liveness.h.
#include "path/dgram/liveness.h"

#include <errno.h>

namespace lanyard {

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
    for (uint32_t port = least; !listens && port <= most; ++port)
        listens = listen_at(addresses, static_cast<uint16_t>(port));
    return listens ? sockets_.bound(listeners_.front()).port : 0;
}

bool Liveness::has_ended(int socket) {
    char byte;
    iovec place{&byte, 1};
    return sockets_.read(socket, &place, 1) != -EAGAIN;  // no process sends anything here
}

dgram::Life Liveness::ask(uint32_t peer) {
    auto [entry, first] = lines_.try_emplace(peer);
    std::vector<Line> &lines = entry->second;
    if (first) {
        std::vector<Address> addresses;
        if (Error error = find_(peer, addresses)) {
            error.discard();
            lines_.erase(entry);
            return dgram::Life::unknown;
        }
        for (const Address &address : addresses)
            if (int socket = sockets_.connect(address); socket >= 0) lines.push_back({socket});
    }
    bool ended = false;
    for (Line &line : lines) {
        if (line.socket < 0) continue;
        int result = line.made ? 0 : sockets_.connect_result(line.socket);
        if (result == -EINPROGRESS) continue;
        line.made = result == 0;
        if (line.made && !has_ended(line.socket)) return dgram::Life::lives;
        ended |= line.made;
        sockets_.close(line.socket);
        line.socket = -1;
    }
    return ended ? dgram::Life::gone : dgram::Life::unknown;
}

void Liveness::let_go(uint32_t peer) {
    auto entry = lines_.find(peer);
    if (entry == lines_.end()) return;
    for (const Line &line : entry->second)
        if (line.socket >= 0) sockets_.close(line.socket);
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
