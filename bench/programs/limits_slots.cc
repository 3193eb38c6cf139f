// Measures the part of bench-limits about messages through shared memory; see limits.h.
//
// A message is copied into the slots of a ring in shared memory, and out of them by the other process. This
// is repeated for several copy loops (base/copy_loops.h) and slot sizes. The other way is one copy, by which
// the receiver reads the sender's memory (process_vm_readv) after a line has been bounced.
#include "bench/programs/limits.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "base/copy_loops.h"
#include "bench/programs/raw_socket.h"

namespace lanyard::bench {

namespace {

constexpr int blocks = 5;
constexpr std::size_t slot_sizes[] = {4 << 10, 8 << 10, 16 << 10, 64 << 10};
constexpr std::size_t message_sizes[] = {4 << 10,   8 << 10,   16 << 10, 32 << 10, 64 << 10, 128 << 10,
                                         256 << 10, 512 << 10, 1 << 20,  2 << 20,  4 << 20};

// How many rounds a block of each measurement has. Both processes must make the same number of rounds, so the
// first process chooses the number and the second one takes it. A block takes about a millisecond. If other
// programs use the processors, a round may take a time slice of each of them. Once the measurements have
// taken too long, each of them therefore makes do with one round for each block.
class RoundChoice {
public:
    explicit RoundChoice(Shared& shared) : shared_(shared) {}

    // Chooses the number for the next measurement, whose first round took this long.
    std::uint32_t choose(double seconds_of_one) {
        double rounds = is_late() ? 1 : std::clamp(block_seconds / seconds_of_one, 1.0, 200.0);
        auto number = static_cast<std::uint32_t>(rounds);
        shared_.rounds.store(std::uint64_t{++measurement_} << 32 | number, std::memory_order_release);
        return number;
    }
    // The second process: what the first one has chosen for the next measurement.
    std::uint32_t take() {
        ++measurement_;
        std::uint64_t known;
        do known = shared_.rounds.load(std::memory_order_acquire);
        while (known >> 32 != measurement_);
        return static_cast<std::uint32_t>(known);
    }

private:
    static constexpr double block_seconds = 0.001, most_seconds = 15;

    bool is_late() const {
        return std::chrono::steady_clock::now() - begin_ > std::chrono::duration<double>(most_seconds);
    }

    Shared& shared_;
    std::uint32_t measurement_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Measures a round, after one that warms up.
template <class Round>
std::vector<double> time_rounds(RoundChoice& choice, Round round) {
    double seconds = time_blocks(1, 1, [&](std::uint32_t) { round(); }).front();
    return time_blocks(blocks, choice.choose(seconds), [&](std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i) round();
    });
}

template <class Round>
void answer_rounds(RoundChoice& choice, Round round) {
    round();
    for (std::uint32_t left = blocks * choice.take(); left > 0; --left) round();
}

// How a message is copied: into slots of this size by `in`, and out of them by `out`.
struct Method {
    const CopyLoop& in;
    const CopyLoop& out;
    std::size_t slot_bytes;

    std::string name() const {
        return std::string(in.name) + ", slots of " + std::to_string(slot_bytes >> 10) + " KiB";
    }
};

// One process's end of both rings, with a buffer to send from and one to receive into.
class Messages {
public:
    Messages(SlotRing& to, SlotRing& from) : to_(to), from_(from) {
        std::memset(send_.get(), 1, big_bytes);  // so that every page exists before the clock starts
        std::memset(receive_.get(), 2, big_bytes);
    }

    void send(const Method& method, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += method.slot_bytes)
            while (!put(method, at, bytes)) {
            }
    }
    void receive(const Method& method, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += method.slot_bytes)
            while (!take(method, at, bytes)) {
            }
    }
    // Sends and receives a message at once, slot by slot.
    void exchange(const Method& method, std::size_t bytes) {
        for (std::size_t put_to = 0, taken_to = 0; put_to < bytes || taken_to < bytes;) {
            if (put_to < bytes && put(method, put_to, bytes)) put_to += method.slot_bytes;
            if (taken_to < bytes && take(method, taken_to, bytes)) taken_to += method.slot_bytes;
        }
    }
    char* received() { return receive_.get(); }

private:
    // Copies the part of the message that begins at `at` into the next slot. False: no slot is free.
    bool put(const Method& method, std::size_t at, std::size_t bytes) {
        std::uint32_t number = to_.filled.load(std::memory_order_relaxed);
        std::uint32_t slots = static_cast<std::uint32_t>(ring_bytes / method.slot_bytes);
        if (number - to_.emptied.load(std::memory_order_acquire) >= slots) return false;
        method.in.copy(to_.bytes + number % slots * method.slot_bytes, send_.get() + at,
                       std::min(method.slot_bytes, bytes - at));
        to_.filled.store(number + 1, std::memory_order_release);
        return true;
    }
    // Copies the next slot out. False: it has not been filled yet.
    bool take(const Method& method, std::size_t at, std::size_t bytes) {
        std::uint32_t number = from_.emptied.load(std::memory_order_relaxed);
        std::uint32_t slots = static_cast<std::uint32_t>(ring_bytes / method.slot_bytes);
        if (number == from_.filled.load(std::memory_order_acquire)) return false;
        method.out.copy(receive_.get() + at, from_.bytes + number % slots * method.slot_bytes,
                        std::min(method.slot_bytes, bytes - at));
        from_.emptied.store(number + 1, std::memory_order_release);
        return true;
    }

