// See address_choice.h.
#include "path/tcp/address_choice.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lanyard {

namespace {

constexpr double clearly_better = 1.5;

// Three digits: "118 MB/s", "11.8 MB/s".
std::string megabytes(uint64_t bytes_per_s) {
    char text[32];
    double rate = static_cast<double>(bytes_per_s) / 1e6;
    std::snprintf(text, sizeof text,
                  rate >= 99.95   ? "%.0f MB/s"
                  : rate >= 9.995 ? "%.1f MB/s"
                                  : "%.2f MB/s",
                  rate);
    return text;
}

// The name of the local interface with the address `own`; "" if it is not known.
std::string name_of(const Address &own, const std::vector<Interface> &interfaces) {
    for (const Interface &interface : interfaces)
        if (same_host(interface.address, own)) return interface.name;
    return "";
}

}  // namespace

void RateSamples::add(const Sockets::Delivery &delivery) {
    if (delivery.rate == 0 || delivery.acked < acked_ + bytes_between_) return;
    acked_ = delivery.acked;
    if (delivery.held_back) {
        greatest_held_back_ = std::max(greatest_held_back_, delivery.rate);
        ++held_back_;
        return;
    }
    if (full_.size() < enough) full_.push_back(delivery.rate);
    else full_[next_++ % enough] = delivery.rate;
}

uint64_t RateSamples::rate() const {
    if (full_.empty()) return greatest_held_back_;
    std::vector<uint64_t> sorted = full_;
    auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

AddressChoice::AddressChoice(const std::vector<Address> &addresses, uint64_t bytes_between_samples)
    : samples_(bytes_between_samples) {
    for (const Address &address : addresses) all_.push_back({address, {}, 0, {}});
}

AddressChoice::Found *AddressChoice::find(const Address &address) {
    auto same = [&](const Found &found) { return same_host(found.address, address); };
    auto found = std::find_if(all_.begin(), all_.end(), same);
    return found == all_.end() ? nullptr : &*found;
}

void AddressChoice::enter(Phase phase) {
    phase_ = phase;
    samples_.clear();
}

void AddressChoice::connected(const Address &address, const Address &own) {
    bool first = now_.address.version == 0, same = same_host(address, now_.address);
    bool moved = target_ && same_host(address, *target_);
    Found *known = find(address);
    if (!same) now_ = known ? *known : Found{};
    if (known) known->own = own;
    else now_.address = address;  // includes the port from which the other side has dialed
    now_.own = own;
    now_.trouble.clear();
    target_.reset();
    if (moved) {
        enter(phase_ == Phase::moving ? Phase::proving : Phase::settled);
        return look_for_better();  // a still better address may have been measured meanwhile
    }
    if (phase_ == Phase::moving || phase_ == Phase::proving) enter(Phase::settled);
    if (first || phase_ == Phase::sampling) return enter(Phase::sampling);
    if (same || !may_begin_again_) return;
    may_begin_again_ = reported_ = false;
    asked_ = 0;
    enter(Phase::sampling);
}

void AddressChoice::not_moved() {
    if (!target_ || !told_) return;
    target_.reset();
    enter(Phase::settled);
}

void AddressChoice::sample(const Sockets::Delivery &delivery) {
    if (!samples_wanted()) return;
    samples_.add(delivery);
    if (!samples_.complete()) {
        if (samples_.idle()) enter(Phase::settled);
        return;
    }
    now_.rate = samples_.rate();
    if (Found *known = find(now_.address)) known->rate = now_.rate;
    if (phase_ == Phase::sampling) return enter(Phase::measuring);
    // The connection was moved because of a rate that was measured beside the job's own traffic. That rate
    // may have been wrong.
    if (now_.rate < before_.rate && may_move_back_ && find(before_.address)) {
        may_move_back_ = told_ = false;
        target_ = before_.address;
        return enter(Phase::settled);
    }
    enter(asked_ > 0 ? Phase::measuring : Phase::settled);
    look_for_better();
}

std::vector<Address> AddressChoice::to_measure() {
    std::vector<Address> list;
    if (phase_ != Phase::measuring || asked_ > 0) return list;
    for (Found &found : all_) {
        if (same_host(found.address, now_.address)) continue;
        list.push_back(found.address);
        found = {found.address, {}, 0, "has not answered yet"};
    }
    asked_ = list.size();
    if (asked_ == 0) enter(Phase::settled);
    return list;
}

void AddressChoice::measured(const Found &found) {
    if (asked_ > 0) --asked_;
    Found *known = find(found.address);
    if (!known || same_host(found.address, now_.address)) return;
    *known = found;
    look_for_better();
    if (phase_ == Phase::measuring && asked_ == 0) enter(Phase::settled);
}

void AddressChoice::look_for_better() {
    if (phase_ != Phase::measuring && phase_ != Phase::proving) return;
    auto slower = [](const Found &a, const Found &b) { return a.rate < b.rate; };
    auto best = std::max_element(all_.begin(), all_.end(), slower);
    if (now_.rate == 0 || static_cast<double>(best->rate) < clearly_better * static_cast<double>(now_.rate))
        return;
    if (phase_ == Phase::measuring) before_ = now_;
    target_ = best->address;
    told_ = false;
    enter(Phase::moving);
}

std::optional<Address> AddressChoice::to_move_to() {
    if (!target_ || told_) return std::nullopt;
    told_ = true;
    return target_;
}

std::string AddressChoice::report(const std::vector<Interface> &own) {
    reported_ = true;
    auto with_name = [&](const Found &found, const std::string &more) {
        std::string name = found.own.version ? name_of(found.own, own) : "";
        std::string inside = name + (name.empty() || more.empty() ? "" : ", ") + more;
        return to_text(found.address) + (inside.empty() ? "" : " (" + inside + ")");
    };
    std::string text = "by " + with_name(now_, now_.rate ? megabytes(now_.rate) : ""), separator = "; ";
    for (const Found &found : all_) {
        if (same_host(found.address, now_.address)) continue;
        text += separator + with_name(found, "");
        if (found.rate) text += " gave " + megabytes(found.rate);
        else text += found.trouble.empty() ? " was not measured" : " " + found.trouble;
        separator = ", ";
    }
    return text;
}

}  // namespace lanyard
