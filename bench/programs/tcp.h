// Declares the parts of bench-tcp and bench-udp. They measure what bare TCP and UDP achieve with the sizes,
// writes and patterns of the MPI programs, for comparison with these. The first process measures. It starts
// the second process, which serves one Order after another until the TCP connection between the two ends.
// Failures are thrown as std::system_error or std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "bench/programs/report.h"
#include "bench/programs/settings.h"

namespace lanyard::bench {

// The next task of the second process. Both processes run the same executable, so an Order is sent as it lies
// in memory.
struct Order {
    enum Kind : std::uint32_t { ping, stream, give, take, swap, ping_datagrams };
    Kind kind;
    std::uint32_t window = 1;        // stream: messages for each answer of one word
    std::uint64_t bytes = 0;         // of a message
    std::uint64_t buffer_bytes = 0;  // size of the memory that the second process uses
    std::uint64_t rounds = 1;        // swap: iterations of work during the transfer
};

constexpr std::size_t word_bytes = 8;
constexpr char known_byte = 59;

struct Pattern {
    Program program;
    Columns columns;
    // measures between two processes; null if measure_tree is set
    void (*measure)(int connection, const Settings&, Report&);
    void (*measure_tree)(const Settings&, Report&) = nullptr;
};

// bare.cc: runs the program bench-TRANSPORT with these patterns. Returns the program's exit code.
int run_bare(const std::string& transport, std::span<const Pattern> patterns, int argc, char** argv);

// tcp_ends.cc: OtherEnd starts the second process and connects to it. The second process runs serve_at(),
// which prints its port on standard output.
class OtherEnd {
public:
    OtherEnd(const Ends& ends, bool pin);
    ~OtherEnd();  // closes the connection and waits for the other end to exit
    OtherEnd(const OtherEnd&) = delete;
    OtherEnd& operator=(const OtherEnd&) = delete;
    int connection() const { return connection_; }

private:
    std::FILE* pipe_ = nullptr;
    int connection_ = -1;
};
void serve_at(const std::string& address);

// tcp_serve.cc: serves orders.
void serve_orders(int connection);

// tcp_patterns.cc
void order(int connection, const Order& what);
void measure_tcp_latency(int connection, const Settings& settings, Report& report);
void measure_tcp_bandwidth(int connection, const Settings& settings, Report& report);
void measure_tcp_unidirectional(int connection, const Settings& settings, Report& report);

// tcp_tree.cc: has no second process. It forks the processes of a tree.
void measure_tcp_allreduce(const Settings& settings, Report& report);

// tcp_overlap.cc: a thread in epoll moves the bytes while the calling thread works.
void measure_tcp_overlap(int connection, const Settings& settings, Report& report);
void serve_swap(int connection, const Order& what);

// udp_patterns.cc: sends datagrams between the two processes. Only the orders use the TCP connection.
void measure_udp_latency(int connection, const Settings& settings, Report& report);
void serve_datagrams(int connection, const Order& what, std::vector<char>& buffer);

}  // namespace lanyard::bench
