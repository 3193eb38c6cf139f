// Makes the part of a profile's table about datagrams: how many there were, what happened to them, and the
// pairs of ranks between which the most were lost. A packet that did not arrive is known at both ends: its
// sender gave the packet a number, and its receiver misses that number.
// Tested by: tests/unit/tool/profile_test.cc, tests/launch/test_profile.py.
#include <algorithm>

#include "tool/profile_table.h"
#include "tool/profile_text.h"

namespace lanyard::tool {

namespace {

using Ranks = std::vector<RankProfile>;
using Datagrams = RankProfile::Datagrams;

constexpr size_t most_pairs = 10;

// One rank that sends to another.
struct Pair {
    int from;
    const Datagrams::Peer *to;
    // What the receiver reports about the sender; nullptr if it reports nothing about the sender.
    const Datagrams::Peer *back;

    uint64_t missing() const { return back ? back->missing : 0; }
};

Datagrams sum_of(const Ranks &ranks) {
    Datagrams sum;
    for (const RankProfile &rank : ranks) {
        const Datagrams &one = rank.datagrams;
        for (auto field :
             {&Datagrams::sent, &Datagrams::bytes, &Datagrams::by_order, &Datagrams::by_time,
              &Datagrams::by_probe, &Datagrams::too_early, &Datagrams::alone, &Datagrams::carried,
              &Datagrams::received, &Datagrams::missing, &Datagrams::doubled, &Datagrams::damaged,
              &Datagrams::strangers, &Datagrams::stale, &Datagrams::garbage, &Datagrams::without_room})
            sum.*field += one.*field;
        sum.used |= one.used;
    }
    return sum;
}

std::string row(const char *what, const std::string &name, uint64_t packets, const std::string &more) {
    return line("%-10s %-30s %12s %-8s %9s", what, name.c_str(), grouped(packets).c_str(),
                packets == 1 ? "packet" : "packets", more.c_str());
}

std::string share(uint64_t part, uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%",
                  percent(static_cast<double>(part), static_cast<double>(whole)));
    return text;
}

std::string sum_rows(const Datagrams &sum) {
    uint64_t again = sum.by_order + sum.by_time + sum.by_probe, numbered = sum.received + sum.missing;
    std::string text = row("datagrams", "sent", sum.sent, bytes_text(sum.bytes));
    text += row("", "declared lost, sent again", again, share(again, numbered));
    if (again)
        text += line("           of these by order %s, by timer %s, by probe %s; too early %s",
                     grouped(sum.by_order).c_str(), grouped(sum.by_time).c_str(),
                     grouped(sum.by_probe).c_str(), grouped(sum.too_early).c_str());
    text += row("", "never received", sum.missing, share(sum.missing, numbered));
    text += row("", "received twice", sum.doubled, share(sum.doubled, numbered));
    text += row("", "acknowledgements alone", sum.alone, share(sum.alone, sum.sent));
    text += row("", "acknowledgements carried", sum.carried, share(sum.carried, sum.sent));
    if (sum.damaged + sum.strangers + sum.stale + sum.garbage + sum.without_room)
        text += line(
            "Dropped: %s damaged, %s from strangers, %s from earlier processes, %s malformed, %s without "
            "room",
            grouped(sum.damaged).c_str(), grouped(sum.strangers).c_str(), grouped(sum.stale).c_str(),
            grouped(sum.garbage).c_str(), grouped(sum.without_room).c_str());
    return text;
}

const Datagrams::Peer *find(const Ranks &ranks, int rank, int peer) {
    for (const RankProfile &each : ranks)
        if (each.rank == rank)
            for (const Datagrams::Peer &other : each.datagrams.peers)
                if (other.rank == peer) return &other;
    return nullptr;
}

std::string pair_rows(const Ranks &ranks) {
    std::vector<Pair> pairs;
    for (const RankProfile &rank : ranks)
        for (const Datagrams::Peer &peer : rank.datagrams.peers)
            if (peer.sent) pairs.push_back({rank.rank, &peer, find(ranks, peer.rank, rank.rank)});
    auto worse = [](const Pair &a, const Pair &b) {
        return std::pair(a.to->sent_again + a.missing(), a.to->round_trip) >
               std::pair(b.to->sent_again + b.missing(), b.to->round_trip);
    };
    std::stable_sort(pairs.begin(), pairs.end(), worse);
    if (pairs.empty()) return "";
    std::string text = line("\n%-26s %10s %11s %10s %11s %9s", "from rank to rank", "packets", "sent again",
                            "lost", "round trip", "least");
    for (size_t i = 0; i < std::min(pairs.size(), most_pairs); ++i) {
        const Pair &pair = pairs[i];
        std::string name = std::to_string(pair.from) + " to " + std::to_string(pair.to->rank);
        text += line("%-26s %10s %11s %10s %11s %9s", name.c_str(), grouped(pair.to->sent).c_str(),
                     grouped(pair.to->sent_again).c_str(), pair.back ? grouped(pair.missing()).c_str() : "-",
                     time_text(pair.to->round_trip).c_str(), time_text(pair.to->least_round_trip).c_str());
    }
    if (pairs.size() > most_pairs)
        text += line("and %s, which lost less", counted(pairs.size() - most_pairs, "other").c_str());
    return text;
}

}  // namespace

std::string datagram_rows(const Ranks &ranks) {
    Datagrams sum = sum_of(ranks);
    return sum.used ? "\n" + sum_rows(sum) + pair_rows(ranks) : "";
}

}  // namespace lanyard::tool
