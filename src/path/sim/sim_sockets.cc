// See sim_sockets.h.
#include "path/sim/sim_sockets.h"

#include <errno.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace lanyard::sim {

SocketBehaviour SocketBehaviour::any(Random &random) {
    SocketBehaviour any;
    any.usual_delay_ns = random.chance(20) ? 1 : uint64_t{1} << random.below(14);
    any.long_delay_ns = uint64_t{1} << random.between(10, 22);
    any.long_delay_percent = static_cast<int>(random.below(random.chance(30) ? 40 : 4));
    any.capacity = 1 + random.below(random.chance(20) ? 200 : 100'000);
    any.portion_percent = static_cast<int>(random.below(101));
    any.refuse_percent = random.chance(50) ? static_cast<int>(random.below(40)) : 0;
    any.vanish_percent = random.chance(30) ? static_cast<int>(random.below(20)) : 0;
    any.reset_permille = random.chance(70) ? 1 << random.below(6) : 0;
    any.preempt_percent = static_cast<int>(random.below(60));
    any.resets_left = static_cast<int>(random.between(1, 200));
    any.addresses = static_cast<uint32_t>(random.chance(50) ? 1 : random.between(2, 4));
    any.fastest = static_cast<uint32_t>(random.below(any.addresses));
    any.held_back_percent = random.chance(50) ? 0 : static_cast<int>(random.below(101));
    return any;
}

void SimInternet::drives(uint32_t process, uint32_t thread) {
    if (threads_.size() <= process) threads_.resize(process + 1, UINT32_MAX);
    threads_[process] = thread;
    if (behaviour_.patience_ns == UINT64_MAX) return;
    for (const Cut &cut : cuts_) tell(process, cut.from_ns + behaviour_.patience_ns);
}

Address SimInternet::address_of(uint32_t process, uint32_t which) {
    Address address;
    address.version = 4;
    address.bytes[0] = 10;
    address.bytes[1] = static_cast<uint8_t>(which);
    address.bytes[2] = static_cast<uint8_t>(process >> 8);
    address.bytes[3] = static_cast<uint8_t>(process);
    return address;
}

std::vector<Address> SimInternet::addresses_of(uint32_t process) const {
    std::vector<Address> list;
    for (uint32_t which = 0; which < behaviour_.addresses; ++which)
        list.push_back(address_of(process, which));
    return list;
}

uint64_t SimInternet::rate_by(const Address &address) const {
    uint64_t slower = (address.bytes[1] + behaviour_.addresses - behaviour_.fastest) % behaviour_.addresses;
    return 1'000'000'000 / (2 * slower + 1);
}

uint64_t SimInternet::delay_ns() {
    Random &random = baton_.random();
    uint64_t most =
        random.chance(behaviour_.long_delay_percent) ? behaviour_.long_delay_ns : behaviour_.usual_delay_ns;
    return random.below(most + 1);
}

bool SimInternet::is_on(const Cut &cut, const Stream &stream, uint64_t time_ns) {
    auto is_behind = [&](const Address &at) {
        auto process = static_cast<uint32_t>(at.bytes[2] << 8 | at.bytes[3]);
        return process == cut.process && (cut.which == UINT32_MAX || at.bytes[1] == cut.which);
    };
    return time_ns >= cut.from_ns && time_ns < cut.until_ns &&
           (is_behind(stream.addresses[0]) || is_behind(stream.addresses[1]));
}

// Returns when something arrives that would arrive at `time_ns` if no cable were cut.
uint64_t SimInternet::passes_ns(const Stream &stream, uint64_t time_ns) {
    for (size_t i = 0; i < cuts_.size();) {
        if (!is_on(cuts_[i++], stream, time_ns)) continue;
        if (cuts_[i - 1].until_ns == UINT64_MAX) return UINT64_MAX;
        time_ns = cuts_[i - 1].until_ns + delay_ns();
        i = 0;  // another cut may cover the new time
    }
    return time_ns;
}

// Returns since when a cable of this stream is cut; UINT64_MAX if none is cut now.
uint64_t SimInternet::cut_since_ns(const Stream &stream) const {
    uint64_t since = UINT64_MAX;
    for (const Cut &cut : cuts_)
        if (is_on(cut, stream, baton_.now_ns())) since = std::min(since, cut.from_ns);
    return since;
}

uint64_t SimInternet::latest_arrival_ns(const End &end, uint64_t now_ns) {
    uint64_t latest = end.read_time_ns;
    for (const Chunk &chunk : end.arriving)
        if (chunk.time_ns <= now_ns) latest = std::max(latest, chunk.time_ns);
    return latest;
}

void SimInternet::tell(uint32_t process, uint64_t time_ns) {
    if (time_ns == UINT64_MAX) return;
    if (process < threads_.size()) baton_.notify_at(time_ns, threads_[process]);
}

// Each end learns of the reset at a time of its own. Until then it may still read what has arrived.
void SimInternet::reset(Stream &stream) {
    ++resets_;
    for (End &end : stream.ends) {
        end.reset_time_ns =
            std::min(end.reset_time_ns, baton_.now_ns() + (baton_.random().chance(50) ? 0 : delay_ns()));
        while (!end.arriving.empty() && end.arriving.back().time_ns > end.reset_time_ns) {
            end.arriving_bytes -=
                end.arriving.back().bytes.size() - (end.arriving.size() == 1 ? end.read_of_first : 0);
            end.arriving.pop_back();
        }
        if (end.arriving.empty()) end.read_of_first = 0;
        tell(end.process, end.reset_time_ns);
    }
}

SimSockets::~SimSockets() {
    for (size_t i = 0; i < sockets_.size(); ++i)
        if (sockets_[i].in_use) close(static_cast<int>(i));
}

int SimSockets::add(Socket socket) {
    socket.in_use = true;
    for (size_t i = 0; i < sockets_.size(); ++i) {
        if (sockets_[i].in_use) continue;
        sockets_[i] = std::move(socket);
        return static_cast<int>(i);
    }
    sockets_.push_back(std::move(socket));
    return static_cast<int>(sockets_.size() - 1);
}

int SimSockets::listen(const Address &where) {
    auto listener = std::make_shared<SimInternet::Listener>();
    listener->at = where.port ? where : where.with_port(net_.next_port_++);
    for (auto &other : net_.listeners_)
        if (other->at == listener->at) return -EADDRINUSE;
    listener->process = process_;
    net_.listeners_.push_back(listener);
    Socket socket;
    socket.listener = listener;
    return add(std::move(socket));
}

Address SimSockets::bound(int number) {
    const Socket &socket = sockets_[at(number)];
    return socket.listener ? socket.listener->at : socket.stream->addresses[socket.side];
}

Address SimSockets::other_end(int number) {
    const Socket &socket = sockets_[at(number)];
    return socket.stream->addresses[1 - socket.side];
}

// Counts silence only while bytes are in flight to the other host, since that host acknowledges what arrives
// even while its process does not read.
uint64_t SimSockets::silence_ns(int number) {
    const Socket &socket = sockets_[at(number)];
    const SimInternet::Stream &stream = *socket.stream;
    const SimInternet::End &own = stream.ends[socket.side], &other = stream.ends[1 - socket.side];
    uint64_t now = now_ns();
    if (other.arriving.empty() || other.arriving.back().time_ns <= now) return 0;
    return now - std::max({stream.established_ns, SimInternet::latest_arrival_ns(own, now),
                           SimInternet::latest_arrival_ns(other, now)});
}

Sockets::Delivery SimSockets::delivery(int number) {
    const Socket &socket = sockets_[at(number)];
    bool held_back = net_.behaviour_.held_back_percent > 0 &&
                     net_.baton_.random().chance(net_.behaviour_.held_back_percent);
    return {socket.stream->read[1 - socket.side], net_.rate_by(socket.stream->addresses[1 - socket.side]),
            held_back};
}

int SimSockets::accept(int number) {
    auto &waiting = sockets_[at(number)].listener->waiting;
    if (waiting.empty() || waiting.front().time_ns > now_ns()) return -EAGAIN;
    Socket socket;
    socket.stream = waiting.front().stream;
    socket.side = 1;
    waiting.pop_front();
    net_.baton_.progress();
    return add(std::move(socket));
}

int SimSockets::connect(const Address &to) {
    Random &random = net_.baton_.random();
    auto stream = std::make_shared<SimInternet::Stream>();
    stream->ends[0].process = process_;
    stream->addresses[0] = SimInternet::address_of(process_, to.bytes[1]).with_port(1);
    stream->addresses[1] = to;
    stream->established_ns = net_.passes_ns(*stream, now_ns() + 1 + net_.delay_ns());
    auto listener = std::find_if(net_.listeners_.begin(), net_.listeners_.end(),
                                 [&](const auto &each) { return each->at == to; });
    if (listener == net_.listeners_.end() || random.chance(net_.behaviour_.refuse_percent)) {
        stream->refused = true;
    } else if (random.chance(net_.behaviour_.vanish_percent)) {
        stream->established_ns = UINT64_MAX;
    } else if (stream->established_ns != UINT64_MAX) {
        stream->ends[1].process = (*listener)->process;
        auto &waiting = (*listener)->waiting;
        uint64_t time_ns = stream->established_ns;
        auto behind = std::find_if(waiting.begin(), waiting.end(),
                                   [&](const auto &each) { return each.time_ns > time_ns; });
        waiting.insert(behind, {time_ns, stream});
        net_.tell((*listener)->process, time_ns);
    }
    if (stream->established_ns != UINT64_MAX) net_.tell(process_, stream->established_ns);
    Socket socket;
    socket.stream = std::move(stream);
    return add(std::move(socket));
}

int SimSockets::connect_result(int number) {
    const SimInternet::Stream &stream = *sockets_[at(number)].stream;
    if (stream.established_ns > now_ns()) return -EINPROGRESS;
    if (stream.refused) return -ECONNREFUSED;
    return stream.ends[0].reset_time_ns <= now_ns() ? -ECONNRESET : 0;
}

// Returns how many of the bytes are transferred: at least one, if there are any.
size_t SimSockets::portion(size_t bytes) {
    Random &random = net_.baton_.random();
    if (bytes < 2 || !random.chance(net_.behaviour_.portion_percent)) return bytes;
    return 1 + random.below(random.chance(30) ? std::min<size_t>(bytes, 8) : bytes);
}

// Resets this end of the connection if the other host has been silent for patience_ns, as the kernel does by
// keepalives.
void SimSockets::note_silence(Socket &socket) {
    if (!socket.stream || net_.behaviour_.patience_ns == UINT64_MAX) return;
    uint64_t since_ns = net_.cut_since_ns(*socket.stream), now = now_ns();
    if (since_ns == UINT64_MAX || now < since_ns + net_.behaviour_.patience_ns) return;
    SimInternet::End &own = socket.stream->ends[socket.side];
    own.reset_time_ns = std::min(own.reset_time_ns, now);
}

bool SimSockets::misfortune(SimInternet::Stream &stream) {
    SocketBehaviour &behaviour = net_.behaviour_;
    if (behaviour.resets_left <= 0 ||
        net_.baton_.random().below(1000) >= static_cast<uint64_t>(behaviour.reset_permille))
        return false;
    --behaviour.resets_left;
    net_.reset(stream);
    return true;
}

void SimSockets::flip_a_bit(std::vector<std::byte> &bytes) {
    Random &random = net_.baton_.random();
    SocketBehaviour &behaviour = net_.behaviour_;
    if (behaviour.flips_left <= 0 || random.below(1000) >= static_cast<uint64_t>(behaviour.flip_permille))
        return;
    --behaviour.flips_left;
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1u << random.below(8));
    ++net_.flips_;
}

