// Runs the second process of bench-tcp and bench-udp, which serves one Order after another; see tcp.h. It
// polls only when it answers a ping-pong. Otherwise it blocks.
#include <vector>

#include <sys/socket.h>

#include "bench/programs/blocks.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

void serve_ping(int connection, const Order& what, std::vector<char>& buffer) {
    for (std::uint64_t round = 0; round < what.rounds; ++round) {
        receive_all(connection, buffer.data(), what.bytes);
        send_all(connection, buffer.data(), what.bytes);
    }
}

// Receives windows with blocking calls, because these slow the sender least. Makes as few calls as the kernel
// allows, and receives into memory as large as the buffers of the MPI programs. At the end, sends the
// processor time of this process.
void serve_stream(int connection, const Order& what, std::vector<char>& buffer) {
    char word[word_bytes] = {};
    double used = processor_seconds();
    for (std::uint64_t round = 0; round < what.rounds; ++round) {
        std::size_t left = what.bytes * what.window;
        for (std::size_t part; left > 0; left -= part) {
            part = std::min(left, buffer.size());
            receive_asleep(connection, buffer.data(), part);
        }
        send_all(connection, word, sizeof word);
    }
    used = processor_seconds() - used;
    send_all(connection, reinterpret_cast<const char*>(&used), sizeof used);
}

void serve_transfer(int connection, const Order& what, std::vector<char>& buffer) {
    char word[word_bytes] = {};
    if (what.kind == Order::give) {
        send_asleep(connection, buffer.data(), what.bytes);
    } else {
        receive_asleep(connection, buffer.data(), what.bytes);
        send_asleep(connection, word, sizeof word);
    }
}

bool ended(int connection) {
    char first;
    return recv(connection, &first, 1, MSG_PEEK) <= 0;
}

}  // namespace

void serve_orders(int connection) {
    std::vector<char> buffer;
    while (!ended(connection)) {
        Order what;
        receive_asleep(connection, reinterpret_cast<char*>(&what), sizeof what);
        if (buffer.size() != what.buffer_bytes) buffer.assign(what.buffer_bytes, known_byte);
        if (what.kind == Order::ping) serve_ping(connection, what, buffer);
        else if (what.kind == Order::stream) serve_stream(connection, what, buffer);
        else if (what.kind == Order::swap) serve_swap(connection, what);
        else if (what.kind == Order::ping_datagrams) serve_datagrams(connection, what, buffer);
        else serve_transfer(connection, what, buffer);
    }
}

}  // namespace lanyard::bench
