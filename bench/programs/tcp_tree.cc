// Sends the messages of an allreduce over bare sockets; see tcp.h. Every process except the first sends its
// sum to its parent in a binomial tree and receives the result from the parent. With 8 processes, 7 messages
// go up and 7 go down. This is the least that an allreduce by a reduction and a broadcast needs. The sockets
// block, because there may be more processes than processors. The first process measures:
//
//     0 --+-- 1
//         +-- 2 --- 3           children of r: r + 2^k for every 2^k below the lowest bit of r
//         +-- 4 --+-- 5
//                 +-- 6 --- 7
//
// Each process forks its children. They exit when it closes its end of their connection.
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "bench/programs/blocks.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

// The two ends of a connection over loopback: `mine` for this process, `theirs` for a child that it is about
// to fork.
struct Pair {
    int mine = -1;
    int theirs = -1;
};

Pair connected_pair() {
    sockaddr_in where = parse_address("127.0.0.1");
    int listener = listen_at(where);
    Pair pair;
    pair.theirs = connect_to(where);
    pair.mine = accept_one(listener);
    close(listener);
    return pair;
}

// A process of the tree, with the connections to its children.
class Node {
public:
    // Forks all processes below `rank` in a tree of `size` processes. They serve until this object is
    // destroyed.
    Node(int rank, int size, std::size_t count) : rank_(rank), values_(count), child_values_(count) {
        for (int bit = 1; (rank & bit) == 0 && rank + bit < size; bit *= 2) fork_child(rank + bit, size);
    }
    ~Node() {
        for (int child : children_) close(child);
        while (wait(nullptr) > 0) {}
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // Returns the sums over this process and all processes below it.
    const std::vector<double>& gather() {
        values_.assign(values_.size(), rank_ + 1);
        for (int child : children_) {
            receive_asleep(child, reinterpret_cast<char*>(child_values_.data()), bytes());
            for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += child_values_[i];
        }
        return values_;
    }
    void spread() {
        for (std::size_t i = children_.size(); i-- > 0;)
            send_asleep(children_[i], reinterpret_cast<const char*>(values_.data()), bytes());
    }
    void serve(int parent) {
        for (;;) {
            send_asleep(parent, reinterpret_cast<const char*>(gather().data()), bytes());
            receive_asleep(parent, reinterpret_cast<char*>(values_.data()), bytes());
            spread();
        }
    }

private:
    std::size_t bytes() const { return values_.size() * sizeof(double); }

    void fork_child(int rank, int size) {
        Pair pair = connected_pair();
        pid_t child = fork();
        if (child < 0) throw_errno("fork");
        if (child > 0) {
            close(pair.theirs);
            children_.push_back(pair.mine);
            return;
        }
        close(pair.mine);
        for (int sibling : children_) close(sibling);
        serve_until_end(rank, size, values_.size(), pair.theirs);
    }

    [[noreturn]] static void serve_until_end(int rank, int size, std::size_t count, int parent) {
        try {
            Node(rank, size, count).serve(parent);
        // not an error: the parent closes the connection at the end
        } catch (const std::exception&) {
        }
        _exit(0);
    }

    int rank_;
    std::vector<double> values_, child_values_;
    std::vector<int> children_;
};

}  // namespace

void measure_tcp_allreduce(const Settings& settings, Report& report) {
    int size = static_cast<int>(settings.ranks);
    for (std::size_t bytes : settings.sizes_bytes) {
        std::size_t count = std::max<std::size_t>(1, bytes / sizeof(double));
        Node root(0, size, count);
        auto samples = sample_blocks(settings, [&](long rounds) {
            double start = now_seconds();
            for (long round = 0; round < rounds; ++round) {
                if (double sum = root.gather().back(); sum != size * (size + 1) / 2.0)
                    throw std::runtime_error("a sum over the tree is " + std::to_string(sum));
                root.spread();
            }
            return now_seconds() - start;
        });
        report.count_sent(2 * (size - 1) * samples.rounds, static_cast<double>(count * sizeof(double)));
        report.add_size(count * sizeof(double),
                        summarise_as(std::move(samples), [](double seconds) { return seconds * 1e6; }));
    }
}

}  // namespace lanyard::bench
