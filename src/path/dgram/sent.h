// Records what is in flight to a peer. Each packet has a record, which describes what the packet contained,
// without the bytes. The records of all flows lie in one slab, and each record is in one of the lists of its
// flow:
//
//   outstanding    sent and neither acknowledged nor given up, sorted by number
//   lost           given up; the contents wait to be cut anew into other packets. Envelopes and bulk have
//                  separate lists, so that neither waits for the other. In the list of envelopes, those that
//                  the receiver needs first are at the front
//
// Loss is detected (rules of RFC 9002):
// - by order: a packet whose number is higher by three or more was acknowledged. If packets are acknowledged
//   after they were given up, the network reorders more than that, and the number three is increased;
// - by time: a later packet was acknowledged, and this one is older than a round trip and an eighth;
// - by a probe: nothing was acknowledged for a long time. If a single packet is outstanding, it is given up,
//   so that the probe carries its contents. After two probes in a row without an answer, all outstanding
//   packets are given up (flow.cc).
// Giving a packet up too early does no harm, since the receiver drops what it has already. If the packet's
// acknowledgement arrives before its contents are sent again, they need not be sent. There is an exception:
// if this side has stated that a packet which it gave up is not worth waiting for (`move_on`), a cumulative
// number beyond the packet does not prove that the packet has arrived.
// Thread rule: the owner of the flow.
#pragma once

#include <compare>

#include "base/slab.h"
#include "path/dgram/packet.h"
#include "path/dgram/packet_size.h"
#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

// A place in the sequence of a flow's envelopes and their payloads.
struct Position {
    uint64_t sequence = 0;
    uint32_t offset = 0;  // within the payload
    auto operator<=>(const Position &) const = default;
};

struct SentPacket {
    // The number of a packet that was taken back; no acknowledgement names it.
    static constexpr uint64_t no_number = UINT64_MAX;
    uint64_t number = 0;
    uint64_t sent_ns = 0;
    Position begin, end;  // of the envelopes in the packet; if equal, there are none
    uint64_t bulk_offset = 0;
    uint32_t bulk_item = 0, bulk_size = 0;
    uint32_t bytes = 0;  // length of the packet
    uint32_t next = 0;

    bool empty() const { return begin >= end && bulk_size == 0; }
};

// Bulk that the program sends: `cut` bytes of it have been put into packets, `acknowledged` have arrived.
struct BulkItem {
    BulkHeader header;
    uint64_t size, token;
    uint64_t cut, acknowledged;
    uint32_t next;
};

class SentPackets {
public:
    using Records = Slab<SentPacket>;
    static constexpr uint32_t none = Records::none;
    static constexpr uint32_t usual_order = 3, most_order = 64;

    struct Found {
        uint32_t packets = 0, bytes = 0;    // newly acknowledged, and outstanding until now
        uint32_t too_early = 0;             // packets newly acknowledged that had been given up
        uint64_t highest = 0, sent_ns = 0;  // the highest number of `packets`, and when it was sent
    };

    uint32_t in_flight() const { return in_flight_; }
    bool outstanding() const { return first_ != none; }
    bool single() const { return first_ != none && first_ == last_; }
    uint64_t oldest(const Records &records) const { return records.at(first_).number; }
    bool has_lost() const { return lost_envelopes_.first != none || lost_bulk_.first != none; }
    uint64_t highest_lost() const { return highest_lost_; }
    // Notes that the peer is informed that no packet before this number is worth waiting for.
    void tell_move_on(uint64_t below) { move_on_below_ = below; }
    // When the next packet will count as lost by time; UINT64_MAX: none is known.
    uint64_t loss_due_ns() const { return loss_due_ns_; }

    void add(Records &records, const SentPacket &packet);
    // Removes what has arrived and calls received(record) for each.
    template <class Received>
    Found acknowledge(Records &records, uint64_t cumulative, const Acknowledgement &acknowledgement,
                      Received received);
    // Gives up the packets that are lost by order or time, and reports each to `size`. Returns their number;
    // adds the number of those lost by order to `by_order`.
    uint32_t find_lost(Records &records, const RoundTrip &trip, PacketSize &size, uint64_t now_ns,
                       uint32_t &by_order);
    // Gives up the oldest outstanding packet, which must exist, and reports it to `size`.
    void give_up_oldest(Records &records, PacketSize &size, uint64_t now_ns);
    // Gives up all outstanding packets, whose fate is unknown. Returns their number.
    uint32_t give_up_all(Records &records, PacketSize &size);
    // Takes back the newest packet, if it has this number: it was not sent after all, and its contents wait
    // to be cut anew. Returns false if the newest outstanding packet has another number.
    bool take_back(Records &records, uint64_t number);