ssize_t SimSockets::read(int number, const iovec *parts, int count) {
    Socket &socket = sockets_[at(number)];
    SimInternet::Stream &stream = *socket.stream;
    misfortune(stream);
    SimInternet::End &own = stream.ends[socket.side];
    size_t room = 0, read = 0;
    for (int i = 0; i < count; ++i) room += parts[i].iov_len;
    room = portion(room);
    int part = 0;
    size_t part_used = 0;
    while (read < room && !own.arriving.empty() && own.arriving.front().time_ns <= now_ns()) {
        const std::vector<std::byte> &bytes = own.arriving.front().bytes;
        while (part_used == parts[part].iov_len) ++part, part_used = 0;
        size_t some =
            std::min({bytes.size() - own.read_of_first, room - read, parts[part].iov_len - part_used});
        std::memcpy(static_cast<std::byte *>(parts[part].iov_base) + part_used,
                    bytes.data() + own.read_of_first, some);
        part_used += some;
        read += some;
        own.read_of_first += some;
        own.arriving_bytes -= some;
        if (own.read_of_first < bytes.size()) continue;
        own.read_of_first = 0;
        own.read_time_ns = own.arriving.front().time_ns;
        own.arriving.pop_front();
    }
    if (read) {
        stream.read[socket.side] += read;
        net_.baton_.progress();
        if (own.other_wants_room) net_.tell(stream.ends[1 - socket.side].process, now_ns());
        own.other_wants_room = false;
        return static_cast<ssize_t>(read);
    }
    if (own.reset_time_ns <= now_ns()) return -ECONNRESET;
    return own.ended && own.arriving.empty() && own.end_time_ns <= now_ns() ? 0 : -EAGAIN;
}

