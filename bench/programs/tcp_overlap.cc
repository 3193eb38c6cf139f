// Measures the overlap pattern of bench-tcp (overlap.h): how much a thread that sleeps in epoll moves while
// the main thread works, and how much it slows the work. The main thread hands one transfer at a time to this
// helper thread and waits for its end. In the parts `receive` and `send`, the other process only moves the
// bytes. In the part `alltoall`, both processes send to each other, copy a block of their own, and work.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/programs/overlap.h"
#include "bench/programs/pin.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {

namespace {

// The helper thread. The main thread describes a transfer and then sets `moving_`. The helper clears
// `moving_` when everything has moved. While `moving_` is set, the other fields belong to the helper.
class Helper {
public:
    // If `only_when_told`, the helper reads from the connection only during transfers, because the main
    // thread receives the bytes that arrive between them.
    Helper(int connection, bool only_when_told)
        : connection_(connection), idle_events_(only_when_told ? nothing : readable),
          bell_(eventfd(0, EFD_CLOEXEC)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (bell_ < 0 || epoll_ < 0) throw_errno("eventfd or epoll_create1");
        watch(EPOLL_CTL_ADD, bell_, EPOLLIN);
        watch(EPOLL_CTL_ADD, connection_, idle_events_);
        thread_ = std::thread([this] { run(); });
    }
    ~Helper() {
        stop_.store(true);
        ring();
        thread_.join();
        close(epoll_);
        close(bell_);
    }
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    // Without `only_when_told`, the helper always watches the connection, so it need not be woken. With it,
    // the main thread calls exchange(), which wakes the helper.
    void receive(char* to, std::size_t bytes) {
        to_ = to;
        to_receive_ = bytes;
        moving_.store(true, std::memory_order_release);
    }
    // Sends and receives at the same time. The received bytes may be an answer to the sent bytes.
    void exchange(const char* from, std::size_t to_send, char* to, std::size_t to_receive) {
        from_ = from;
        to_send_ = to_send;
        receive(to, to_receive);
        ring();
    }
    void wait() {
        moving_.wait(true, std::memory_order_acquire);
        if (failed_.load()) throw std::runtime_error("the connection ended in the middle of a transfer");
    }

private:
    void run() {
        try {
            while (!stop_.load()) {
                epoll_event event;
                if (epoll_wait(epoll_, &event, 1, -1) != 1) continue;
                if (event.data.fd == bell_) hear();
                if (moving_.load(std::memory_order_acquire)) move();
            }
        } catch (const std::exception&) {
            failed_.store(true);
            finish();
        }
    }

    // Moves the bytes that can be moved now. epoll watches the socket for room to write only while there are
    // bytes to send.
    void move() {
        for (std::size_t put; to_send_ > 0 && (put = send_some(connection_, from_, to_send_)) > 0;
             to_send_ -= put)
            from_ += put;
        for (std::size_t got; to_receive_ > 0 && (got = receive_some(connection_, to_, to_receive_)) > 0;
             to_receive_ -= got)
            to_ += got;
        if (to_send_ + to_receive_ == 0) return finish();
        listen_for((to_receive_ > 0 ? readable : idle_events_) | (to_send_ > 0 ? writable : nothing));
    }
    void finish() {
        listen_for(idle_events_);
        moving_.store(false, std::memory_order_release);
        moving_.notify_one();
    }

    void watch(int operation, int descriptor, std::uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = descriptor;
        if (epoll_ctl(epoll_, operation, descriptor, &event) != 0) throw_errno("epoll_ctl");
    }
    void listen_for(std::uint32_t events) {
        if (events == events_) return;
        events_ = events;
        watch(EPOLL_CTL_MOD, connection_, events);
    }
    void ring() {
        std::uint64_t once = 1;
        if (write(bell_, &once, sizeof once) < 0) throw_errno("write to an eventfd");
    }
    void hear() {
        std::uint64_t count;
        if (read(bell_, &count, sizeof count) < 0) throw_errno("read of an eventfd");
    }

    static constexpr std::uint32_t nothing = 0, readable = EPOLLIN, writable = EPOLLOUT;

    int connection_;
    std::uint32_t idle_events_, events_ = idle_events_;
    int bell_, epoll_;
    char* to_ = nullptr;
    const char* from_ = nullptr;
    std::size_t to_receive_ = 0, to_send_ = 0;
    std::atomic<bool> moving_{false}, stop_{false}, failed_{false};
    std::thread thread_;
};

Lap work_and_wait(Helper& helper, double start, long iterations) {
    double worked = iterations > 0 ? work(iterations) : 0;
    double before = now_seconds();
    helper.wait();
    double end = now_seconds();
    return {end - start, worked, end - before};
}

// Exchanges one block with the other process and copies one block locally, as MPI_Ialltoall does.
void swap_blocks(Helper& helper, const std::vector<char>& out, std::vector<char>& in, std::size_t bytes) {
    helper.exchange(out.data(), bytes, in.data(), bytes);
    std::copy_n(out.data() + bytes, bytes, in.data() + bytes);
}

}  // namespace

// Serves the other side of an alltoall. The helper lives as long as the process, which serves only one
// connection.
void serve_swap(int connection, const Order& what) {
    static Helper helper(connection, true);
    static std::vector<char> out, in;
    if (out.size() < 2 * what.bytes) {
        out.assign(2 * what.bytes, known_byte);
        in.resize(2 * what.bytes);
    }
    swap_blocks(helper, out, in, what.bytes);
    work_and_wait(helper, now_seconds(), static_cast<long>(what.rounds));
}

void measure_tcp_overlap(int connection, const Settings& settings, Report& report) {
    Helper helper(connection, false);
    // The main thread is pinned only after the helper has started. The helper therefore stays unpinned, as a
    // library's thread would.
    if (settings.pin) pin_to_processor(0);
    auto same = [](long iterations) { return iterations; };
    for (const std::string& part : settings.parts) {
        for (std::size_t bytes : settings.sizes_bytes) {
            std::vector<char> buffer(2 * std::max(bytes, word_bytes), known_byte), out = buffer;
            char word[word_bytes];
            auto receive = [&](long iterations) {
                double start = now_seconds();
                helper.receive(buffer.data(), bytes);
                order(connection, {Order::give, 1, bytes, bytes, 1});
                return work_and_wait(helper, start, iterations);
            };
            auto send = [&](long iterations) {
                order(connection, {Order::take, 1, bytes, bytes, 1});
                double start = now_seconds();
                helper.exchange(buffer.data(), bytes, word, word_bytes);
                return work_and_wait(helper, start, iterations);
            };
            auto swap = [&](std::size_t each, long iterations) {
                order(connection, {Order::swap, 1, each, each, static_cast<std::uint64_t>(iterations)});
                double start = now_seconds();
                swap_blocks(helper, out, buffer, each);
                return work_and_wait(helper, start, iterations);
            };
            // The other process works at the same time, as it does during the transfer.
            auto work_of_both = [&](long iterations) { return swap(word_bytes, iterations).work; };
            if (part == "alltoall")
                measure_overlap(
                    settings, part, bytes, report, [&](long iterations) { return swap(bytes, iterations); },
                    work_of_both, same);
            else if (part == "receive") measure_overlap(settings, part, bytes, report, receive, work, same);
            else measure_overlap(settings, part, bytes, report, send, work, same);
        }
    }
}

}  // namespace lanyard::bench
