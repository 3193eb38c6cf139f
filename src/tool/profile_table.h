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
};

std::string text_of(const RankProfile &rank);  // a JSON object
RankProfile rank_profile(const std::string &text);
std::string json_of(const std::string &job, const std::vector<std::string> &texts);
std::string table_of(const std::vector<RankProfile> &ranks);

}  // namespace lanyard::tool