ssize_t SimSockets::write(int number, const iovec *parts, int count) {
    Socket &socket = sockets_[at(number)];
    SimInternet::Stream &stream = *socket.stream;
    misfortune(stream);
    if (stream.ends[socket.side].reset_time_ns <= now_ns()) return -EPIPE;
    SimInternet::End &own = stream.ends[socket.side], &other = stream.ends[1 - socket.side];
    bool silent = net_.passes_ns(stream, now_ns()) > now_ns();
    if (other.closed && !silent) {
        net_.reset(stream);
        return -EPIPE;
    }
    size_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
    size_t room = net_.behaviour_.capacity - std::min(net_.behaviour_.capacity, other.arriving_bytes);
    if (room == 0) {
        other.other_wants_room = true;
        return -EAGAIN;
    }
    bytes = portion(std::min(bytes, room));
    SimInternet::Chunk chunk{std::max(net_.passes_ns(stream, now_ns() + net_.delay_ns()), other.last_time_ns),
                             {}};
    for (int i = 0; i < count && chunk.bytes.size() < bytes; ++i) {
        auto *from = static_cast<const std::byte *>(parts[i].iov_base);
        chunk.bytes.insert(chunk.bytes.end(), from,
                           from + std::min(parts[i].iov_len, bytes - chunk.bytes.size()));
    }
    net_.baton_.progress();
    // The other end has been reset, so the bytes will not arrive.
    if (other.reset_time_ns != UINT64_MAX && !silent) return static_cast<ssize_t>(bytes);
    flip_a_bit(chunk.bytes);
    auto end_at = [&](uint64_t time_ns) {
        if (time_ns >= own.reset_time_ns) return;
        own.reset_time_ns = time_ns;
        net_.tell(process_, time_ns);
    };
    if (other.closed) end_at(chunk.time_ns);  // the other host answers with a reset
    if (chunk.time_ns - now_ns() > net_.behaviour_.patience_ns)
        end_at(now_ns() + net_.behaviour_.patience_ns);
    other.last_time_ns = chunk.time_ns;
    other.arriving_bytes += bytes;
    net_.tell(other.process, chunk.time_ns);
    other.arriving.push_back(std::move(chunk));
    return static_cast<ssize_t>(bytes);
}

