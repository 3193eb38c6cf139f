// Measures the TCP and UDP parts of bench-limits; see limits.h. In the latency tests both ends poll with
// non-blocking receives, as a library that polls does. In the bandwidth tests the receiver blocks in recv(),
// because this slows the sender least.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

#include "bench/programs/limits.h"
#include "bench/programs/raw_socket.h"

namespace lanyard::bench {

namespace {

constexpr int blocks = 20;
constexpr std::uint32_t rounds_per_block = 1000;
constexpr std::uint32_t warm_up_rounds = 2000;
constexpr std::uint32_t all_rounds = warm_up_rounds + blocks * rounds_per_block;
constexpr std::array<std::size_t, 5> write_sizes = {64, 1024, 8192, 65536, 1 << 20};
constexpr int stream_blocks = 8;
constexpr std::size_t word_bytes = 8;

std::uint32_t writes_per_block(std::size_t write_bytes) {
    std::size_t all = std::min<std::size_t>((256u << 20) / write_bytes, 300000);
    return static_cast<std::uint32_t>(all / stream_blocks);
}

Summary microseconds_one_way(std::vector<double> seconds_per_round) {
    for (double& value : seconds_per_round) value = value / 2 * 1e6;
    return summarise(std::move(seconds_per_round));
}

template <class Exchange>
Summary time_exchange(Exchange exchange) {
    auto run = [&](std::uint32_t rounds) { for (std::uint32_t i = 0; i < rounds; ++i) exchange(); };
    run(warm_up_rounds);
    return microseconds_one_way(time_blocks(blocks, rounds_per_block, run));
}

void measure_stream(int connection, std::size_t write_bytes, const char* data, Report& report) {
    char word[word_bytes];
    auto samples = time_blocks(stream_blocks, writes_per_block(write_bytes), [&](std::uint32_t writes) {
        for (std::uint32_t i = 0; i < writes; ++i) send_all(connection, data, write_bytes);
        receive_all(connection, word, sizeof word);
    });
    for (double& value : samples) value = static_cast<double>(write_bytes) / value / 1e9;
    report.add_named("tcp-" + std::to_string(write_bytes), "GB/s", summarise(std::move(samples)));
}

void answer_stream(int connection, std::size_t write_bytes, char* buffer) {
    char word[word_bytes] = {};
    for (int block = 0; block < stream_blocks; ++block) {
        for (std::size_t left = write_bytes * writes_per_block(write_bytes); left > 0;) {
            ssize_t got = recv(connection, buffer, std::min(left, big_bytes), 0);
            if (got <= 0) throw_errno("recv of a stream");
            left -= static_cast<std::size_t>(got);
        }
        send_all(connection, word, sizeof word);
    }
}

void measure_udp(int datagrams, Report& report) {
    char word[word_bytes] = {};
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    auto from = reinterpret_cast<sockaddr*>(&peer);
    while (recvfrom(datagrams, word, sizeof word, MSG_DONTWAIT, from, &length) != word_bytes) {}
    if (connect(datagrams, from, length) != 0) throw_errno("connect of a UDP socket");
    report.add_named("udp", "us", time_exchange([&] {
        send(datagrams, word, sizeof word, 0);
        while (recv(datagrams, word, sizeof word, MSG_DONTWAIT) != word_bytes) {}
    }));
}

void answer_udp(const sockaddr_in& where) {
    char word[word_bytes] = {};
    int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (connect(datagrams, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        throw_errno("connect of a UDP socket");
    send(datagrams, word, sizeof word, 0);
    for (std::uint32_t i = 0; i < all_rounds; ++i) {
        while (recv(datagrams, word, sizeof word, MSG_DONTWAIT) != word_bytes) {}
        send(datagrams, word, sizeof word, 0);
    }
    close(datagrams);
}

}  // namespace

Endpoints bind_endpoints(const char* address) {
    Endpoints endpoints;
    sockaddr_in& where = endpoints.where;
    where = parse_address(address);
    endpoints.listener = listen_at(where);
    endpoints.datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(endpoints.datagrams, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        throw_errno("bind of a UDP socket");
    return endpoints;
}

void measure_network(const Endpoints& endpoints, Report& report) {
    int connection = accept_one(endpoints.listener);
    char word[word_bytes] = {};
    report.add_named("tcp", "us", time_exchange([&] {
        send_all(connection, word, sizeof word);
        receive_all(connection, word, sizeof word);
    }));
    auto data = std::make_unique<char[]>(big_bytes);
    for (std::size_t write_bytes : write_sizes) measure_stream(connection, write_bytes, data.get(), report);
    close(connection);
    measure_udp(endpoints.datagrams, report);
}

void answer_network(const Endpoints& endpoints) {
    int connection = connect_to(endpoints.where);
    char word[word_bytes] = {};
    for (std::uint32_t i = 0; i < all_rounds; ++i) {
        receive_all(connection, word, sizeof word);
        send_all(connection, word, sizeof word);
    }
    auto buffer = std::make_unique<char[]>(big_bytes);
    for (std::size_t write_bytes : write_sizes) answer_stream(connection, write_bytes, buffer.get());
    close(connection);
    answer_udp(endpoints.where);
}

}  // namespace lanyard::bench
