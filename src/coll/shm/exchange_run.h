// Collectives through memory that all ranks of a team share (node_area.h). One use of the area (Exchange,
// schedule.h) is: write this rank's slot if it has something to post, wait for the slots of one, some or all
// ranks, and take what they hold. It never blocks. The executor runs one for each exchange of a schedule and
// calls advance() until it reports that it is done.
//
// Uses are numbered by generation, the same on all ranks. With s slots for each rank, generation g uses slot
// g mod s, and likewise for payloads. Slot and payload are written again only when every rank is done with
// their previous generation (uses_done.h).
//
// A contribution that does not fit a slot stays in the program's buffer. The slot has its address, and the
// takers read it from there (peer_memory.h). It is thus copied once, and no unchanged data moves between
// processors. A rank that posts an address completes only when every rank is done with the generation,
// because the buffer may be written then. Or the contribution travels through the stage, in streams
// (streams.h), if this has turned out to be faster (copy_choice.h).
//
// Parts: what this rank posts (own_post.h), what it takes (taking.h), whether all make the same call
// (call_check.h), and its wait until all are done. This file has their order, and decides which ranks are
// woken. Uses of a few bytes are done at once if nothing must be waited for (short_use.h).
//
// Why it ends: the oldest generation that some rank is not done with depends on no later one. Its slots are
// free, because all are done with the earlier ones. Each rank posts as soon as its own earlier steps allow
// it. And a rank that has taken its data states this before it waits for others to take theirs.
// Waking: a rank that stores something for which others may wait checks whether one of them sleeps
// (area_team.h). If so, the last of those for which it waits wakes it. After a full barrier each of them
// checks the stores of the others, so at least one finds all of them.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <utility>

#include "coll/shm/call_check.h"
#include "coll/shm/exchange_task.h"
#include "coll/shm/own_post.h"
#include "coll/shm/short_use.h"
#include "coll/shm/taking.h"
#include "coll/shm/uses_done.h"

namespace lanyard {

class ExchangeRun {
public:
    // Takes the next generation of the team's area. All ranks begin theirs in the same order.
    void begin(Team &team, uint32_t word, uint32_t number) {
        generation_ = ++team.node_use.started;
        check_.begin(word, number);
        next_ = 0;
        state_ = State::posting;
        used_before_ = true;
    }
    // Does everything at once if nothing must be waited for. False: advance() does what is left.
    bool pass(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers);
    // True when done. One call copies about 1 MiB and leaves the rest to the next call.
    bool advance(const ExchangeTask &task);
    // Has it made progress without being done? advance() may have left some data to copy although nothing is
    // missing.
    bool got_on() { return std::exchange(got_on_, false); }
    // Once done: which calls or contributions of the ranks did not match, if any.
    const CallCheck &check() const { return check_; }

private:
    enum class State : uint8_t { posting, waiting, taking, leaving, done };

    void forget_earlier_use();
    bool post(const ExchangeTask &task);
    bool all_there(const ExchangePlace &place);
    void tell_posted(const ExchangePlace &place) const;
    void wake_for_post(const ExchangePlace &place, int first, int last) const;
    bool take(const ExchangeTask &task);
    bool leave(const ExchangeTask &task);
    // A rank that posts and waits for none learns nothing about the others.
    static bool posts_alone(const Exchange &exchange) {
        return exchange.posts && exchange.wants == Exchange::Among::none;
    }
    bool goes_aside(const Exchange &exchange) const {
        return (own_.at_address() || own_.by_stage()) && exchange.aside.type;
    }

    uint32_t generation_ = 0;
    int next_ = 0;  // all ranks below this one have posted
    State state_ = State::posting;
    CallCheck check_;
    // Only for uses that are not done at once.
    bool used_before_ = false;  // what follows belongs to an earlier use
    bool got_on_ = false;
    DoneWait all_done_;
    OwnPost own_;
    Taking taking_;
};

}  // namespace lanyard
