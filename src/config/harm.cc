#include "config/harm.h"

#include <algorithm>
#include <charconv>

namespace lanyard {

std::string parse_harm(std::string_view text, Harm &harm) {
    constexpr double million_per_cent = 10'000, least_packet = 512, most_packet = 65'535;
    for (std::string_view left = text; !left.empty();) {
        std::string_view word = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), word.size() + 1));
        std::string_view name = word.substr(0, word.find('=')), digits = word.substr(std::min(word.size(), name.size() + 1));
        double number = 0;
        auto [read, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        bool good = trouble == std::errc{} && read == digits.data() + digits.size() && number >= 0;
        uint32_t *part = name == "loss" ? &harm.lost : name == "double" ? &harm.doubled : name == "overtake" ? &harm.overtaken
                       : name == "damage" ? &harm.damaged : nullptr;
        bool is_size = good && number >= least_packet && number <= most_packet;
        if (name == "longest" && is_size) harm.longest = static_cast<uint32_t>(number);
        else if (name == "seed" && good) harm.seed = static_cast<uint64_t>(number);
        else if (part && good && number <= 100) *part = static_cast<uint32_t>(number * million_per_cent + 0.5);
        else
            return "'" + std::string(word) + "' is not understood; it takes a list such as loss=1,double=1,overtake=1,damage=0.1,longest=1472,"
                   "seed=7, in per cent of the packets; longest: bytes of a packet, at least 512";
    }
    return "";
}

}  // namespace lanyard
