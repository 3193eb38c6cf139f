#include "net/harmed_packets.h"

#include <charconv>
#include <cstring>

namespace lanyard {

namespace {

constexpr size_t most_held = 64;
constexpr int calls_held = 2;

std::vector<std::byte> copy_of(const PacketIo::Outgoing &packet) {
    std::vector<std::byte> bytes;
    for (int i = 0; i < packet.count; ++i) {
        const auto *part = static_cast<const std::byte *>(packet.parts[i].iov_base);
        bytes.insert(bytes.end(), part, part + packet.parts[i].iov_len);
    }
    return bytes;
}

}  // namespace

Error parse_harm(std::string_view text, Harm &harm) {
    constexpr double million_per_cent = 10'000;
    for (std::string_view left = text; !left.empty();) {
        std::string_view word = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), word.size() + 1));
        std::string_view name = word.substr(0, word.find('='));
        std::string_view digits = word.substr(std::min(word.size(), name.size() + 1));
        double number = 0;
        auto [read, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        bool good = trouble == std::errc{} && read == digits.data() + digits.size() && number >= 0;
        uint32_t *part = name == "loss" ? &harm.lost : name == "double" ? &harm.doubled : name == "overtake" ? &harm.overtaken
                       : name == "damage" ? &harm.damaged : nullptr;
        if (name == "seed" && good) harm.seed = static_cast<uint64_t>(number);
        else if (part && good && number <= 100) *part = static_cast<uint32_t>(number * million_per_cent + 0.5);
        else
            return Error(ErrorClass::arg, "'" + std::string(word) + "' is not understood; a list such as "
                                          "loss=1,double=1,overtake=1,damage=0.1,seed=7 says how many per cent of the packets suffer");
    }
    return {};
}

// 1 when it is dealt with, 0 when the endpoint is full.
int HarmedPackets::send_one(const Outgoing &packet) {
    if (happens(harm_.lost)) {
        ++counts_.lost;
        return 1;
    }
    if (held_.size() < most_held && happens(harm_.overtaken)) {
        held_.push_back({packet.destination, copy_of(packet), calls_held});
        ++counts_.overtaken;
        return 1;
    }
    if (happens(harm_.damaged)) {
        std::vector<std::byte> bytes = copy_of(packet);
        if (bytes.empty()) return 1;
        bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1u << random_.below(8));
        iovec part{bytes.data(), bytes.size()};
        Outgoing damaged{packet.destination, &part, 1};
        int sent = beneath_->send(&damaged, 1);
        if (sent == 1) ++counts_.damaged;
        return sent;
    }
    int sent = beneath_->send(&packet, 1);
    if (sent == 1 && happens(harm_.doubled) && beneath_->send(&packet, 1) == 1) ++counts_.doubled;
    return sent;
}

// What finds no room is lost.
void HarmedPackets::release() {
    std::erase_if(held_, [&](Held &held) {
        if (--held.calls > 0) return false;
        iovec part{held.bytes.data(), held.bytes.size()};
        Outgoing packet{held.destination, &part, 1};
        beneath_->send(&packet, 1);
        return true;
    });
}

int HarmedPackets::send(const Outgoing *list, int count) {
    release();
    for (int i = 0; i < count; ++i)
        if (int sent = send_one(list[i]); sent <= 0) return sent < 0 ? sent : i;
    return count;
}

int HarmedPackets::receive(Arrived *list, int most) {
    if (!held_.empty()) release();
    return beneath_->receive(list, most);
}

std::string HarmedPackets::describe() const {
    return beneath_->describe() + ", harmed on purpose: " + std::to_string(counts_.lost) + " lost, " + std::to_string(counts_.doubled) +
           " doubled, " + std::to_string(counts_.overtaken) + " overtaken, " + std::to_string(counts_.damaged) + " damaged";
}

}  // namespace lanyard
