// See sent.h.
#include "path/dgram/sent.h"

#include <algorithm>

namespace lanyard::dgram {

void SentPackets::add(Records &records, const SentPacket &packet) {
    uint32_t index = records.take();
    records.at(index) = packet;
    records.at(index).next = none;
    (last_ == none ? first_ : records.at(last_).next) = index;
    last_ = index;
    in_flight_ += packet.bytes;
}

bool SentPackets::is_acknowledged(uint64_t number, uint64_t cumulative,
                                  const Acknowledgement &acknowledgement) {
    if (number < cumulative) return true;
    uint64_t distance = number - cumulative;
    const Range *end = acknowledgement.ranges + acknowledgement.count;
    const Range *after = std::upper_bound(acknowledgement.ranges, end, distance,
                                          [](uint64_t at, const Range &range) { return at < range.begin; });
    if (after == acknowledgement.ranges) return false;
    const Range &range = after[-1];
    return distance < uint64_t{range.begin} + range.length;
}

// Called when the record has left the list of outstanding packets.
void SentPackets::give_up(Records &records, uint32_t index) {
    highest_lost_ = std::max(highest_lost_, records.at(index).number);
    put_to_lost(records, index);
}

void SentPackets::put_to_lost(Records &records, uint32_t index) {
    SentPacket &packet = records.at(index);
    in_flight_ -= packet.bytes;
    if (packet.bulk_size) {
        uint32_t apart = index;
        if (packet.begin < packet.end) {
            apart = records.take();
            records.at(apart) = packet;
            records.at(apart).begin = records.at(apart).end = {};
            records.at(index).bulk_size = 0;
        }
        records.at(apart).next = none;
        (lost_bulk_.last == none ? lost_bulk_.first : records.at(lost_bulk_.last).next) = apart;
        lost_bulk_.last = apart;
        if (apart == index) return;
    }
    SentPacket &envelopes = records.at(index);
    uint32_t before = lost_envelopes_.last, after = none;
    if (before != none && envelopes.begin < records.at(before).begin)  // usually it belongs at the end
        for (before = none, after = lost_envelopes_.first; records.at(after).begin <= envelopes.begin;
             after = records.at(after).next)
            before = after;
    envelopes.next = after;
    (before == none ? lost_envelopes_.first : records.at(before).next) = index;
    if (after == none) lost_envelopes_.last = index;
}

uint32_t SentPackets::find_lost(Records &records, const RoundTrip &trip, PacketSize &size, uint64_t now_ns,
                                uint32_t &by_order) {
    uint32_t lost = 0, before = none;
    loss_due_ns_ = UINT64_MAX;
    for (uint32_t index = first_, next; index != none && records.at(index).number < highest_acknowledged_;
         index = next) {
        const SentPacket &packet = records.at(index);
        next = packet.next;
        bool order = packet.number + order_ <= highest_acknowledged_;
        uint64_t due_ns = packet.sent_ns + trip.loss_age_ns();
        if (!order && due_ns > now_ns) {
            loss_due_ns_ = std::min(loss_due_ns_, due_ns);
            before = index;
            continue;
        }
        by_order += order;
        ++lost;
        (before == none ? first_ : records.at(before).next) = next;
        if (last_ == index) last_ = before;
        size.lost(packet.bytes, now_ns);
        give_up(records, index);
    }
    return lost;
}

void SentPackets::give_up_oldest(Records &records, PacketSize &size, uint64_t now_ns) {
    uint32_t index = first_;
    size.lost(records.at(index).bytes, now_ns);
    first_ = records.at(index).next;
    if (first_ == none) last_ = none;
    give_up(records, index);
}

uint32_t SentPackets::give_up_all(Records &records, PacketSize &size) {
    uint32_t lost = 0;
    for (; first_ != none; ++lost) {
        uint32_t index = first_;
        size.not_sent(records.at(index).bytes);
        first_ = records.at(index).next;
        give_up(records, index);
    }
    last_ = none;
    return lost;
}

bool SentPackets::take_back(Records &records, uint64_t number) {
    if (last_ == none || records.at(last_).number != number) return false;
    uint32_t index = last_, before = none;
    for (uint32_t at = first_; at != index; at = records.at(at).next) before = at;
    (before == none ? first_ : records.at(before).next) = none;
    last_ = before;
    records.at(index).number = SentPacket::no_number;  // another packet will use the number
    put_to_lost(records, index);
    return true;
}

SentPacket *SentPackets::first_of(Records &records, Lost &list) {
    while (list.first != none && records.at(list.first).empty()) {
        uint32_t index = list.first;
        list.first = records.at(index).next;
        if (list.first == none) list.last = none;
        records.give(index);
    }
    return list.first == none ? nullptr : &records.at(list.first);
}

}  // namespace lanyard::dgram
