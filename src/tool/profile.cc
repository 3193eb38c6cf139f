#include "tool/profile.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/race_checker.h"
#include "coll/collectives.h"
#include "datatype/predefined.h"
#include "path/dgram/dgram_path.h"
#include "tool/profile_table.h"
#include "tool/tool.h"

namespace lanyard {

namespace {

struct Registry {
    std::mutex lock;
    std::deque<CallTimes> calls;  // stay where they are
};
Registry &registry() {
    static auto &only = *new Registry;
    return only;
}

thread_local CallTimes *current_call = nullptr;

}  // namespace

namespace timing {

CallTimes &times_of_call(const char *name) {
    race_checker::Unseen unseen;  // the registry too, which may be made here
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

// What every rank has written about itself, in order of ranks; nothing but at rank 0.
Error gather_texts(Executor &executor, Team &team, const std::string &own, std::vector<std::string> &all) {
    const Datatype &byte = packed_bytes();
    auto buffer = [&](void *base, size_t bytes) { return Buffer{static_cast<std::byte *>(base), static_cast<int64_t>(bytes), &byte}; };
    auto size = static_cast<size_t>(team.size);
    int64_t length = static_cast<int64_t>(own.size());
    std::vector<int64_t> lengths(size), places(size);
    if (Error error = blocking(executor, team, CollectiveKind::finalize, plan_allgather, buffer(&length, sizeof length),
                               buffer(lengths.data(), sizeof length)))
        return error;
    int64_t total = 0;
    for (size_t i = 0; i < size; ++i) {
        places[i] = total;
        total += lengths[i];
    }
    std::string texts(team.index == 0 ? static_cast<size_t>(total) : 0, ' ');
    Uneven received{reinterpret_cast<std::byte *>(texts.data()), Numbers{lengths.data()}, Numbers{places.data()}, &byte};
    if (Error error = blocking(executor, team, CollectiveKind::finalize, plan_gatherv, buffer(const_cast<char *>(own.data()), own.size()),
                               received, 0))
        return error;
    for (size_t i = 0; i < size && team.index == 0; ++i)
        all.push_back(texts.substr(static_cast<size_t>(places[i]), static_cast<size_t>(lengths[i])));
    return {};
}

// Of the peers those that most was sent again to, or that most is missing of.
std::vector<RankProfile::Datagrams::Peer> worst_peers(const DgramPath &path) {
    constexpr size_t most = 64;
    std::vector<RankProfile::Datagrams::Peer> peers;
    for (uint32_t number = 0; number < path.peer_count(); ++number) {
        dgram::PeerCounts peer = path.counts_of(number);
        if (peer.sent + peer.come > 0)
            peers.push_back({static_cast<int>(number), peer.sent, peer.given_up, peer.too_early, peer.come, peer.missing,
                             seconds(peer.round_trip_ns), seconds(peer.least_round_trip_ns)});
    }
    auto worse = [](const auto &a, const auto &b) {
        return std::pair(a.sent_again + a.missing, a.round_trip) > std::pair(b.sent_again + b.missing, b.round_trip);
    };
    std::stable_sort(peers.begin(), peers.end(), worse);
    if (peers.size() > most) peers.resize(most);
    return peers;
}

RankProfile::Datagrams datagrams_of(const DgramPath &path) {
    const dgram::FlowCounts &counts = path.counts();
    RankProfile::Datagrams all;
    all.used = counts.packets_out + counts.packets_in > 0;
    all.sent = counts.packets_out;
    all.bytes = counts.bytes_out;
    all.by_order = counts.lost_by_order;
    all.by_time = counts.lost_by_time;
    all.by_probe = counts.lost_by_probe;
    all.too_early = counts.given_up_too_early;
    all.alone = counts.acknowledgements_out;
    all.carried = counts.acknowledgements_carried;
    all.come = counts.come;
    all.missing = counts.named - std::min<uint64_t>(counts.named, counts.come);
    all.doubled = counts.copies;
    all.damaged = counts.damaged;
    all.strangers = counts.strangers;
    all.stale = counts.stale;
    all.garbage = counts.garbage + counts.malformed;
    all.without_room = counts.beyond + counts.no_room;
    all.peers = worst_peers(path);
    return all;
}

// 0, or the errno; then no part of the file is left.
int write_whole(const std::string &file, const std::string &text) {
    std::FILE *out = std::fopen(file.c_str(), "we");
    if (!out) return errno;
    int failure = std::fwrite(text.data(), 1, text.size(), out) == text.size() ? 0 : errno;
    if (std::fclose(out) != 0 && failure == 0) failure = errno;
    if (failure != 0) std::remove(file.c_str());
    return failure;
}

// In which this process runs.
std::string own_folder() {
    char folder[4096] = "";
    return getcwd(folder, sizeof folder) ? folder : "the folder of rank 0";
}

}  // namespace

Profile::Profile(Messenger &messenger) : messenger_(messenger), began_ns_(clock_ns()), began_ticks_(clock_ticks()) {
    messenger.set_traffic(&traffic_);
}

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
    double seconds_of_tick = rank.seconds / static_cast<double>(std::max<uint64_t>(clock_ticks() - began_ticks_, 1));
    {
        std::lock_guard guard(registry().lock);
        for (const CallTimes &times : registry().calls) {
            if (times.calls == 0) continue;
            double spent = static_cast<double>(times.ticks) * seconds_of_tick;
            rank.calls.push_back({times.name, times.calls, spent, std::min(spent, seconds(times.waiting_ns))});
        }
    }
    for (size_t what = 0; what < std::size(waits_); ++what) rank.waits[what] = {seconds(waits_[what].ns), seconds(waits_[what].moving_ns)};
    for (const Traffic::Sum &sum : traffic_.by_size) rank.by_size.push_back(sum_of(sum));
    for (size_t i = 0; i < traffic_.by_protocol.size(); ++i) rank.by_protocol[i] = sum_of(traffic_.by_protocol[i]);
    for (const auto &[path, sum] : traffic_.by_path) rank.by_path.push_back({path, sum_of(sum)});
    rank.largest = traffic_.largest;
    rank.peers = traffic_.by_peer.size();
    rank.unexpected = messenger_.unexpected().added();
    rank.most_unexpected_bytes = messenger_.unexpected().most_payload_bytes().highest();
    if (const DgramPath *datagrams = observed().datagrams) rank.datagrams = datagrams_of(*datagrams);
    return text_of(rank);
}

Error Profile::report(Executor &executor, Team &world, const std::string &job) {
    std::vector<std::string> texts;
    messenger_.set_traffic(nullptr);
    if (Error error = gather_texts(executor, world, counted(world.index), texts)) return error;
    if (world.index != 0) return {};
    std::vector<RankProfile> ranks;
    for (const std::string &text : texts) ranks.push_back(rank_profile(text));
    std::string file = "lanyard-profile-" + job + ".json";
    std::fputs(table_of(ranks).c_str(), stderr);
    int failure = write_whole(file, json_of(job, texts));
    if (failure == 0) std::fprintf(stderr, "The numbers of every rank are in %s.\n", file.c_str());
    else
        log(LogLevel::warn, "profile",
            "the file %s with the profile's numbers could not be written in %s: %s; start the program in another folder (mpirun -wdir DIR)",
            file.c_str(), own_folder().c_str(), system_text(failure).c_str());
    return {};
}

}  // namespace tool
}  // namespace lanyard
