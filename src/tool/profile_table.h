// Converts the numbers of a profile. The numbers of one rank become a text, which is sent to rank 0, and
// become numbers again there. The numbers of all ranks become the contents of a file and the printed table.
// These functions have no side effects.
// Tested by: tests/unit/tool/profile_test.cc.
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
    // What happened to datagrams. `used` is true if there were any.
    struct Datagrams {
        struct Peer {
            int rank;
            uint64_t sent, sent_again, too_early, received, missing;
            double round_trip, least_round_trip;  // in seconds; 0 if unknown
        };
        bool used = false;
        uint64_t sent = 0, bytes = 0;
        // by_order, by_time, by_probe: packets that were declared lost, so that their contents were sent
        // again, by the reason. too_early: packets among these that were not lost.
        uint64_t by_order = 0, by_time = 0, by_probe = 0, too_early = 0;
        uint64_t alone = 0, carried = 0;  // acknowledgements in packets of their own, and in other packets
        uint64_t received = 0, missing = 0;   // packets of peers that have arrived, and that have not
        // Packets that were dropped on arrival, by the reason.
        uint64_t doubled = 0, damaged = 0, strangers = 0, stale = 0, garbage = 0, without_room = 0;
        std::vector<Peer> peers;          // those for which the most packets were sent again or are missing
    };
    int rank = 0;
    std::string host;
    double seconds = 0;  // from the end of MPI_Init to MPI_Finalize
    std::vector<Call> calls;
    std::array<Wait, 3> waits{};       // by WaitFor (profile.h)
    // Messages sent, by size: first empty messages, then at each index k those of 2^(k-1) to 2^k - 1 bytes.
    // Sizes without messages at the end may be left out.
    std::vector<Sum> by_size;
    std::array<Sum, 4> by_protocol{};  // by Protocol (p2p/traffic.h)
    std::vector<PathSum> by_path;
    uint64_t largest = 0, peers = 0;
    uint64_t unexpected = 0, most_unexpected_bytes = 0;
    Datagrams datagrams;
};

std::string text_of(const RankProfile &rank);  // the text of a JSON object
RankProfile rank_profile(const std::string &text);  // the reverse; throws if text_of() has not made the text
// The contents of the file. `texts` were made by text_of().
std::string json_of(const std::string &job, const std::vector<std::string> &texts);
// `ranks` must contain rank 0, before all others.
std::string table_of(const std::vector<RankProfile> &ranks);
// The part of the table about datagrams (profile_datagrams.cc); empty if there were no datagrams.
std::string datagram_rows(const std::vector<RankProfile> &ranks);

}  // namespace lanyard::tool
