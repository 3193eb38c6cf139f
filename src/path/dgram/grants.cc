// See grants.h.
#include "path/dgram/grants.h"

#include <algorithm>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

namespace {

constexpr uint64_t forgotten_after = 10;  // rounds without a packet; fewer may mean that the host read late

// The number of bytes that arrive in this time at this rate.
uint64_t bytes_in(uint64_t ns, uint64_t rate) {
    return static_cast<uint64_t>(static_cast<double>(rate) * static_cast<double>(ns) * 1e-9);
}

}  // namespace

void Grants::received(Sender &sender, uint32_t bytes, uint64_t now_ns) {
    turn(now_ns);
    received_ += bytes;
    longest_ = std::max(longest_, bytes);
    if (sender.round != round_) sender = {round_, 0};
    if (sender.received == Sender::counted) return;
    uint32_t received = sender.received + bytes;
    bool counts = received >= std::min(limits_.little, longest_);
    senders_ += counts;
    sender.received = counts ? Sender::counted : static_cast<uint16_t>(received);
}

uint32_t Grants::window(size_t packet, uint64_t least_ns, uint64_t now_ns) {
    turn(now_ns);
    if (!several()) return no_limit;
    uint64_t each = in_flight(least_ns ? least_ns : limits_.unknown_trip_ns) / senders();
    return static_cast<uint32_t>(std::clamp<uint64_t>(each, packet, no_limit - 1));
}

// What all senders together may have in flight.
uint64_t Grants::in_flight(uint64_t least_ns) const { return bytes_in(least_ns, rate_) + limits_.queue; }

// Begins the next round when it is time.
void Grants::turn(uint64_t now_ns) {
    uint64_t took_ns = now_ns - started_ns_;
    // The line is faster than was known, so the round ends early.
    bool quicker = received_ >= 2 * enough_ && took_ns >= limits_.least_round_ns;
    if (took_ns < length_ns_ && !quicker) return;
    bool goes_on = took_ns < forgotten_after * length_ns_;
    if (goes_on && received_ == 0) return;
    if (goes_on) measure(received_, took_ns);
    senders_before_ = goes_on ? senders_ : 0;
    enough_ = std::max<uint64_t>(in_flight(limits_.unknown_trip_ns), uint64_t{2} * senders_ * longest_);
    length_ns_ = limits_.least_round_ns;
    if (rate_)
        length_ns_ = std::max(length_ns_, static_cast<uint64_t>(static_cast<double>(enough_) * 1e9 /
                                                                static_cast<double>(rate_)));
    senders_ = 0;
    received_ = 0;
    ++round_;
    started_ns_ = now_ns;
}

void Grants::measure(uint64_t bytes, uint64_t ns) {
    auto rate = static_cast<uint64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(ns));
    rate_ = std::max(std::min(rate, rate_before_), rate_ - rate_ / 16);
    rate_before_ = rate;
}

}  // namespace lanyard::dgram
