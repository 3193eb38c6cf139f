// bench-tcp and bench-udp: what bare TCP and UDP reach with the sizes, writes and patterns of the MPI programs, as the yardstick beside them.
// The first process measures; the second, which it starts, serves one Order after another until their TCP connection ends.
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

// What the second process does next; both are the same executable, so it travels as it lies in memory.
struct Order {
    enum Kind : std::uint32_t { ping, stream, give, take, swap, ping_datagrams };
    Kind kind;
    std::uint32_t window = 1;        // stream: messages that are answered by one word
    std::uint64_t bytes = 0;         // of a message
    std::uint64_t buffer_bytes = 0;  // of the memory that the second process uses
    std::uint64_t rounds = 1;        // swap: iterations of work meanwhile
};

constexpr std::size_t word_bytes = 8;
constexpr char known_byte = 59;

struct Pattern {
    Program program;
    Columns columns;
    void (*measure)(int connection, const Settings&, Report&);  // between two ends, or
    void (*measure_tree)(const Settings&, Report&) = nullptr;
};

// bare.cc: the program bench-TRANSPORT with these patterns, from its command line to its exit code.
int run_bare(const std::string& transport, std::span<const Pattern> patterns, int argc, char** argv);

// tcp_ends.cc: the other end, started and connected to; serve_at is that end, which says its port on standard output.
class OtherEnd {
public:
    OtherEnd(const Ends& ends, bool pin);
    ~OtherEnd();  // hangs up and waits until it has ended
    OtherEnd(const OtherEnd&) = delete;
    OtherEnd& operator=(const OtherEnd&) = delete;
    int connection() const { return connection_; }

private:
    std::FILE* pipe_ = nullptr;
    int connection_ = -1;
};
void serve_at(const std::string& address);

// tcp_serve.cc: obeys orders.
void serve_orders(int connection);

// tcp_patterns.cc
void order(int connection, const Order& what);
void measure_tcp_latency(int connection, const Settings& settings, Report& report);
void measure_tcp_bandwidth(int connection, const Settings& settings, Report& report);
void measure_tcp_unidirectional(int connection, const Settings& settings, Report& report);

// tcp_tree.cc: has no other end, but forks the processes of a tree.
void measure_tcp_allreduce(const Settings& settings, Report& report);

// tcp_overlap.cc: a thread in epoll moves the bytes while this one works.
void measure_tcp_overlap(int connection, const Settings& settings, Report& report);
void serve_swap(int connection, const Order& what);

// udp_patterns.cc: by datagrams between the two ends of the connection, which brings the orders only.
void measure_udp_latency(int connection, const Settings& settings, Report& report);
void serve_datagrams(int connection, const Order& what, std::vector<char>& buffer);

}  // namespace lanyard::bench
