// The numbers of a profile: those of a rank as text on the way to rank 0, and those of all ranks as a file
// and as the printed table. These functions have no side effects.
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
    // What happened to datagrams. `used`: there were any.
    struct Datagrams {
        struct Peer {
            int rank;
            uint64_t sent, sent_again, too_early, received, missing;
            double round_trip, least_round_trip;  // seconds; 0: unknown
        };
        bool used = false;
        uint64_t sent = 0, bytes = 0;
        // Packets declared lost, whose contents were sent again.
        uint64_t by_order = 0, by_time = 0, by_probe = 0, too_early = 0;
        uint64_t alone = 0, carried = 0;  // acknowledgements
        uint64_t received = 0, missing = 0;   // of the packets that others have numbered
        // Packets dropped.
        uint64_t doubled = 0, damaged = 0, strangers = 0, stale = 0, garbage = 0, without_room = 0;
        std::vector<Peer> peers;          // those for which most packets were sent again or are missing
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
// The part of the table about datagrams; empty if there were none (profile_datagrams.cc).
std::string datagram_rows(const std::vector<RankProfile> &ranks);

}  // namespace lanyard::tool
