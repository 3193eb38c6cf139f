// See harmed_packets.h.
#include "net/harmed_packets.h"

#include <algorithm>
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

size_t HarmedPackets::largest(uint64_t destination) const {
    size_t bytes = beneath_->largest(destination);
    return harm_.longest ? std::min<size_t>(bytes, harm_.longest) : bytes;
}

// Sends one packet or harms it. Returns 1 if the packet has been sent, lost or held back, 0 if the endpoint
// beneath is full, or that endpoint's error.
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

// Sends the held packets whose time has come. A packet for which the endpoint beneath has no room is lost.
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
        if (int sent = send_one(list[i]); sent <= 0) return i > 0 ? i : sent;
    return count;
}

int HarmedPackets::receive(Arrived *list, int most) {
    if (!held_.empty()) release();
    return beneath_->receive(list, most);
}

std::string HarmedPackets::describe() const {
    return beneath_->describe() + ", harmed on purpose: " + std::to_string(counts_.lost) + " lost, " +
           std::to_string(counts_.doubled) + " duplicated, " + std::to_string(counts_.overtaken) +
           " reordered, " + std::to_string(counts_.damaged) + " damaged, seed " + std::to_string(harm_.seed);
}

}  // namespace lanyard