    // Return the first record of envelopes, or of bulk, that waits to be cut anew, or nullptr. Empty records
    // are dropped.
    SentPacket *first_lost(Records &records) {
        return lost_envelopes_.first == none ? nullptr : first_of(records, lost_envelopes_);
    }
    SentPacket *first_lost_bulk(Records &records) {
        return lost_bulk_.first == none ? nullptr : first_of(records, lost_bulk_);
    }
    template <class Drop>
    void drop_all(Records &records, Drop drop);

private:

    struct Lost {
        uint32_t first = none, last = none;
    };

    void give_up(Records &records, uint32_t index);
    SentPacket *first_of(Records &records, Lost &list);
    template <class Received>
    void acknowledge_lost(Records &records, Lost &list, uint64_t cumulative,
                          const Acknowledgement &acknowledgement, Found &found, Received received);
    void put_to_lost(Records &records, uint32_t index);
    static bool is_acknowledged(uint64_t number, uint64_t cumulative, const Acknowledgement &acknowledgement);

    uint32_t first_ = none, last_ = none;  // list of outstanding packets
    Lost lost_envelopes_, lost_bulk_;
    uint32_t in_flight_ = 0;  // bytes of outstanding packets
    uint32_t order_ = usual_order;
    uint64_t highest_acknowledged_ = 0, highest_lost_ = 0, move_on_below_ = 0;
    uint64_t loss_due_ns_ = UINT64_MAX;
};

template <class Received>
SentPackets::Found SentPackets::acknowledge(Records &records, uint64_t cumulative,
                                            const Acknowledgement &acknowledgement, Received received) {
    Found found;
    uint64_t end = cumulative;
    if (acknowledgement.count) {
        const Range &last = acknowledgement.ranges[acknowledgement.count - 1];
        end = cumulative + last.begin + last.length;
    }
    uint32_t before = none;
    for (uint32_t index = first_, next; index != none && records.at(index).number < end; index = next) {
        SentPacket &packet = records.at(index);
        next = packet.next;
        if (!is_acknowledged(packet.number, cumulative, acknowledgement)) {
            before = index;
            continue;
        }
        (before == none ? first_ : records.at(before).next) = next;
        if (last_ == index) last_ = before;
        in_flight_ -= packet.bytes;
        ++found.packets;
        found.bytes += packet.bytes;
        found.highest = packet.number;
        found.sent_ns = packet.sent_ns;
        received(packet);
        records.give(index);
    }
    if (found.highest > highest_acknowledged_) highest_acknowledged_ = found.highest;
    acknowledge_lost(records, lost_envelopes_, cumulative, acknowledgement, found, received);
    acknowledge_lost(records, lost_bulk_, cumulative, acknowledgement, found, received);
    return found;
}

template <class Received>
void SentPackets::acknowledge_lost(Records &records, Lost &list, uint64_t cumulative,
                                   const Acknowledgement &acknowledgement, Found &found, Received received) {
    uint32_t before = none;
    for (uint32_t index = list.first, next; index != none; index = next) {
        SentPacket &packet = records.at(index);
        next = packet.next;
        bool told = packet.number >= cumulative || packet.number >= move_on_below_;
        if (!told || !is_acknowledged(packet.number, cumulative, acknowledgement)) {
            before = index;
            continue;
        }
        (before == none ? list.first : records.at(before).next) = next;
        if (list.last == index) list.last = before;
        ++found.too_early;
        if (order_ < most_order) ++order_;
        received(packet);
        records.give(index);
    }
}

template <class Drop>
void SentPackets::drop_all(Records &records, Drop drop) {
    for (uint32_t *list : {&first_, &lost_envelopes_.first, &lost_bulk_.first})
        while (*list != none) {
            uint32_t index = *list;
            *list = records.at(index).next;
            drop(records.at(index));
            records.give(index);
        }
    last_ = lost_envelopes_.last = lost_bulk_.last = none;
    in_flight_ = 0;
}

}  // namespace lanyard::dgram
