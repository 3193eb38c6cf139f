// The overlap pattern of bench-tcp: what a thread that sleeps in epoll moves while the main thread works, and by how much
// it slows the work. The main thread hands over one transfer at a time and takes it back when it is done. See overlap.h.
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/bench/overlap.h"
#include "tools/bench/pin.h"
#include "tools/bench/raw_socket.h"
#include "tools/bench/tcp.h"

namespace lanyard::bench {

namespace {

// The main thread writes what is to move, then `moving`; the helper clears it when all has moved. While it is set the
// rest belongs to the helper.
class Helper {
public:
    explicit Helper(int connection)
        : connection_(connection), bell_(eventfd(0, EFD_CLOEXEC)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (bell_ < 0 || epoll_ < 0) throw_errno("eventfd or epoll_create1");
        watch(EPOLL_CTL_ADD, bell_, EPOLLIN);
        watch(EPOLL_CTL_ADD, connection_, EPOLLIN);
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

    // The receiver need not be woken: what it waits for comes from the other end.
    void receive(char* to, std::size_t bytes) {
        to_ = to;
        to_receive_ = bytes;
        moving_.store(true, std::memory_order_release);
    }
    // Sends, then receives the answer into `word`.
    void send(const char* from, std::size_t bytes, char* word) {
        from_ = from;
        to_send_ = bytes;
        receive(word, word_bytes);
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

    // All that passes now. The socket is watched for room only while something waits for room.
    void move() {
        while (to_send_ > 0) {
            std::size_t put = send_some(connection_, from_, to_send_);
            if (put == 0) return watch_room(true);
            from_ += put;
            to_send_ -= put;
        }
        watch_room(false);
        while (to_receive_ > 0) {
            std::size_t got = receive_some(connection_, to_, to_receive_);
            if (got == 0) return;
            to_ += got;
            to_receive_ -= got;
        }
        finish();
    }
    void finish() {
        moving_.store(false, std::memory_order_release);
        moving_.notify_one();
    }

    void watch(int operation, int descriptor, std::uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = descriptor;
        if (epoll_ctl(epoll_, operation, descriptor, &event) != 0) throw_errno("epoll_ctl");
    }
    void watch_room(bool wanted) {
        if (wanted == watches_room_) return;
        watches_room_ = wanted;
        watch(EPOLL_CTL_MOD, connection_, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
    void ring() {
        std::uint64_t once = 1;
        if (write(bell_, &once, sizeof once) < 0) throw_errno("write to an eventfd");
    }
    void hear() {
        std::uint64_t count;
        if (read(bell_, &count, sizeof count) < 0) throw_errno("read of an eventfd");
    }

    int connection_, bell_, epoll_;
    bool watches_room_ = false;
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

}  // namespace

void measure_tcp_overlap(int connection, const Settings& settings, Report& report) {
    Helper helper(connection);
    if (settings.pin) pin_to_processor(0);  // after the helper began, which runs where there is room, as a library's thread does
    auto same = [](long iterations) { return iterations; };
    for (const std::string& part : settings.parts) {
        for (std::size_t bytes : settings.sizes_bytes) {
            std::vector<char> buffer(bytes, known_byte);
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
                helper.send(buffer.data(), bytes, word);
                return work_and_wait(helper, start, iterations);
            };
            if (part == "receive") measure_overlap(settings, part, bytes, report, receive, work, same);
            else measure_overlap(settings, part, bytes, report, send, work, same);
        }
    }
}

}  // namespace lanyard::bench
