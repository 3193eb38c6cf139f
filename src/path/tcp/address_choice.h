// Which of a peer's addresses its connection should go by: kept for each peer while it has several, told of what was measured, and asked
// what to do. Pure: no sockets, no clock.
//
// The rule
// - The first address that answers carries the first messages, at once. Nothing is measured before bulk fills that connection: where the
//   program is what limits it, another address would win nothing.
// - Then the rate of the connection is taken from the kernel (samples, below), and the other addresses are measured, all at once, by
//   connections of their own that carry nothing of the program (meter.h). The job goes on meanwhile on the connection it has. So an address
//   that is slow, dead, somebody else's or swallows large packets costs the job nothing; a trial of the job's own bulk on it would cost the
//   time of that trial and, twice, what lay in the connection that was given up for it.
// - An address that gives `clearly_better` times as much takes the connection over: it is made anew, by that address alone. When enough bulk has
//   gone that way the rate is compared once more, and a connection that turned out slower than the one before is moved back, for good.
// - What was found holds for later connections too: the last address is dialed before the others. Measured again is at most once,
//   when a connection that broke was made again by another address. So a link is moved a few times in its life, and then never again.
// Both sides may choose at once, for what each of them sends; the bounds are the same, and the last move stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/sockets.h"

namespace lanyard {


// The rate of one connection, from samples: the median of the latest, as single ones are as uneven as the queues they went through.
class RateSamples {
public:
    static constexpr size_t enough = 8;

    explicit RateSamples(uint64_t bytes_between) : bytes_between_(bytes_between) {}
    // Taken or not: those that tell nothing new are not.
    void add(const Sockets::Traffic &traffic);
    bool complete() const { return full_.size() >= enough; }
    // The program was what limited it, again and again.
    bool idle() const { return held_back_ >= 8 * enough; }
    // Bytes/s. While all samples were held back: the greatest of them, which is less than what the connection may give; 0: nothing known.
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
    // What one address gave.
    struct Found {
        Address address;    // the peer's
        Address own;        // by which the kernel reached it; version 0: not reached
        uint64_t rate = 0;  // bytes/s; 0: none
        std::string trouble;
    };

    AddressChoice(const std::vector<Address> &addresses, uint64_t bytes_between_samples);

    // There is a new connection to the peer, by this address of it.
    void connected(const Address &address, const Address &own);
    // The connection that to_move_to() asked for cannot be made; the one that there is stays.
    void not_moved();
    // A sample is of use.
    bool samples_wanted() const { return stage_ == Stage::sampling || stage_ == Stage::proving; }
    // Of the present connection, while bulk flows. When that completes its rate, to_measure() or to_move_to() may have something.
    void sample(const Sockets::Traffic &traffic);
    // The other addresses, once; each must then be told of with measured().
    std::vector<Address> to_measure();
    void measured(const Found &found);
    // The address by which the connection should be made anew, once.
    std::optional<Address> to_move_to();
    // Nothing more is to be found out for now, and report() has not told of it yet.
    bool to_report() const { return stage_ == Stage::settled && asked_ == 0 && !reported_; }
    // "by 10.1.0.2 (eth0, 118 MB/s); 10.2.0.2 (eth1) gave 11.8 MB/s, 172.17.0.1 did not answer: ..."; of what is known so far.
    std::string report(const std::vector<Interface> &own);
    bool reported() const { return reported_; }
    bool several() const { return all_.size() > 1; }

private:
    // moving: until the connection is made by the address asked for. proving: it was made, and its rate is taken.
    enum class Stage { sampling, measuring, moving, proving, settled };
    Found *find(const Address &address);
    void enter(Stage stage);
    void look_for_better();

    std::vector<Found> all_;
    Stage stage_ = Stage::sampling;
    RateSamples samples_;
    Found now_;      // what the connection goes by; its address may be none of those published
    Found before_;   // what it went by before it was moved
    size_t asked_ = 0;
    std::optional<Address> target_;  // where it is to move, and
    bool told_ = false;              // to_move_to() has said so
    bool may_begin_again_ = true, may_move_back_ = true, reported_ = false;
};

}  // namespace lanyard
