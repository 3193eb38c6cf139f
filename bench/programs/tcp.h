// bench-tcp and bench-udp: what bare TCP and UDP achieve with the sizes, writes and patterns of the MPI
// programs, for comparison with them. The first process measures. It starts the second, which serves one
// Order after another until their TCP connection ends. Failures are thrown as std::system_error or
// std::runtime_error.
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

// What the second process does next. Both processes run the same executable, so an Order is sent as it lies
// in memory.
struct Order {
    enum Kind : std::uint32_t { ping, stream, give, take, swap, ping_datagrams };
    Kind kind;
    std::uint32_t window = 1;        // stream: messages for each answer of one word
    std::uint64_t bytes = 0;         // of a message
    std::uint64_t buffer_bytes = 0;  // of the memory that the second process uses
    std::uint64_t rounds = 1;        // swap: iterations of work meanwhile
};

constexpr std::size_t word_bytes = 8;
constexpr char known_byte = 59;

struct Pattern {
    Program program;
    Columns columns;
    void (*measure)(int connection, const Settings&, Report&);  // between two ends; or:
    void (*measure_tree)(const Settings&, Report&) = nullptr;
};

// bare.cc: the program bench-TRANSPORT with these patterns. Returns its exit code.
int run_bare(const std::string& transport, std::span<const Pattern> patterns, int argc, char** argv);

// tcp_ends.cc: starts the other end and connects to it. serve_at() is that end; it prints its port on
// standard output.
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

// tcp_tree.cc: no other end; it forks the processes of a tree.
void measure_tcp_allreduce(const Settings& settings, Report& report);

// tcp_overlap.cc: a thread in epoll moves the bytes while the calling thread works.
void measure_tcp_overlap(int connection, const Settings& settings, Report& report);
void serve_swap(int connection, const Order& what);

// udp_patterns.cc: datagrams between the two ends of the connection. Only the orders use the connection
// itself.
void measure_udp_latency(int connection, const Settings& settings, Report& report);
void serve_datagrams(int connection, const Order& what, std::vector<char>& buffer);

}  // namespace lanyard::bench
