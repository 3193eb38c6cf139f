// Which of a peer's addresses its connection should use. One object for each peer with several addresses. It
// receives what was measured and returns what to do. It uses no sockets and no clock.
//
// The rule:
// - The first address that answers carries the first messages, at once. Nothing is measured before bulk fills
//   that connection: if the program is the limit, another address would gain nothing.
// - Then the rate of the connection is taken from the kernel (samples, below). The other addresses are
//   measured, all at once, by connections of their own that carry nothing of the program (meter.h). The job
//   continues meanwhile on the connection that it has. An address that is slow or dead, belongs to another
//   machine or drops large packets thus costs the job nothing. A trial with the job's own bulk would cost the
//   time of that trial and, twice, what lay in the connection that was given up for it.
// - An address that gives `clearly_better` times as much takes the connection over: it is made anew, by that
//   address alone. When enough bulk has been sent that way, the rate is compared once more, and a connection
//   that turned out slower than the previous one is moved back for good.
// - The result holds for later connections too: the last address is dialed before the others. Addresses are
//   measured again at most once, if a broken connection was restored by another address. A link is thus moved
//   a few times in its life, and then never again.
// Both sides may choose at once, each for what it sends. The limits are the same, and the last move stands.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/sockets.h"

namespace lanyard {


// The rate of one connection, from samples: the median of the latest ones, since single samples vary as much
// as the queues on their way.
class RateSamples {
public:
    static constexpr size_t enough = 8;

    explicit RateSamples(uint64_t bytes_between) : bytes_between_(bytes_between) {}
    // A sample that shows nothing new is not taken.
    void add(const Sockets::Traffic &traffic);
    bool complete() const { return full_.size() >= enough; }
    // The program was the limit, again and again.
    bool idle() const { return held_back_ >= 8 * enough; }
    // In bytes/s. If the program was the limit in all samples: the greatest of them, which is less than the
    // connection may give; 0: nothing is known.
    uint64_t rate() const;
    void clear() { *this = RateSamples(bytes_between_); }

private:
    uint64_t bytes_between_;
    std::vector<uint64_t> full_;  // the latest `enough`
    uint64_t greatest_held_back_ = 0, acked_ = 0;
    size_t held_back_ = 0, next_ = 0;
};

class AddressChoice {
public:
    // The result for one address.
    struct Found {
        Address address;    // the peer's
        Address own;        // by which the kernel reached it; version 0: not reached
        uint64_t rate = 0;  // bytes/s; 0: none
        std::string trouble;
    };

    AddressChoice(const std::vector<Address> &addresses, uint64_t bytes_between_samples);

    // There is a new connection to the peer, by this address of it.
    void connected(const Address &address, const Address &own);
    // The connection that to_move_to() requested cannot be made. The present one stays.
    void not_moved();
    // Would a sample be used?
    bool samples_wanted() const { return stage_ == Stage::sampling || stage_ == Stage::proving; }
    // A sample of the present connection, while bulk flows. When this completes its rate, to_measure() or
    // to_move_to() may return something.
    void sample(const Sockets::Traffic &traffic);
    // The other addresses, once. measured() must then be called for each.
    std::vector<Address> to_measure();
    void measured(const Found &found);
    // The address by which the connection should be made anew, once.
    std::optional<Address> to_move_to();
    // Nothing more is to be found out for now, and report() has not reported it yet.
    bool to_report() const { return stage_ == Stage::settled && asked_ == 0 && !reported_; }
    // "by 10.1.0.2 (eth0, 118 MB/s); 10.2.0.2 (eth1) gave 11.8 MB/s, 172.17.0.1 did not answer: ..."; what is
    // known so far.
    std::string report(const std::vector<Interface> &own);
    bool reported() const { return reported_; }
    bool several() const { return all_.size() > 1; }

private:
    // moving: until the connection is made by the requested address. proving: it was made, and its rate is
    // being taken.
    enum class Stage { sampling, measuring, moving, proving, settled };
    Found *find(const Address &address);
    void enter(Stage stage);
    void look_for_better();

    std::vector<Found> all_;
    Stage stage_ = Stage::sampling;
    RateSamples samples_;
    Found now_;     // what the connection uses; its address may be none of those published
    Found before_;  // what it used before it was moved
    size_t asked_ = 0;
    std::optional<Address> target_;  // where it is to move
    bool told_ = false;              // to_move_to() has returned it
    bool may_begin_again_ = true, may_move_back_ = true, reported_ = false;
};

}  // namespace lanyard
