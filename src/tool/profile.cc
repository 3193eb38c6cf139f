// See profile.h.
#include "tool/profile.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/log.h"
#include "base/race_checker.h"
#include "tool/profile_table.h"

namespace lanyard {

namespace {

struct Registry {
    std::mutex lock;
    std::deque<CallTimes> calls;  // a deque, because its elements do not move
};
Registry &registry() {
    static auto &only = *new Registry;
    return only;
}

thread_local CallTimes *current_call = nullptr;

}  // namespace

namespace timing {

CallTimes &times_of_call(const char *name) {
    race_checker::Unseen unseen;  // includes the creation of the registry
    std::lock_guard guard(registry().lock);
    for (CallTimes &times : registry().calls)
        if (times.name == name) return times;
    CallTimes &times = registry().calls.emplace_back();
    times.name = name;
    return times;
}

bool outside_timed_call() { return current_call == nullptr; }

TimedCall::TimedCall(CallTimes &times) : times_(times), began_ticks_(clock_ticks()) {
    current_call = &times;
    race_checker::begin_unseen();
}
TimedCall::~TimedCall() {
    race_checker::end_unseen();
    current_call = nullptr;
    times_.calls.fetch_add(1, std::memory_order_relaxed);
    times_.ticks.fetch_add(clock_ticks() - began_ticks_, std::memory_order_relaxed);
}

}  // namespace timing

namespace tool {

namespace {

constexpr double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

RankProfile::Sum sum_of(const Traffic::Sum &sum) { return {sum.messages, sum.bytes}; }

uint64_t counted_by(const char *name) {
    const Counter *counter = find_counter(name);
    return counter ? counter->value() : 0;
}

// At most 64 peers, those for which the most packets were sent again or are missing. Adds the number of
// packets received from all peers to `received`.
std::vector<RankProfile::Datagrams::Peer> worst_peers(uint64_t &received) {
    constexpr size_t most = 64;
    const Counter *sent = find_counter("dgram_peer_sent"), *given_up = find_counter("dgram_peer_given_up"),
                  *too_early = find_counter("dgram_peer_too_early"),
                  *arrived = find_counter("dgram_peer_received"),
                  *missing = find_counter("dgram_peer_missing"),
                  *round_trip = find_counter("dgram_peer_round_trip"),
                  *least_round_trip = find_counter("dgram_peer_round_trip_least");
    std::vector<RankProfile::Datagrams::Peer> peers;
    for (int number = 0; sent && number < sent->places_now(); ++number) {
        uint64_t to = sent->value(number), from = arrived->value(number);
        received += from;
        if (to + from > 0)
            peers.push_back({number, to, given_up->value(number), too_early->value(number), from,
                             missing->value(number), seconds(round_trip->value(number)),
                             seconds(least_round_trip->value(number))});
    }
    auto worse = [](const auto &a, const auto &b) {
        return std::pair(a.sent_again + a.missing, a.round_trip) >
               std::pair(b.sent_again + b.missing, b.round_trip);
    };
    std::stable_sort(peers.begin(), peers.end(), worse);
    if (peers.size() > most) peers.resize(most);
    return peers;
}

RankProfile::Datagrams datagrams() {
    RankProfile::Datagrams all;
    all.sent = counted_by("dgram_packets_sent");
    all.used = all.sent + counted_by("dgram_packets_received") > 0;
    all.bytes = counted_by("dgram_bytes_sent");
    all.by_order = counted_by("dgram_lost_by_order");
    all.by_time = counted_by("dgram_lost_by_time");
    all.by_probe = counted_by("dgram_lost_by_probe");
    all.too_early = counted_by("dgram_given_up_too_early");
    all.alone = counted_by("dgram_acknowledgements_alone");
    all.carried = counted_by("dgram_acknowledgements_carried");
    all.missing = counted_by("dgram_packets_missing");
    all.doubled = counted_by("dgram_duplicates");
    all.damaged = counted_by("dgram_damaged");
    all.strangers = counted_by("dgram_strangers");
    all.stale = counted_by("dgram_stale");
    all.garbage = counted_by("dgram_garbage");
    all.without_room = counted_by("dgram_without_room");
    all.peers = worst_peers(all.received);
    return all;
}

// Writes a file. Returns 0, or an errno. After a failure no part of the file remains.
int write_whole(const std::string &file, const std::string &text) {
    std::FILE *out = std::fopen(file.c_str(), "we");
    if (!out) return errno;
    int failure = std::fwrite(text.data(), 1, text.size(), out) == text.size() ? 0 : errno;
    if (std::fclose(out) != 0 && failure == 0) failure = errno;
    if (failure != 0) std::remove(file.c_str());
    return failure;
}

// The working directory of this process, for a message.
std::string own_folder() {
    char folder[4096] = "";
    return getcwd(folder, sizeof folder) ? folder : "the folder of rank 0";
}

}  // namespace

Profile::Profile() : began_ns_(clock_ns()), began_ticks_(clock_ticks()) {}

void Profile::count_wait(WaitFor what, uint64_t ns, uint64_t moving_ns) {
    Wait &wait = waits_[static_cast<size_t>(what)];
    wait.ns.fetch_add(ns, std::memory_order_relaxed);
    wait.moving_ns.fetch_add(std::min(ns, moving_ns), std::memory_order_relaxed);
    if (current_call) current_call->waiting_ns.fetch_add(ns, std::memory_order_relaxed);
}

std::string Profile::counted(int own_rank) const {
    RankProfile rank;
    rank.rank = own_rank;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    rank.host = host;
    rank.seconds = seconds(clock_ns() - began_ns_);
    double seconds_of_tick =
        rank.seconds / static_cast<double>(std::max<uint64_t>(clock_ticks() - began_ticks_, 1));
    {
        std::lock_guard guard(registry().lock);
        for (const CallTimes &times : registry().calls) {
            if (times.calls == 0) continue;
            double spent = static_cast<double>(times.ticks) * seconds_of_tick;
            rank.calls.push_back(
                {times.name, times.calls, spent, std::min(spent, seconds(times.waiting_ns))});
        }
    }
    for (size_t what = 0; what < std::size(waits_); ++what)
        rank.waits[what] = {seconds(waits_[what].ns), seconds(waits_[what].moving_ns)};
    for (const Traffic::Sum &sum : traffic_.by_size) rank.by_size.push_back(sum_of(sum));
    for (size_t i = 0; i < traffic_.by_protocol.size(); ++i)
        rank.by_protocol[i] = sum_of(traffic_.by_protocol[i]);
    for (const auto &[path, sum] : traffic_.by_path) rank.by_path.push_back({path, sum_of(sum)});
    rank.largest = traffic_.largest;
    rank.peers = traffic_.by_peer.size();
    rank.unexpected = counted_by("p2p_unexpected_stored");
    const Counter *most_bytes = find_counter("p2p_unexpected_bytes_most");
    rank.most_unexpected_bytes = most_bytes ? most_bytes->highest() : 0;
    rank.datagrams = datagrams();
    return text_of(rank);
}

void report(const std::vector<std::string> &texts, const std::string &job) {
    std::vector<RankProfile> ranks;
    for (const std::string &text : texts) ranks.push_back(rank_profile(text));
    std::string file = "lanyard-profile-" + job + ".json";
    std::fputs(table_of(ranks).c_str(), stderr);
    int failure = write_whole(file, json_of(job, texts));
    if (failure == 0) std::fprintf(stderr, "The numbers of every rank are in %s.\n", file.c_str());
    else
        log(LogLevel::warn, "profile",
            "the file %s with the profile's numbers could not be written in %s: %s; start the program in "
            "another folder (mpirun -wdir DIR)",
            file.c_str(), own_folder().c_str(), system_text(failure).c_str());
}

}  // namespace tool
}  // namespace lanyard