void SimSockets::close(int number) {
    Socket &socket = sockets_[at(number)];
    if (socket.listener) {
        std::erase(net_.listeners_, socket.listener);
    } else {
        SimInternet::Stream &stream = *socket.stream;
        SimInternet::End &own = stream.ends[socket.side], &other = stream.ends[1 - socket.side];
        own.closed = true;
        // The kernel resets a connection that is closed with unread bytes.
        bool resets = own.arriving_bytes > 0;
        bool silent = net_.passes_ns(stream, now_ns()) > now_ns();
        if (resets && !silent) net_.reset(stream);
        if (!resets || !silent) {
            other.ended = true;
            other.end_time_ns =
                std::max(net_.passes_ns(stream, now_ns() + net_.delay_ns()), other.last_time_ns);
            net_.tell(other.process, other.end_time_ns);
        }
    }
    socket = {};
}

void SimSockets::watch(int number, uint64_t token, bool writable) {
    Socket &socket = sockets_[at(number)];
    socket.watched = true;
    socket.token = token;
    socket.wants_writable = writable;
    if (socket.stream && writable) socket.stream->ends[1 - socket.side].other_wants_room = true;
}

bool SimSockets::readable(const Socket &socket) const {
    uint64_t now = net_.baton_.now_ns();
    if (socket.listener)
        return !socket.listener->waiting.empty() && socket.listener->waiting.front().time_ns <= now;
    const SimInternet::End &own = socket.stream->ends[socket.side];
    if (own.reset_time_ns <= now) return true;
    size_t received = 0, wanted = own.arriving_bytes >= net_.behaviour_.capacity ? 1 : socket.wake_at;
    for (const auto &chunk : own.arriving) {
        if (chunk.time_ns > now) break;
        received += chunk.bytes.size() - (received == 0 ? own.read_of_first : 0);
        if (received >= wanted) return true;
    }
    return own.ended && own.end_time_ns <= now;
}

bool SimSockets::writable(const Socket &socket) const {
    uint64_t now = net_.baton_.now_ns();
    if (socket.listener) return false;
    if (socket.side == 0 && socket.stream->established_ns > now) return false;
    return socket.stream->ends[socket.side].reset_time_ns <= now ||
           socket.stream->ends[1 - socket.side].arriving_bytes < net_.behaviour_.capacity;
}

int SimSockets::ready(Ready *list, int most) {
    Baton &baton = net_.baton_;
    if (baton.random().chance(net_.behaviour_.preempt_percent)) baton.pass();
    else baton.tick();
    int count = 0;
    size_t first = sockets_.empty() ? 0 : baton.random().below(sockets_.size());
    for (size_t i = 0; i < sockets_.size() && count < most; ++i) {
        Socket &socket = sockets_[(first + i) % sockets_.size()];
        if (!socket.in_use) continue;
        note_silence(socket);
        if (!socket.watched) continue;
        Ready now{socket.token, readable(socket), socket.wants_writable && writable(socket)};
        if (now.readable || now.writable) list[count++] = now;
    }
    return count;
}

}  // namespace lanyard::sim
