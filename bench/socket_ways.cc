// Compares the kernel's other ways to use a TCP socket with the plain calls that src/net uses:
//
//     socket-ways [--json] [--rounds N] [--address A --shell 'WORD...']
//
// ping   Half of a round trip of 8 bytes, in microseconds. Both ends poll (spin), sleep in recv (sleep),
//        sleep with SO_BUSY_POLL (busy-poll), or submit a send and a recv in one call and wait for both
//        (io_uring).
// stream Sends of 1 MiB: GB/s, and the processor seconds of both ends for a GB. Plain, with MSG_ZEROCOPY, and
//        with io_uring.
//
// Each round measures all ways once, and the figures are medians over the rounds. By default, both ends run
// on this host, over loopback. With --shell the other end runs on another host, at the given address. The
// results are in bench/RESULTS.md.
#include <errno.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/programs/blocks.h"
#include "bench/programs/pin.h"
#include "bench/programs/raw_socket.h"

using namespace lanyard::bench;

namespace {

enum class Way : uint32_t { spin, sleep, busy_poll, io_uring, plain, zerocopy, stream_uring };
const std::pair<Way, const char *> pings[] = {
    {Way::spin, "spin"}, {Way::sleep, "sleep"}, {Way::busy_poll, "busy-poll"}, {Way::io_uring, "io_uring"}};
const std::pair<Way, const char *> streams[] = {
    {Way::plain, "plain"}, {Way::zerocopy, "MSG_ZEROCOPY"}, {Way::stream_uring, "io_uring"}};

constexpr size_t ping_bytes = 8, stream_bytes = 1 << 20;
constexpr double ping_seconds = 0.1, stream_seconds = 0.3;
constexpr int busy_poll_us = 50;

char data[stream_bytes];

void must(bool fine, const char *what) {
    if (fine) return;
    std::fprintf(stderr, "socket-ways: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

// An io_uring with few entries, used by one thread. It has only the functions that this program needs.
class Ring {
public:
    Ring() {
        io_uring_params params{};
        ring_ = static_cast<int>(syscall(SYS_io_uring_setup, entries, &params));
        must(ring_ >= 0, "io_uring_setup");
        submissions_ = map(params.sq_off.array + params.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
        completions_ = map(params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
        list_ =
            reinterpret_cast<io_uring_sqe *>(map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
        params_ = params;
    }
    ~Ring() { close(ring_); }
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    void add(uint8_t operation, int socket, char *memory, size_t bytes, uint64_t token) {
        auto &tail = at(submissions_, params_.sq_off.tail);
        uint32_t index = tail.load(std::memory_order_relaxed) & (params_.sq_entries - 1);
        io_uring_sqe &entry = list_[index];
        entry = {};
        entry.opcode = operation;
        entry.fd = socket;
        entry.addr = reinterpret_cast<uint64_t>(memory);
        entry.len = static_cast<uint32_t>(bytes);
        entry.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
        entry.user_data = token;
        reinterpret_cast<uint32_t *>(submissions_ + params_.sq_off.array)[index] = index;
        tail.fetch_add(1, std::memory_order_release);
        ++added_;
    }
    // Submits the added operations and waits until each has moved `bytes` bytes.
    void run(size_t bytes) {
        uint32_t count = added_;
        added_ = 0;
        if (syscall(SYS_io_uring_enter, ring_, count, count, IORING_ENTER_GETEVENTS, nullptr, 0) < 0)
            throw_errno("io_uring_enter");
        auto &head = at(completions_, params_.cq_off.head);
        bool all = true;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t index = head.load(std::memory_order_relaxed) & (params_.cq_entries - 1);
            all &= reinterpret_cast<io_uring_cqe *>(completions_ + params_.cq_off.cqes)[index].res ==
                   static_cast<int>(bytes);
            head.fetch_add(1, std::memory_order_release);
        }
        if (!all) throw std::runtime_error("the other process closed its connection");
    }

private:
    static constexpr unsigned entries = 8;

    char *map(size_t bytes, off_t where) {
        void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, where);
        must(memory != MAP_FAILED, "mmap of a ring");
        return static_cast<char *>(memory);
    }
    static std::atomic<uint32_t> &at(char *base, uint32_t offset) {
        return *reinterpret_cast<std::atomic<uint32_t> *>(base + offset);
    }

    int ring_;
    io_uring_params params_;
    char *submissions_, *completions_;
    io_uring_sqe *list_;
    uint32_t added_ = 0;
};

// One end of a ping-pong, which sends 8 bytes and receives 8 bytes.
class Pinger {
public:
    Pinger(int socket, Way way) : socket_(socket), way_(way) {
        if (way == Way::io_uring) ring_ = std::make_unique<Ring>();
        int time = busy_poll_us;
        if (way == Way::busy_poll)
            must(setsockopt(socket, SOL_SOCKET, SO_BUSY_POLL, &time, sizeof time) == 0, "SO_BUSY_POLL");
    }
    void out_and_in() {
        if (!ring_) {
            send_all(socket_, data, ping_bytes);
            return in();
        }
        ring_->add(IORING_OP_SEND, socket_, data, ping_bytes, 0);
        ring_->add(IORING_OP_RECV, socket_, data + 64, ping_bytes, 1);
        ring_->run(ping_bytes);
    }
    void in() {
        if (ring_) {
            ring_->add(IORING_OP_RECV, socket_, data + 64, ping_bytes, 1);
            ring_->run(ping_bytes);
        } else if (way_ == Way::spin) {
            receive_all(socket_, data, ping_bytes);
        } else {
            receive_asleep(socket_, data, ping_bytes);
        }
    }

private:
    int socket_;
    Way way_;
    std::unique_ptr<Ring> ring_;
};

// Reads the kernel's notices. With MSG_ZEROCOPY the kernel reports on the error queue when it has finished
// with a buffer. The sender reads these notices while it sends.
void take_notices(int socket, uint32_t &open) {
    char control[128];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head) return;
    sock_extended_err notice;
    std::memcpy(&notice, CMSG_DATA(head), sizeof notice);
    open -= notice.ee_data - notice.ee_info + 1;
}

void stream(int socket, Way way, double seconds, double &sent) {
    int on = 1;
    if (way == Way::zerocopy)
        must(setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) == 0, "SO_ZEROCOPY");
    std::unique_ptr<Ring> ring = way == Way::stream_uring ? std::make_unique<Ring>() : nullptr;
    uint32_t open = 0;
    for (double end = now_seconds() + seconds; now_seconds() < end; sent += stream_bytes) {
        if (ring) {
            ring->add(IORING_OP_SEND, socket, data, stream_bytes, 0);
            ring->run(stream_bytes);
            continue;
        }
        if (way == Way::plain) {
            send_asleep(socket, data, stream_bytes);
            continue;
        }
        for (size_t done = 0; done < stream_bytes;) {
            ssize_t put = send(socket, data + done, stream_bytes - done, MSG_ZEROCOPY | MSG_NOSIGNAL);
            must(put > 0 || errno == ENOBUFS, "send");
            if (put > 0) {
                done += static_cast<size_t>(put);
                ++open;
            } else {
                take_notices(socket, open);
            }
        }
        while (open > 8) take_notices(socket, open);
    }
    while (open > 0) take_notices(socket, open);
}

// Runs the other end. It serves one connection after another. The first bytes on a connection say which way
// is used.
void serve(const char *address) {
    pin_to_processor(1);
    sockaddr_in name = parse_address(address);
    int listener = listen_at(name);
    std::printf("%d\n", ntohs(name.sin_port));
    std::fflush(stdout);
    for (;;) {
        int peer = accept_one(listener);
        Way way;
        if (recv(peer, &way, sizeof way, MSG_WAITALL) != sizeof way)
            return;  // the first process opens such a connection to end this process
        double used = processor_seconds();
        if (way < Way::plain) {
            Pinger pinger(peer, way);
            try {
                for (pinger.in();;) pinger.out_and_in();
            } catch (const std::runtime_error &) {  // the other end has finished
            }
        } else {
            while (recv(peer, data, sizeof data, 0) > 0) {}
            used = processor_seconds() - used;
            send_asleep(peer, reinterpret_cast<char *>(&used), sizeof used);
        }
        close(peer);
    }
}

class Server {
public:
    Server(const std::string &own, const std::string &shell, std::string address)
        : address_(std::move(address)) {
        parse_address(address_);  // throws before anything is started
        pipe_ = popen(((shell.empty() ? "exec " : shell + " ") + own + " serve " + address_).c_str(), "r");
        if (!pipe_ || std::fscanf(pipe_, "%d", &port_) != 1)
            throw std::runtime_error("the other end did not start");
    }
    ~Server() {
        close(connect());
        pclose(pipe_);
    }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    int connect() const { return connect_to(parse_address(address_, port_)); }

private:
    std::string address_;
    std::FILE *pipe_;
    int port_ = 0;
};

// Returns half of a round trip, in microseconds.
double ping(const Server &server, Way way) {
    int peer = server.connect();
    send_asleep(peer, reinterpret_cast<char *>(&way), sizeof way);
    long trips = 0;
    double begin = now_seconds(), end = begin;
    {
        Pinger pinger(peer, way);
        for (; end < begin + ping_seconds; end = now_seconds())
            for (int i = 0; i < 20; ++i, ++trips) pinger.out_and_in();
    }
    close(peer);
    return (end - begin) / static_cast<double>(trips) / 2 * 1e6;
}

// Returns the GB/s, and the processor seconds of both ends for a GB.
std::pair<double, double> streamed(const Server &server, Way way) {
    int peer = server.connect();
    send_asleep(peer, reinterpret_cast<char *>(&way), sizeof way);
    double begin = now_seconds(), used = processor_seconds(), sent = 0, theirs = 0;
    stream(peer, way, stream_seconds, sent);
    shutdown(peer, SHUT_WR);
    receive_asleep(peer, reinterpret_cast<char *>(&theirs), sizeof theirs);
    double seconds = now_seconds() - begin;
    used = processor_seconds() - used + theirs;
    close(peer);
    return {sent / seconds / 1e9, used / (sent / 1e9)};
}

}  // namespace

int main(int argc, char **argv) try {
    if (argc == 3 && std::string_view(argv[1]) == "serve") return serve(argv[2]), 0;
    std::string address = "127.0.0.1", shell;
    int rounds = 15;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "--json") json = true;
        else if (word == "--rounds" && i + 1 < argc) rounds = std::max(1, std::atoi(argv[++i]));
        else if (word == "--address" && i + 1 < argc) address = argv[++i];
        else if (word == "--shell" && i + 1 < argc) shell = argv[++i];
        else
            return std::fprintf(stderr,
                                "usage: socket-ways [--json] [--rounds N] [--address A --shell 'WORD...']\n"),
                   2;
    }
    char own[4096] = {};
    must(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "readlink");
    std::map<std::string, std::vector<double>> values;
    std::vector<std::pair<std::string, const char *>> rows;
    {
        Server server(own, shell, address);
        pin_to_processor(0);  // the other end pins itself to another processor
        auto note = [&](const std::string &name, const char *unit, double value) {
            if (!values.contains(name)) rows.emplace_back(name, unit);
            values[name].push_back(value);
        };
        for (int round = 0; round < rounds; ++round) {
            for (auto [way, name] : pings) note(std::string("ping, ") + name, "us", ping(server, way));
            for (auto [way, name] : streams) {
                auto [rate, cost] = streamed(server, way);
                note(std::string("stream, ") + name, "GB/s", rate);
                note(std::string("stream, ") + name + ", processor", "s/GB", cost);
            }
        }
    }
    if (json) std::printf("{\"results\": [");
    for (size_t i = 0; i < rows.size(); ++i) {
        auto &[name, unit] = rows[i];
        double value = summarise(values[name]).median;
        if (json)
            std::printf("%s{\"name\": \"%s\", \"median\": %.4g, \"unit\": \"%s\"}", i ? ", " : "",
                        name.c_str(), value, unit);
        else std::printf("%-36s %8.4g %s\n", name.c_str(), value, unit);
    }
    if (json) std::puts("]}");
    return 0;
} catch (const std::exception &problem) {
    std::fprintf(stderr, "socket-ways: %s\n", problem.what());
    return 1;
}