    SlotRing& to_;
    SlotRing& from_;
    std::unique_ptr<char[]> send_{new char[big_bytes]}, receive_{new char[big_bytes]};
};

// Calls visit(method) for each way to copy through slots. A loop that leaves the target's lines in the caches
// copies in and out. Of the others, only the sender gains, so the receiver uses memcpy.
template <class Visit>
void each_method(Visit visit) {
    const CopyLoop& plain = copy_loops().front();
    for (const CopyLoop& loop : copy_loops())
        for (std::size_t slot_bytes : slot_sizes)
            visit(Method{loop, loop.keeps_cached ? loop : plain, slot_bytes});
}

Summary in_microseconds(std::vector<double> seconds, double share) {
    for (double& value : seconds) value *= share * 1e6;
    return summarise(std::move(seconds));
}

// Reports the best method for each size, or all methods.
class Findings {
public:
    Findings(std::string what, bool all, Report& report)
        : what_(std::move(what)), all_(all), report_(report) {}

    void add(const Method& method, std::size_t bytes, const Summary& summary) {
        if (all_) report_.add_named_size(what_ + ", " + method.name(), bytes, "us", summary);
        auto [at, is_new] = best_.try_emplace(bytes, Best{method.name(), summary});
        if (!is_new && summary.median < at->second.summary.median) at->second = {method.name(), summary};
    }
    void finish() {
        std::string names = "# " + what_ + ", fastest:\n";
        for (auto& [bytes, best] : best_) {
            if (!all_) report_.add_named_size(what_, bytes, "us", best.summary);
            names += "#   " + std::to_string(bytes >> 10) + " KiB: " + best.name + "\n";
        }
        report_.note(names);
    }

private:
    struct Best {
        std::string name;
        Summary summary;
    };
    std::string what_;
    bool all_;
    Report& report_;
    std::map<std::size_t, Best> best_;
};

// What one process does in each part; the other process does `answer`.
struct Pattern {
    const char* what;
    double share;  // of a round's time that is reported: half of a round trip, or a whole exchange
    void (*first)(Messages&, const Method&, std::size_t);
    void (*answer)(Messages&, const Method&, std::size_t);
};
constexpr Pattern patterns[] = {
    {"through slots", 0.5,
     [](Messages& end, const Method& method, std::size_t bytes) {
         end.send(method, bytes);
         end.receive(method, bytes);
     },
     [](Messages& end, const Method& method, std::size_t bytes) {
         end.receive(method, bytes);
         end.send(method, bytes);
     }},
    {"through slots, both ways at once", 1,
     [](Messages& end, const Method& method, std::size_t bytes) { end.exchange(method, bytes); },
     [](Messages& end, const Method& method, std::size_t bytes) { end.exchange(method, bytes); }},
};

int wait_for(const std::atomic<int>& known) {
    int value;
    do value = known.load(std::memory_order_acquire);
    while (value < 0);
    return value;
}

}  // namespace

void measure_slots(Shared& shared, pid_t second, bool all, bool reads, Report& report) {
    Messages end(shared.to_second, shared.to_first);
    RoundChoice choice(shared);
    for (const Pattern& pattern : patterns) {
        Findings findings(pattern.what, all, report);
        each_method([&](const Method& method) {
            for (std::size_t bytes : message_sizes) {
                auto samples = time_rounds(choice, [&] { pattern.first(end, method, bytes); });
                findings.add(method, bytes, in_microseconds(std::move(samples), pattern.share));
            }
        });
        findings.finish();
    }
    shared.first_buffer = end.received();
    shared.first_reads.store(reads, std::memory_order_release);
    if (!reads || !wait_for(shared.second_reads)) return;
    std::uint32_t turn = 0;
    for (std::size_t bytes : message_sizes) {
        auto samples = time_rounds(choice, [&] {
            // The second process reads during the bounce, and then this one does.
            shared.slot_line.bounce(turn++, 1);
            if (!read_from(second, end.received(), shared.second_buffer, bytes))
                throw_errno("process_vm_readv");
        });
        report.add_named_size("copied once", bytes, "us", in_microseconds(std::move(samples), 0.5));
    }
}

void answer_slots(Shared& shared, pid_t first) {
    Messages end(shared.to_first, shared.to_second);
    RoundChoice choice(shared);
    for (const Pattern& pattern : patterns)
        each_method([&](const Method& method) {
            for (std::size_t bytes : message_sizes)
                answer_rounds(choice, [&] { pattern.answer(end, method, bytes); });
        });
    if (!wait_for(shared.first_reads)) return;
    bool reads = read_from(first, end.received(), shared.first_buffer, 1);
    shared.second_reads.store(reads, std::memory_order_release);
    if (!reads) return;
    std::uint32_t turn = 0;
    for (std::size_t bytes : message_sizes)
        answer_rounds(choice, [&] {
            while (shared.slot_line.ping.load(std::memory_order_acquire) != turn + 1) {
            }
            if (!read_from(first, end.received(), shared.first_buffer, bytes))
                throw_errno("process_vm_readv");
            shared.slot_line.pong.store(++turn, std::memory_order_release);
        });
}

}  // namespace lanyard::bench
