// Measures the patterns of bench-tcp that need only one thread; see tcp.h. This process polls with
// non-blocking calls.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/programs/blocks.h"
#include "bench/programs/pin.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

// The processor time of both processes during a block, in per cent of one processor.
struct Use {
    std::vector<double> sender, receiver;
};

Summary of_last(const std::vector<double>& values, std::size_t count) {
    return summarise({values.end() - static_cast<std::ptrdiff_t>(count), values.end()});
}

// Measures the seconds per window. Each sample is the mean of one block of windows (blocks.h).
Samples stream(int connection, const Settings& settings, std::size_t bytes, Use& use) {
    std::vector<char> data(bytes, known_byte);
    auto window = static_cast<std::uint32_t>(settings.window);
    std::size_t buffer_bytes = settings.reuse_buffer ? bytes : bytes * window;
    return sample_blocks(settings, [&](long rounds) {
        char word[word_bytes];
        order(connection, {Order::stream, window, bytes, buffer_bytes, static_cast<std::uint64_t>(rounds)});
        double used = processor_seconds();
        double start = now_seconds();
        for (long round = 0; round < rounds; ++round) {
            for (std::uint32_t i = 0; i < window; ++i) send_all(connection, data.data(), bytes);
            receive_all(connection, word, sizeof word);
        }
        double seconds = now_seconds() - start;
        use.sender.push_back((processor_seconds() - used) / seconds * 100);
        receive_all(connection, reinterpret_cast<char*>(&used), sizeof used);
        use.receiver.push_back(used / seconds * 100);
        return seconds;
    });
}

Summary gigabytes_per_second(std::vector<double> seconds_per_window, std::size_t bytes, int window) {
    double window_bytes = static_cast<double>(bytes) * window;
    return summarise_as(std::move(seconds_per_window),
                        [&](double seconds) { return window_bytes / seconds / 1e9; });
}

}  // namespace

void order(int connection, const Order& what) {
    send_all(connection, reinterpret_cast<const char*>(&what), sizeof what);
}

void measure_tcp_latency(int connection, const Settings& settings, Report& report) {
    if (settings.pin) pin_to_processor(0);
    for (std::size_t bytes : settings.sizes_bytes) {
        std::vector<char> buffer(bytes, known_byte);
        auto samples = sample_blocks(settings, [&](long rounds) {
            order(connection, {Order::ping, 1, bytes, bytes, static_cast<std::uint64_t>(rounds)});
            double start = now_seconds();
            for (long round = 0; round < rounds; ++round) {
                send_all(connection, buffer.data(), bytes);
                receive_all(connection, buffer.data(), bytes);
            }
            return now_seconds() - start;
        });
        report.count_sent(2 * samples.rounds, static_cast<double>(bytes));
        report.add_size(bytes,
                        summarise_as(std::move(samples), [](double seconds) { return seconds / 2 * 1e6; }));
    }
}

void measure_tcp_bandwidth(int connection, const Settings& settings, Report& report) {
    if (settings.pin) pin_to_processor(0);
    for (std::size_t bytes : settings.sizes_bytes) {
        Use use;
        auto samples = stream(connection, settings, bytes, use);
        report.count_sent(samples.rounds * settings.window, static_cast<double>(bytes));
        report.add_size(bytes, gigabytes_per_second(std::move(samples), bytes, settings.window));
    }
}

void measure_tcp_unidirectional(int connection, const Settings& settings, Report& report) {
    if (settings.pin) pin_to_processor(0);
    for (std::size_t bytes : settings.sizes_bytes) {
        Use use;
        auto samples = stream(connection, settings, bytes, use);
        std::size_t count = samples.size();
        report.count_sent(samples.rounds * settings.window, static_cast<double>(bytes));
        report.add_named_size("expected", bytes, "GB/s",
                              gigabytes_per_second(std::move(samples), bytes, settings.window));
        report.add_named_size("expected, sender's processor", bytes, "%", of_last(use.sender, count));
        report.add_named_size("expected, receiver's processor", bytes, "%", of_last(use.receiver, count));
    }
}

}  // namespace lanyard::bench
