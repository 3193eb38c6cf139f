// A profile's numbers: those of a rank as text on its way to rank 0, those of all as a file and as the table that is printed. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lanyard::tool {

struct RankProfile {
    struct Call {
        std::string name;
        uint64_t calls;
        double seconds, waiting;
    };
    struct Wait {
        double seconds, moving;
    };
    struct Sum {
        uint64_t messages, bytes;
    };
    struct PathSum {
        std::string path;
        Sum sum;
    };
    // What happened to datagrams; used: there were any.
    struct Datagrams {
        struct Peer {
            int rank;
            uint64_t sent, sent_again, too_early, received, missing;
            double round_trip, least_round_trip;  // seconds; 0: not known
        };
        bool used = false;
        uint64_t sent = 0, bytes = 0;
        uint64_t by_order = 0, by_time = 0, by_probe = 0, too_early = 0;  // packets given up, so that what was in them was sent again
        uint64_t alone = 0, carried = 0;  // acknowledgements
        uint64_t received = 0, missing = 0;   // of the packets that others have numbered
        uint64_t doubled = 0, damaged = 0, strangers = 0, stale = 0, garbage = 0, without_room = 0;  // dropped
        std::vector<Peer> peers;          // those that most was sent again to, or is missing of
    };
    int rank = 0;
    std::string host;
    double seconds = 0;  // from the end of MPI_Init to MPI_Finalize
    std::vector<Call> calls;
    std::array<Wait, 3> waits{};       // by WaitFor (profile.h)
    std::vector<Sum> by_size;          // messages sent; class 0: empty ones, k: 2^(k-1) to 2^k - 1 bytes
    std::array<Sum, 4> by_protocol{};  // by Protocol (p2p/traffic.h)
    std::vector<PathSum> by_path;
    uint64_t largest = 0, peers = 0;
    uint64_t unexpected = 0, most_unexpected_bytes = 0;
    Datagrams datagrams;
};

std::string text_of(const RankProfile &rank);  // a JSON object
RankProfile rank_profile(const std::string &text);
std::string json_of(const std::string &job, const std::vector<std::string> &texts);
std::string table_of(const std::vector<RankProfile> &ranks);
// Of it, the part about datagrams; empty where there were none (profile_datagrams.cc).
std::string datagram_rows(const std::vector<RankProfile> &ranks);

}  // namespace lanyard::tool
