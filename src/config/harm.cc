// See harm.h.
#include "config/harm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace lanyard {

namespace {

// A name that the text may contain, and its range of values. A share of the packets is given in per cent and
// stored in millionths.
struct Kind {
    std::string_view name;
    uint32_t Harm::*part;  // nullptr if the value is not a share of the packets
    double least, most;
    std::string_view range;
};
constexpr Kind kinds[] = {{"loss", &Harm::lost, 0, 100, "per cent of the packets, from 0 to 100"},
                          {"double", &Harm::doubled, 0, 100, "per cent of the packets, from 0 to 100"},
                          {"overtake", &Harm::overtaken, 0, 100, "per cent of the packets, from 0 to 100"},
                          {"damage", &Harm::damaged, 0, 100, "per cent of the packets, from 0 to 100"},
                          {"longest", nullptr, 512, 65'535, "the bytes of a packet, from 512 to 65535"},
                          {"seed", nullptr, 0, 0x1p53, "a whole number from 0 to 9007199254740992"}};
constexpr double millionths_of_per_cent = 10'000;

}  // namespace

std::string parse_harm(std::string_view text, Harm &harm) {
    std::set<std::string_view> seen;
    for (std::string_view left = text; !left.empty();) {
        std::string_view word = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), word.size() + 1));
        std::string_view name = word.substr(0, word.find('=')),
                         digits = word.substr(std::min(word.size(), name.size() + 1));
        const Kind *kind = std::find_if(std::begin(kinds), std::end(kinds),
                                        [&](const Kind &each) { return each.name == name; });
        std::string quoted = "'" + std::string(word) + "'";
        if (kind == std::end(kinds) || word.size() == name.size())
            return quoted +
                   " is not understood; it takes a list such as "
                   "loss=1,double=1,overtake=1,damage=0.1,longest=1472,seed=7";
        double number = 0;
        auto [end, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        bool good = trouble == std::errc{} && end == digits.data() + digits.size() && number >= kind->least &&
                    number <= kind->most;
        if (!good || (!kind->part && number != std::floor(number)))
            return quoted + " cannot be: " + std::string(name) + " takes " + std::string(kind->range);
        if (!seen.insert(name).second) return std::string(name) + " is given twice";
        if (kind->part)
            harm.*kind->part = static_cast<uint32_t>(std::lround(number * millionths_of_per_cent));
        else if (name == "longest") harm.longest = static_cast<uint32_t>(number);
        else harm.seed = static_cast<uint64_t>(number);
    }
    return "";
}

}  // namespace lanyard
