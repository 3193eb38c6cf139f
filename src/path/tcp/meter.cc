// See meter.h.
#include "path/tcp/meter.h"

#include <errno.h>

#include <algorithm>

#include "base/bytes.h"

namespace lanyard {

namespace {

constexpr uint64_t ms = 1'000'000;
// The peer must have accepted the connection and answered within this time. The job continues meanwhile.
constexpr uint64_t connecting_patience_ns = 500 * ms;
constexpr uint64_t serving_patience_ns = 5'000 * ms;
constexpr uint64_t most_bytes = 4 * MiB;
constexpr size_t piece_bytes = 64 * KiB;
constexpr int pieces_at_once = 8;
constexpr std::ptrdiff_t most_served = 64;
constexpr std::ptrdiff_t enough_begun = 32;

}  // namespace

void Meter::close() {
    for (auto &run : runs_) end(*run, "");
    runs_.clear();
}

void Meter::end(Run &run, const char *trouble) {
    if (run.socket >= 0) sockets_.close(run.socket);
    run.socket = -1;
    run.phase = Phase::ended;
    run.deadline_ns = UINT64_MAX;
    if (run.samples.rate() > 0) run.found.rate = run.samples.rate();
    if (run.found.rate == 0) run.found.trouble = trouble;
}

void Meter::begin(uint32_t peer, const Address &address, uint64_t writing_ns,
                  uint64_t bytes_between_samples) {
    auto run = std::make_unique<Run>(bytes_between_samples);
    run->peer = peer;
    run->writing_ns = writing_ns;
    run->found.address = address;
    run->socket = sockets_.connect(address);
    run->phase = Phase::connecting;
    run->deadline_ns = sockets_.now_ns() + connecting_patience_ns;
    if (run->socket < 0) {
        end(*run, system_text(-run->socket).c_str());
        run->deadline_ns = 0;  // poll() reports it
    } else {
        sockets_.watch(run->socket, token_, true);
    }
    runs_.push_back(std::move(run));
}

bool Meter::may_begin() const {
    return std::count_if(runs_.begin(), runs_.end(),
                         [](const auto &run) { return run->peer != UINT32_MAX; }) < enough_begun;
}

void Meter::serve(int socket, uint32_t peer, const Greeting &measure) {
    auto serves = [](const auto &run) { return run->phase == Phase::serving; };
    if (std::count_if(runs_.begin(), runs_.end(), serves) >= most_served)
        end(**std::find_if(runs_.begin(), runs_.end(), serves), "");
    auto run = std::make_unique<Run>();
    run->socket = socket;
    run->phase = Phase::serving;
    run->deadline_ns = sockets_.now_ns() + serving_patience_ns;
    say(*run, GreetingKind::welcome, peer, &measure);
    runs_.push_back(std::move(run));
}

void Meter::say(Run &run, GreetingKind kind, uint32_t to, const Greeting *answered) {
    run.sent = {};
    run.sent.kind = kind;
    address(run.sent, processes_.name(to));
    run.sent.nonce = sockets_.random();
    seal(run.sent, identity_, answered);
    run.greeting_written = 0;
    sockets_.watch(run.socket, token_, true);
}

// Has the greeting been written?
bool Meter::flush(Run &run) {
    while (run.greeting_written < sizeof(Greeting)) {
        iovec rest{reinterpret_cast<char *>(&run.sent) + run.greeting_written,
                   sizeof(Greeting) - run.greeting_written};
        ssize_t bytes = sockets_.write(run.socket, &rest, 1);
        if (bytes <= 0) {
            if (bytes != -EAGAIN) end(run, "closed the connection");
            return false;
        }
        run.greeting_written += static_cast<size_t>(bytes);
        if (run.greeting_written == sizeof(Greeting)) sockets_.watch(run.socket, token_, false);
    }
    return true;
}

int Meter::poll(uint64_t now_ns, std::vector<Outcome> &outcomes) {
    int work = 0;
    for (auto &run : runs_) {
        if (run->phase != Phase::ended) work += advance(*run, now_ns);
        if (run->phase != Phase::ended || run->peer == UINT32_MAX) continue;
        outcomes.push_back({run->peer, run->found});
        ++work;
    }
    std::erase_if(runs_, [](const auto &run) { return run->phase == Phase::ended; });
    return work;
}

uint64_t Meter::deadline_ns() const {
    uint64_t earliest = UINT64_MAX;
    for (const auto &run : runs_) earliest = std::min(earliest, run->deadline_ns);
    return earliest;
}

int Meter::advance(Run &run, uint64_t now_ns) {
    int work = 0;
    if (run.phase == Phase::connecting) {
        int result = sockets_.connect_result(run.socket);
        if (result == 0) {
            run.phase = Phase::asked;
            run.found.own = sockets_.bound(run.socket);
            say(run, GreetingKind::measure, run.peer, nullptr);
            ++work;
        } else if (result != -EINPROGRESS) {
            end(run, ("did not answer: " + system_text(-result)).c_str());
        }
    }
    if (run.phase == Phase::asked) work += greet(run, now_ns);
    if (run.phase == Phase::writing) work += write_zeros(run, now_ns);
    if (run.phase == Phase::serving) work += drop_what_arrives(run);
    if (run.phase != Phase::ended && now_ns >= run.deadline_ns) end(run, "did not answer");
    return work;
}

int Meter::greet(Run &run, uint64_t now_ns) {
    if (!flush(run)) return 0;
    while (run.greeting_read < sizeof(Greeting)) {
        iovec rest{reinterpret_cast<char *>(&run.received) + run.greeting_read,
                   sizeof(Greeting) - run.greeting_read};
        ssize_t bytes = sockets_.read(run.socket, &rest, 1);
        if (bytes <= 0) {
            if (bytes != -EAGAIN) end(run, "does not belong to the job: the connection was closed");
            return 0;
        }
        run.greeting_read += static_cast<size_t>(bytes);
    }
    std::string why = doubt(run.received, identity_, &run.sent);
    bool answers =
        run.received.kind == GreetingKind::welcome && processes_.find(sender_of(run.received)) == run.peer;
    if (why.empty() && !answers) why = "it answers something else";
    if (!why.empty()) {
        end(run, ("does not belong to the job: " + why).c_str());
        return 1;
    }
    run.phase = Phase::writing;
    run.deadline_ns = now_ns + run.writing_ns;
    sockets_.watch(run.socket, token_, true);
    return 1;
}

// Writes zeros until the time is over, or until the peer's host has acknowledged most_bytes. What the kernel
// has taken by then is still sent.
int Meter::write_zeros(Run &run, uint64_t now_ns) {
    static const std::byte zeros[piece_bytes] = {};
    int work = 0;
    for (int i = 0; i < pieces_at_once && run.bytes < most_bytes; ++i) {
        iovec piece{const_cast<std::byte *>(zeros), sizeof zeros};
        ssize_t bytes = sockets_.write(run.socket, &piece, 1);
        if (bytes == -EAGAIN) break;
        if (bytes <= 0) {
            end(run, "closed the connection");
            return 1;
        }
        run.bytes += static_cast<uint64_t>(bytes);
        ++work;
    }
    Sockets::Delivery delivery = sockets_.delivery(run.socket);
    run.samples.add(delivery);
    run.found.rate = delivery.rate;  // used if too little is written for samples
    if (run.bytes >= most_bytes) sockets_.watch(run.socket, token_, false);
    if (now_ns >= run.deadline_ns || delivery.acked >= most_bytes) end(run, "gave nothing");
    return work;
}

int Meter::drop_what_arrives(Run &run) {
    if (!flush(run)) return 0;
    if (!scratch_) scratch_ = std::make_unique_for_overwrite<std::byte[]>(piece_bytes);
    int work = 0;
    for (int i = 0; i < pieces_at_once; ++i) {
        iovec place{scratch_.get(), piece_bytes};
        ssize_t bytes = sockets_.read(run.socket, &place, 1);
        if (bytes == -EAGAIN) break;
        ++work;
        if (bytes > 0) run.bytes += static_cast<uint64_t>(bytes);
        if (bytes > 0 && run.bytes <= 2 * most_bytes) continue;
        end(run, "");
        break;
    }
    return work;
}

}  // namespace lanyard
