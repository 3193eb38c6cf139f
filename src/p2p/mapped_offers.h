// Decides which messages to one peer are offered although they could be sent eagerly, because the peer can
// map the memory that they are in (MPI_Alloc_mem within a node). An eager message is copied twice. The
// payload of such an offer (flag_mapped) is copied once, without the kernel: 16 KiB take a third of
// the time (bench/RESULTS.md).
//
// - As soon as the offer arrives, the receiver takes the payload from the sender's memory, and then answers
//   `finished`. If no receive is posted, it stores the payload. A program whose sends wait for each other
//   therefore continues, as with eager messages, because every waiting process takes what has arrived. (If
//   the receiver can neither map nor read the memory, the offer waits for its receive.)
// - The offer costs the credit of its payload, so the receiver stores no more than of eager messages. The
//   receiver owes the credit when the program has taken the payload.
// - A send is over only when the receiver has been inside MPI. If it took longer than patience_ns(), the next
//   `paused_for` such messages are sent eagerly. Then one is offered again.
// The posts of collectives use the same rule (coll/shm/own_post.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/mapped_offers_test.cc, tests/mpi/pt2pt/allocated.cc.
#pragma once

#include <cstdint>

namespace lanyard {

class MappedOffers {
public:
    // Shorter messages are as fast if they are sent eagerly, beside their envelope. Where ranks outnumber
    // processors, the sender of an offer may have to wait until its receiver gets a processor.
    static constexpr int64_t least_bytes = 1024, least_oversubscribed = 16384;
    // A receiver that is inside MPI may first have to copy earlier messages of this length, so it may take
    // longer if the message is long.
    static constexpr uint64_t patience_ns(int64_t bytes) { return 20'000 + static_cast<uint64_t>(bytes); }
    static constexpr uint32_t paused_for = 64;

    // At first, nothing is allowed.
    void allow(bool allowed, bool oversubscribed) {
        least_bytes_ = !allowed ? INT64_MAX : oversubscribed ? least_oversubscribed : least_bytes;
    }
    // Is a message of this length long enough? If not, nothing more need be asked.
    bool may_suit(int64_t bytes) const { return bytes >= least_bytes_; }
    // Called for each message that could be offered or sent eagerly. False: it is to be sent eagerly.
    bool next_is_offered() {
        if (paused_ == 0) return true;
        --paused_;
        return false;
    }
    // Called when a message of this length that was offered has been taken, so many nanoseconds after its
    // offer.
    void ended(int64_t bytes, uint64_t taken_after_ns) {
        if (taken_after_ns > patience_ns(bytes)) paused_ = paused_for;
    }

private:
    int64_t least_bytes_ = INT64_MAX;
    uint32_t paused_ = 0;
};

}  // namespace lanyard
