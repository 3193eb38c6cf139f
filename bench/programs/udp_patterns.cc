// Measures the ping-pong of bench-udp; see tcp.h. Both processes poll with non-blocking calls, as the
// datagram path does. Nothing is sent again: if a datagram is lost, the measurement ends with an error
// message.
#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include "bench/programs/blocks.h"
#include "bench/programs/pin.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

constexpr std::size_t longest_datagram = 65'507;
constexpr double patience_seconds = 2;

// A datagram socket with the addresses and port numbers of the TCP connection. The ports of UDP are separate
// from those of TCP, so these ports are hardly ever in use.
class Datagrams {
public:
    explicit Datagrams(int connection) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in here{}, there{};
        socklen_t bytes = sizeof here;
        auto mine = reinterpret_cast<sockaddr*>(&here), theirs = reinterpret_cast<sockaddr*>(&there);
        getsockname(connection, mine, &bytes);
        getpeername(connection, theirs, &bytes);
        if (bind(socket_, mine, bytes) != 0) throw_errno("bind of a UDP socket");
        if (connect(socket_, theirs, bytes) != 0) throw_errno("connect of a UDP socket");
    }
    ~Datagrams() { close(socket_); }
    Datagrams(const Datagrams&) = delete;
    Datagrams& operator=(const Datagrams&) = delete;

    void send(const std::vector<char>& buffer) {
        while (::send(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT) < 0)
            if (errno != EAGAIN) throw_errno("send of a datagram");
    }

    void receive(std::vector<char>& buffer) {
        constexpr long looks = 1 << 16;  // polls of the socket for each look at the clock
        double deadline = 0;
        for (long look = 0; recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT) < 0; ++look) {
            if (errno != EAGAIN) throw_errno("recv of a datagram");
            if (look % looks != looks - 1) continue;
            if (deadline == 0) deadline = now_seconds() + patience_seconds;
            if (now_seconds() > deadline)
                throw std::runtime_error("a datagram was lost, and bare UDP sends none again");
        }
    }

private:
    int socket_;
};

}  // namespace

void measure_udp_latency(int connection, const Settings& settings, Report& report) {
    if (settings.pin) pin_to_processor(0);
    Datagrams datagrams(connection);
    if (std::ranges::min(settings.sizes_bytes) > longest_datagram)
        throw std::runtime_error("a datagram has at most " + std::to_string(longest_datagram) +
                                 " bytes: choose smaller --sizes");
    for (std::size_t bytes : settings.sizes_bytes) {
        if (bytes > longest_datagram) continue;
        std::vector<char> buffer(bytes, known_byte);
        auto samples = sample_blocks(settings, [&](long rounds) {
            char word[word_bytes];
            order(connection, {Order::ping_datagrams, 1, bytes, bytes, static_cast<std::uint64_t>(rounds)});
            receive_all(connection, word, sizeof word);
            double start = now_seconds();
            for (long round = 0; round < rounds; ++round) {
                datagrams.send(buffer);
                datagrams.receive(buffer);
            }
            return now_seconds() - start;
        });
        report.count_sent(2 * samples.rounds, static_cast<double>(bytes));
        report.add_size(bytes,
                        summarise_as(std::move(samples), [](double seconds) { return seconds / 2 * 1e6; }));
    }
}

// The word that is sent over the TCP connection reports that the socket exists.
void serve_datagrams(int connection, const Order& what, std::vector<char>& buffer) {
    char word[word_bytes] = {};
    Datagrams datagrams(connection);
    send_all(connection, word, sizeof word);
    for (std::uint64_t round = 0; round < what.rounds; ++round) {
        datagrams.receive(buffer);
        datagrams.send(buffer);
    }
}

}  // namespace lanyard::bench
