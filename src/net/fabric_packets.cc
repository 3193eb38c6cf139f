// Sends, receives and sleeps. See fabric_packets.h; fabric_open.cc opens the endpoint.
#include "net/fabric_packets.h"

#include <errno.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace lanyard {

namespace {

constexpr size_t batch = 32;                      // the most completions that one call reads
constexpr uint64_t ask_again_after_ns = 50'000;

// True if the error concerns only this packet or its destination.
bool concerns_destination(int64_t trouble) {
    switch (-trouble) {
        case EPERM:
        case EACCES:
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
        case EHOSTDOWN:
        case ECONNREFUSED:
        case EADDRNOTAVAIL:
            return true;
        default: return false;
    }
}

bool decode(std::string_view digits, std::vector<std::byte> &bytes) {
    auto value = [](char digit) {
        return digit >= '0' && digit <= '9'   ? digit - '0'
               : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                              : -1;
    };
    if (digits.size() % 2) return false;
    for (size_t i = 0; i < digits.size(); i += 2) {
        int high = value(digits[i]), low = value(digits[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes.push_back(static_cast<std::byte>(high * 16 + low));
    }
    return true;
}

}  // namespace

int64_t FabricPackets::destination(std::string_view name) {
    if (auto found = known_.find(name); found != known_.end()) return found->second;
    std::vector<std::byte> address;
    if (!name.starts_with(kind_) || !decode(name.substr(kind_.size()), address) ||
        address.size() != address_bytes_)
        return -EINVAL;
    fi_addr_t made = FI_ADDR_NOTAVAIL;
    if (fi_av_insert(peers_.get(), address.data(), 1, &made, 0, nullptr) != 1) return -EINVAL;
    destinations_.push_back(made);
    auto number = static_cast<int64_t>(destinations_.size()) - 1;
    known_.emplace(name, number);
    return number;
}

// Reads the entry of a failed operation from a queue. This must be done before further entries can be read.
// Returns the operation's slot, or nullptr if the queue itself is unusable.
FabricPackets::Slot *FabricPackets::failed_one(fid_cq *queue) {
    struct {
        fi_cq_err_entry entry;
        std::byte more[64];  // room for what later versions of libfabric append
    } said{};
    if (fi_cq_readerr(queue, &said.entry, 0) != 1) return nullptr;
    ++counts_.failed;
    return static_cast<Slot *>(said.entry.op_context);
}

// Reads the completions of sends, which frees their slots. True if any slot was freed.
bool FabricPackets::collect_sent() {
    size_t before = free_.size();
    for (;;) {
        fi_cq_msg_entry done[batch];
        ssize_t count = fi_cq_read(sent_.get(), done, batch);
        Slot *failed = count == -FI_EAVAIL ? failed_one(sent_.get()) : nullptr;
        if (failed) free_.push_back(failed);
        for (ssize_t i = 0; i < count; ++i) free_.push_back(static_cast<Slot *>(done[i].op_context));
        if (!failed && count < static_cast<ssize_t>(batch)) return free_.size() > before;
    }
}

// Copies the packet into the slot and posts it for sending. Returns 0, or the provider's error.
int FabricPackets::post(const Outgoing &packet, Slot &slot) {
    std::byte *to = slot.bytes + prefix_;
    for (int i = 0; i < packet.count; ++i) {
        if (packet.parts[i].iov_len) std::memcpy(to, packet.parts[i].iov_base, packet.parts[i].iov_len);
        to += packet.parts[i].iov_len;
    }
    auto bytes = static_cast<size_t>(to - slot.bytes);
    return static_cast<int>(fi_send(endpoint_.get(), slot.bytes, bytes, memory(),
                                    destinations_[packet.destination], &slot.context));
}

// Sends one packet. Returns 1 if the packet was sent or dropped, 0 if there is no room, or -errno.
int FabricPackets::send_one(const Outgoing &packet) {
    if (packet.bytes() > largest_) {
        ++counts_.too_long;
        return 1;
    }
    if (free_.empty()) return 0;
    Slot *slot = free_.back();
    int result = post(packet, *slot);
    if (result == 0) {
        free_.pop_back();
        ++counts_.sent;
        return 1;
    }
    if (result == -FI_EAGAIN || result == -ENOBUFS) return 0;
    if (result == -EMSGSIZE) ++counts_.too_long;
    else if (concerns_destination(result)) ++counts_.refused;
    else return result;
    return 1;
}

int FabricPackets::send(const Outgoing *list, int count) {
    if (sends_ - free_.size() >= std::min(batch, sends_ / 2)) collect_sent();
    for (int done = 0; done < count;) {
        int sent = send_one(list[done]);
        if (sent < 0) return done ? done : sent;
        done += sent;
        if (sent == 1 || collect_sent()) continue;
        ask_again();
        return done;
    }
    return count;
}

// Posts all free slots for receiving. False if the provider accepts no more receives now, or has failed; its
// queue will then report the failure.
bool FabricPackets::post_receives() {
    while (!to_post_.empty()) {
        Slot *slot = to_post_.back();
        if (fi_recv(endpoint_.get(), slot->bytes, slot_bytes_, memory(), FI_ADDR_UNSPEC, &slot->context) != 0)
            return false;
        to_post_.pop_back();
    }
    return true;
}

// Lends a packet to the caller of receive(). False if the packet was one of the provider's own, without
// payload.
bool FabricPackets::lend(const fi_cq_msg_entry &received, Arrived &packet) {
    auto *slot = static_cast<Slot *>(received.op_context);
    to_post_.push_back(slot);
    if (received.len <= prefix_) return false;
    packet = {slot->bytes + prefix_, received.len - prefix_};
    return true;
}

// Lends the packets that have arrived. Returns their number, or -errno.
int FabricPackets::take(Arrived *list, int most) {
    int lent = 0;
    while (lent < most) {
        fi_cq_msg_entry received[batch];
        ssize_t count =
            fi_cq_read(arrived_.get(), received, std::min(batch, static_cast<size_t>(most - lent)));
        if (count == -FI_EAGAIN || count == 0) break;
        if (count == -FI_EAVAIL) {
            Slot *failed = failed_one(arrived_.get());
            if (!failed) return lent ? lent : -EIO;
            to_post_.push_back(failed);
            continue;
        }
        if (count < 0) return lent ? lent : static_cast<int>(count);
        for (ssize_t i = 0; i < count; ++i) lent += lend(received[i], list[lent]);
    }
    counts_.received += static_cast<uint64_t>(lent);
    return lent;
}

int FabricPackets::receive(Arrived *list, int most) {
    post_receives();
    int lent = take(list, most);
    if (lent == 0 && !prepare_sleep()) lent = take(list, most);
    if (lent > 0) may_sleep_ = false;
    return lent;
}

uint64_t FabricPackets::now_ns() { return clock_ns(); }

// Prepares for a sleep at the descriptor. Called when nothing has arrived. False if something has arrived
// meanwhile. If it is not certain that the provider will wake a sleeper, starts the timer.
bool FabricPackets::prepare_sleep() {
    bool posted = post_receives(), over = timer_due_ns_ != 0 && clock_ns() >= timer_due_ns_;
    if (wakes_ && !may_sleep_) {
        fid *queue = &arrived_->fid;
        may_sleep_ = fi_trywait(fabric_.get(), &queue, 1) == 0;
    }
    bool sure = may_sleep_ && posted;
    if (!sure && (over || timer_due_ns_ == 0)) set_timer(ask_again_after_ns);
    else if (over) set_timer(0);
    return may_sleep_ || !wakes_;
}

void FabricPackets::ask_again() {
    if (timer_due_ns_ == 0 || clock_ns() >= timer_due_ns_) set_timer(ask_again_after_ns);
}

std::string FabricPackets::describe() const {
    std::string text = "libfabric " + library_.version_text() + ", provider " +
                       info_.list->fabric_attr->prov_name + ", packets of " + std::to_string(largest_) +
                       " bytes";
    if (prefix_) text += " behind " + std::to_string(prefix_) + " of the provider's";
    if (region_) text += ", " + std::to_string((slots_.size() * slot_bytes_) >> 10) + " KiB registered";
    if (uint64_t dropped = counts_.too_long) text += ", " + std::to_string(dropped) + " too long";
    if (uint64_t dropped = counts_.refused)
        text += ", " + std::to_string(dropped) + " refused by the provider";
    if (uint64_t dropped = counts_.failed) text += ", " + std::to_string(dropped) + " failed there";
    return text;
}

}  // namespace lanyard
