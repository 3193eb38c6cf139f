// See congestion.h.
#include "path/dgram/congestion.h"

#include <algorithm>
#include <cmath>

namespace lanyard::dgram {

void Congestion::acknowledged(size_t bytes, uint32_t packets, size_t in_flight, const RoundTrip &trip,
                              size_t packet, const CongestionLimits &limits, uint64_t now_ns) {
    for (uint32_t i = 0; i < packets; ++i) loss_ -= loss_ / 64;
    round_least_ns_ =
        std::min(round_least_ns_, static_cast<uint32_t>(std::min<uint64_t>(trip.queueing_ns(), UINT32_MAX)));
    round_absent_us_ = std::min(round_absent_us_, absent_us_);
    if (round_samples_ < enough_samples) ++round_samples_;
    if (in_flight + 2 * packet >= window_) pressed_ = true;
    if (doubling() && pressed_) {
        if (round_samples_ == enough_samples && delay_ns() > limits.target_ns / 2) threshold_ = window_;
        else window_ = static_cast<uint32_t>(std::min<uint64_t>(limits.most_window, window_ + bytes));
    }
    if (now_ns >= round_ends_ns_) end_round(trip, packet, limits, now_ns);
}

uint64_t Congestion::target(size_t packet, const CongestionLimits &limits) const {
    double packets = static_cast<double>(window_) / static_cast<double>(packet);
    uint64_t target_ns = limits.target_ns + static_cast<uint64_t>(static_cast<double>(limits.target_ns) *
                                                                  limits.scale / std::sqrt(packets));
    return granted_ ? limits.granted_more * target_ns : target_ns;
}

void Congestion::end_round(const RoundTrip &trip, size_t packet, const CongestionLimits &limits,
                           uint64_t now_ns) {
    uint64_t delay_ns = this->delay_ns(), target_ns = target(packet, limits);
    if (delay_ns > target_ns) {
        // As in Swift: shrinks by four fifths of `share`, the part of the delay that is too much.
        uint64_t share = (delay_ns - target_ns) * 1024 / delay_ns;
        uint64_t kept = std::max<uint64_t>(1024 - share * 4 / 5, 512);
        shrink(window_ * kept / 1024, packet, trip, now_ns);
    } else if (!doubling() && pressed_) {
        window_ =
            static_cast<uint32_t>(std::min<uint64_t>(limits.most_window, window_ + limits.gain * packet));
        threshold_ = std::min(threshold_, window_);
    }
    round_least_ns_ = UINT32_MAX;
    round_absent_us_ = UINT16_MAX;
    round_samples_ = 0;
    pressed_ = false;
    round_ends_ns_ = now_ns + trip.smoothed_ns();
}

void Congestion::shrink(uint64_t to, size_t packet, const RoundTrip &trip, uint64_t now_ns) {
    if (now_ns < shrunk_ns_) return;
    shrunk_ns_ = now_ns + trip.smoothed_ns();
    window_ = static_cast<uint32_t>(std::min<uint64_t>(window_, std::max(to, least_window(packet))));
    threshold_ = window_;
}

void Congestion::lost(uint32_t packets, const RoundTrip &trip, size_t packet, const CongestionLimits &limits,
                      uint64_t now_ns) {
    for (uint32_t i = 0; i < packets; ++i) loss_ += (one - loss_) / 64;
    if (loss_ > one / 8) {
        shrink(window_ / 2, packet, trip, now_ns);
    } else if (std::min(delay_ns(), without_absence(trip.queueing_ns())) > limits.target_ns / 2) {
        shrink(window_ * uint64_t{3} / 4, packet, trip, now_ns);
    }
}

bool Congestion::forget_if_outdated(size_t packet, const CongestionLimits &limits, uint64_t now_ns) {
    if (now_ns < round_ends_ns_ + limits.old_after_ns) return false;
    uint64_t times = std::min<uint64_t>((now_ns - round_ends_ns_) / limits.old_after_ns, 31);
    threshold_ = std::max(threshold_, window_);
    window_ = static_cast<uint32_t>(
        std::min<uint64_t>(window_, std::max<uint64_t>(first_window(packet, limits), window_ >> times)));
    round_ends_ns_ = now_ns;
    return true;
}

void Congestion::silent(size_t packet, const CongestionLimits &limits) {
    threshold_ = std::max(threshold_, window_);
    window_ = std::min(limits.first_window, static_cast<uint32_t>(least_window(packet)));
}

}  // namespace lanyard::dgram
