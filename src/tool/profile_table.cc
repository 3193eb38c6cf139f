// Makes the printed table of a profile; see profile_table.h.
#include "tool/profile_table.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include "tool/profile_text.h"

namespace lanyard::tool {

namespace {

using Ranks = std::vector<RankProfile>;

// A quantity of every rank: its sum, and the ranks with the most and the least.
struct Spread {
    double sum = 0, least = 0, most = 0;
    int least_rank = 0, most_rank = 0;

    template <class Quantity>
    Spread(const Ranks &ranks, Quantity quantity) {
        for (const RankProfile &rank : ranks) {
            double value = quantity(rank);
            sum += value;
            if (rank.rank == 0 || value < least) least = value, least_rank = rank.rank;
            if (rank.rank == 0 || value > most) most = value, most_rank = rank.rank;
        }
    }
};

double seconds_of_all(const Ranks &ranks) {
    return Spread(ranks, [](const RankProfile &rank) { return rank.seconds; }).sum;
}

double in_mpi(const RankProfile &rank) {
    double seconds = 0;
    for (const RankProfile::Call &call : rank.calls) seconds += call.seconds;
    return seconds;
}

std::string heading(const Ranks &ranks) {
    Spread share(ranks, [](const RankProfile &rank) { return percent(in_mpi(rank), rank.seconds); });
    double seconds = seconds_of_all(ranks), inside = Spread(ranks, in_mpi).sum;
    std::string text =
        line("Profile of %zu rank%s: %s from MPI_Init to MPI_Finalize, %.1f %% of it in MPI", ranks.size(),
             ranks.size() > 1 ? "s" : "", time_text(seconds / static_cast<double>(ranks.size())).c_str(),
             percent(inside, seconds));
    if (ranks.size() == 1) return text;
    text.pop_back();
    return text + line(" (rank %d: %.1f %%, rank %d: %.1f %%)", share.least_rank, share.least,
                       share.most_rank, share.most);
}

// A row of times: the mean of all ranks, its share of the run, the longest time, and the rank with that time.
std::string times(const Ranks &ranks, const Spread &spread) {
    char text[128];
    std::snprintf(text, sizeof text, "%9s %7.1f %% %9s %8d",
                  time_text(spread.sum / static_cast<double>(ranks.size())).c_str(),
                  percent(spread.sum, seconds_of_all(ranks)), time_text(spread.most).c_str(),
                  spread.most_rank);
    return text;
}

std::string call_rows(const Ranks &ranks) {
    constexpr size_t most_rows = 15;
    std::map<std::string, RankProfile::Call> sums;
    for (const RankProfile &rank : ranks)
        for (const RankProfile::Call &call : rank.calls) {
            RankProfile::Call &sum =
                sums.try_emplace(call.name, RankProfile::Call{call.name, 0, 0, 0}).first->second;
            sum.calls += call.calls;
            sum.seconds += call.seconds;
            sum.waiting += call.waiting;
        }
    std::vector<RankProfile::Call> rows;
    for (const auto &[name, sum] : sums) rows.push_back(sum);
    std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
    std::string text = line("\n%-28s %12s %9s %9s %9s %8s %8s", "call", "calls", "per rank", "of run", "most",
                            "on rank", "waiting");
    for (size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
        const RankProfile::Call &row = rows[i];
        Spread spread(ranks, [&](const RankProfile &rank) {
            for (const RankProfile::Call &call : rank.calls)
                if (call.name == row.name) return call.seconds;
            return 0.0;
        });
        text += line("%-28s %12s %s %6.0f %%", row.name.c_str(), grouped(row.calls).c_str(),
                     times(ranks, spread).c_str(), percent(row.waiting, row.seconds));
    }
    if (rows.size() > most_rows)
        text += line("and %s, which took less", counted(rows.size() - most_rows, "other").c_str());
    return text;
}

std::string wait_rows(const Ranks &ranks) {
    constexpr const char *names[] = {"messages not sent yet (late senders)",
                                     "receives not posted yet (late receivers)",
                                     "other ranks, in collectives"};
    std::string text = line("\n%-41s %9s %9s %9s %8s", "waited for", "per rank", "of run", "most", "on rank");
    for (size_t i = 0; i < std::size(names); ++i) {
        Spread unmoved(ranks,
                       [&](const RankProfile &rank) { return rank.waits[i].seconds - rank.waits[i].moving; });
        text += line("%-41s %s", names[i], times(ranks, unmoved).c_str());
    }
    Spread moving(ranks, [](const RankProfile &rank) {
        double sum = 0;
        for (const RankProfile::Wait &wait : rank.waits) sum += wait.moving;
        return sum;
    });
    return text + line("%-41s %s", "long messages on their way", times(ranks, moving).c_str());
}

double outside_mpi(const RankProfile &rank) { return std::max(0.0, rank.seconds - in_mpi(rank)); }

// The time that ranks spend outside MPI, and how much longer the slowest rank computes than the mean. Such an
// imbalance makes ranks wait for each other.
std::string balance_rows(const Ranks &ranks) {
    Spread computing(ranks, outside_mpi);
    double mean = computing.sum / static_cast<double>(ranks.size());
    std::string text = line("%-41s %s", "nothing: computing, outside MPI", times(ranks, computing).c_str());
    if (ranks.size() == 1) return text;
    double more = percent(computing.most - mean, mean);
    if (more < 1) return text + "All ranks compute for about the same time.\n";
    return text + line("Imbalance %.0f %%: rank %d computes that much longer than the mean; with even shares "
                       "its work would end %s earlier",
                       more, computing.most_rank, time_text(computing.most - mean).c_str());
}

// The rows for the hosts, if there are several. The host whose ranks compute longest is first.
std::string host_rows(const Ranks &ranks) {
    constexpr size_t most_hosts = 10;
    std::map<std::string, Ranks> hosts;
    for (const RankProfile &rank : ranks) hosts[rank.host].push_back(rank);
    if (hosts.size() == 1) return "";
    struct Row {
        std::string host;
        size_t ranks;
        double computing, in_mpi, sent;  // the means of the host's ranks
    };
    std::vector<Row> rows;
    for (const auto &[host, some] : hosts) {
        Row row{host, some.size(), 0, 0, 0};
        for (const RankProfile &rank : some) {
            row.computing += outside_mpi(rank) / static_cast<double>(some.size());
            row.in_mpi += in_mpi(rank) / static_cast<double>(some.size());
            for (const RankProfile::Sum &sum : rank.by_size)
                row.sent += static_cast<double>(sum.bytes) / static_cast<double>(some.size());
        }
        rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row &a, const Row &b) { return a.computing > b.computing; });
    std::string text = line("\n%-30s %10s %19s %16s %14s", "host", "ranks", "outside MPI, a rank",
                            "in MPI, a rank", "sent, a rank");
    for (size_t i = 0; i < std::min(rows.size(), most_hosts); ++i)
        text += line("%-30s %10zu %19s %16s %14s", rows[i].host.c_str(), rows[i].ranks,
                     time_text(rows[i].computing).c_str(), time_text(rows[i].in_mpi).c_str(),
                     bytes_text(static_cast<uint64_t>(rows[i].sent)).c_str());
    if (rows.size() > most_hosts)
        text += line("and %s, whose ranks compute less", counted(rows.size() - most_hosts, "other").c_str());
    return text;
}

std::string size_rows(const Ranks &ranks) {
    std::vector<RankProfile::Sum> sums;
    uint64_t messages = 0, bytes = 0, largest = 0, peers = 0;
    double seconds = seconds_of_all(ranks) / static_cast<double>(ranks.size());
    for (const RankProfile &rank : ranks) {
        sums.resize(std::max(sums.size(), rank.by_size.size()));
        for (size_t i = 0; i < rank.by_size.size(); ++i) {
            sums[i].messages += rank.by_size[i].messages;
            sums[i].bytes += rank.by_size[i].bytes;
            messages += rank.by_size[i].messages;
            bytes += rank.by_size[i].bytes;
        }
        largest = std::max(largest, rank.largest);
        peers = std::max(peers, rank.peers);
    }
    if (messages == 0) return "\nNo messages were sent.\n";
    std::string text = line(
        "\nSent: %s with %s, %s per second; the largest had %s; each rank sent to %s at most",
        counted(messages, "message").c_str(), bytes_text(bytes).c_str(),
        grouped(static_cast<uint64_t>(seconds > 0 ? static_cast<double>(messages) / seconds : 0)).c_str(),
        bytes_text(largest).c_str(), counted(peers, "other").c_str());
    text += line("%-20s %12s %9s  %s", "size", "messages", "bytes", "of messages");
    for (size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].messages == 0) continue;
        std::string size = i == 0 ? "0 B" : i == 1 ? "1 B" : "to " + bytes_text((uint64_t{1} << i) - 1);
        if (i > 10) size = "under " + bytes_text(uint64_t{1} << i);
        double share = percent(static_cast<double>(sums[i].messages), static_cast<double>(messages));
        text += line("%-20s %12s %9s  %3.0f %% %s", size.c_str(), grouped(sums[i].messages).c_str(),
                     bytes_text(sums[i].bytes).c_str(), share,
                     std::string(static_cast<size_t>(share / 2.5), '#').c_str());
    }
    return text;
}

