// Decides which of a peer's addresses the connection to the peer should use. One object serves one peer with
// several addresses. It receives what was measured and returns what to do. It uses no sockets and no clock.
//
// The rule:
// - The first address that answers carries the first messages, at once. Nothing is measured before bulk fills
//   that connection. If the program sends too little to fill it, another address would bring no gain.
// - Then the rate of the connection is taken from the kernel (samples, below). The other addresses are
//   measured, all at once, by connections of their own that carry nothing of the program (meter.h). Meanwhile
//   the job continues on its present connection. An address that is slow or dead, belongs to another machine
//   or drops large packets thus costs the job nothing. A trial with the job's own bulk would cost more: the
//   time of the trial, and the bulk that is lost when a connection is given up, once on the way there and
//   once on the way back.
// - If another address gives at least `clearly_better` times the rate (address_choice.cc), the connection
//   moves there: it is made anew, by that address alone. When enough bulk has been sent over the new
//   connection, its rate is compared with that of the old one. If the new connection is slower, the link
//   moves back for good.
// - The result holds for later connections too: the last address is dialed before the others. If a broken
//   connection is restored by another address, the addresses are measured again, but only the first time this
//   happens. A link is thus moved a few times in its life, and then never again.
// Both sides may choose at once, each for what it sends. Both use the same limits, and the last move stands.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/sockets.h"

namespace lanyard {

// Computes the rate of one connection: the median of the latest samples, since single samples vary as much as
// the queues in the network.
class RateSamples {
public:
    static constexpr size_t enough = 8;

    explicit RateSamples(uint64_t bytes_between) : bytes_between_(bytes_between) {}
    // Ignores a sample that has no rate, or if fewer than `bytes_between` bytes were acknowledged since the
    // last sample that counted.
    void add(const Sockets::Delivery &delivery);
    bool complete() const { return full_.size() >= enough; }
    // Has the program, not the network, limited the rate in many samples?
    bool idle() const { return held_back_ >= 8 * enough; }
    // The rate in bytes/s; 0: nothing is known. If the program was the limit in all samples, this is the
    // greatest of them, and the connection may give more.
    uint64_t rate() const;
    void clear() { *this = RateSamples(bytes_between_); }

private:
    uint64_t bytes_between_;
    std::vector<uint64_t> full_;  // the latest `enough` samples
    uint64_t greatest_held_back_ = 0, acked_ = 0;
    size_t held_back_ = 0, next_ = 0;
};

class AddressChoice {
public:
    // The result for one address.
    struct Found {
        Address address;    // of the peer
        Address own;        // the local address by which the kernel reached it; version 0: not reached
        uint64_t rate = 0;  // bytes/s; 0: not known
        std::string trouble;
    };

    AddressChoice(const std::vector<Address> &addresses, uint64_t bytes_between_samples);

    // Called when there is a new connection to the peer, which uses `address` of the peer and `own` here.
    void connected(const Address &address, const Address &own);
    // Called if the connection that to_move_to() requested cannot be made. The present connection stays.
    void not_moved();
    // Would a sample be used?
    bool samples_wanted() const { return phase_ == Phase::sampling || phase_ == Phase::proving; }
    // Takes a sample of the present connection, while bulk flows. When there are enough samples for a rate,
    // to_measure() or to_move_to() may return something.
    void sample(const Sockets::Delivery &delivery);
    // Returns the other addresses, once, when they are to be measured. measured() must then be called for
    // each.
    std::vector<Address> to_measure();
    void measured(const Found &found);
    // Returns the address by which the connection should be made anew, once.
    std::optional<Address> to_move_to();
    // Is the choice made for now, and has report() not been called for it yet?
    bool to_report() const { return phase_ == Phase::settled && asked_ == 0 && !reported_; }
    // Describes what is known so far: "by 10.1.0.2 (eth0, 118 MB/s); 10.2.0.2 (eth1) gave 11.8 MB/s,
    // 172.17.0.1 did not answer: ...".
    std::string report(const std::vector<Interface> &own);
    bool reported() const { return reported_; }
    bool several() const { return all_.size() > 1; }

private:
    // moving: lasts until the connection is made by the requested address. proving: that connection is made,
    // and its rate is being measured.
    enum class Phase { sampling, measuring, moving, proving, settled };
    Found *find(const Address &address);
    void enter(Phase phase);
    void look_for_better();

    std::vector<Found> all_;
    Phase phase_ = Phase::sampling;
    RateSamples samples_;
    Found now_;     // the address that the connection uses; it may be none of the published ones
    Found before_;  // the address that the connection used before it was moved
    size_t asked_ = 0;
    std::optional<Address> target_;  // the address to which the connection is to move
    bool told_ = false;              // to_move_to() has returned it
    bool may_begin_again_ = true, may_move_back_ = true, reported_ = false;
};

}  // namespace lanyard