std::string way_rows(const Ranks &ranks) {
    constexpr const char *names[] = {"short (beside the envelope)", "eager (sent at once)",
                                     "rendezvous (offered first)", "write (to announced receives)"};
    static_assert(std::size(names) == std::tuple_size_v<decltype(RankProfile::by_protocol)>);
    auto row = [](const char *what, const std::string &name, const RankProfile::Sum &sum) {
        return line("%-10s %-30s %12s %-8s %9s", what, name.c_str(), grouped(sum.messages).c_str(),
                    sum.messages == 1 ? "message" : "messages", bytes_text(sum.bytes).c_str());
    };
    auto add = [](RankProfile::Sum &to, const RankProfile::Sum &sum) {
        to.messages += sum.messages;
        to.bytes += sum.bytes;
    };
    std::string text = "\n";
    const char *what = "protocol";
    for (size_t i = 0; i < std::size(names); ++i) {
        RankProfile::Sum sum{0, 0};
        for (const RankProfile &rank : ranks) add(sum, rank.by_protocol[i]);
        text += row(std::exchange(what, ""), names[i], sum);
    }
    std::map<std::string, RankProfile::Sum> paths;
    uint64_t unexpected = 0, most = 0;
    for (const RankProfile &rank : ranks) {
        for (const RankProfile::PathSum &path : rank.by_path)
            add(paths.try_emplace(path.path, RankProfile::Sum{0, 0}).first->second, path.sum);
        unexpected += rank.unexpected;
        most = std::max(most, rank.most_unexpected_bytes);
    }
    what = "path";
    for (const auto &[name, sum] : paths) text += row(std::exchange(what, ""), name, sum);
    return text + line("Stored because they (or their offers) arrived before their receive: %s, with up to "
                       "%s of payload on one rank",
                       counted(unexpected, "message").c_str(), bytes_text(most).c_str());
}

}  // namespace

std::string table_of(const Ranks &ranks) {
    std::string text = heading(ranks) + call_rows(ranks) + wait_rows(ranks) + balance_rows(ranks) +
                       host_rows(ranks) + size_rows(ranks);
    bool any = std::any_of(ranks.begin(), ranks.end(),
                           [](const RankProfile &rank) { return !rank.by_path.empty(); });
    return text + (any ? way_rows(ranks) : "") + datagram_rows(ranks);
}

}  // namespace lanyard::tool
