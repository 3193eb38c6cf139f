// Collectives through memory that all ranks of a team share (node_area.h). One use of the area (Exchange, schedule.h) is: write the own
// slot if there is something to say, then wait for the slots of one, of some or of all, then take what is in them. It never
// blocks: advance() is called again until it says done.
//
// Uses are numbered by generation, the same on all ranks; with s slots for each rank, generation g uses slot g mod s, and the same for
// payloads. They are written again only when every rank is done with their previous generation (uses_done.h).
//
// What does not fit into a slot stays in the program's buffer: the slot has its address, and who takes it reads it from there (peer_memory.h).
// So it is copied once, and nothing travels between processors that has not changed. Who posts an address is over only when every rank is
// done with the generation; the buffer may be written then. Or it goes by the stage, in streams (streams.h), by what has turned out faster
// (copy_choice.h).
//
// Its parts: what this rank posts (own_post.h), what it takes (taking.h), whether all do the same (call_check.h), its wait until all are done.
// Here is their order, and who is woken. Uses of a few bytes are done at once where nothing must be waited for (short_use.h).
//
// Why it ends: the oldest generation that some rank is not done with needs nothing of a later one. Room in its slot is there, as all
// are done with the ones before; each rank posts in it as soon as its own steps before allow that; and who has taken says so before it
// waits for others to have taken.
// Waking: who stores something for which others may wait looks whether one of them sleeps (area_team.h). If so, the last of those for whom it
// waits wakes it: after a full barrier each looks at the stores of the others, so at least one finds them all.
// Run by the executor, one for each exchange of a schedule; by the engine's owner.
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
    // Takes the next generation of the team's area; all ranks begin theirs in the same order.
    void begin(Team &team, uint32_t word, uint32_t number) {
        generation_ = ++team.node_use.started;
        check_.begin(word, number);
        next_ = 0;
        state_ = State::posting;
        used_before_ = true;
    }
    // Does all of it at once where nothing must be waited for. False: advance() does what is left.
    bool pass(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers);
    // True when done. A call copies a MiB or so and leaves the rest to the next one.
    bool advance(const ExchangeTask &task);
    // Not done, but got on: advance() may have left some to copy though nothing is missing.
    bool got_on() { return std::exchange(got_on_, false); }
    // Once done: what the ranks did that does not fit together, if anything.
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
    // A rank that posts and waits for none learns nothing of the others.
    static bool posts_alone(const Exchange &exchange) { return exchange.posts && exchange.wants == Exchange::Among::none; }
    bool goes_aside(const Exchange &exchange) const { return (own_.at_address() || own_.by_stage()) && exchange.aside.type; }

    uint32_t generation_ = 0;
    int next_ = 0;  // ranks below have posted
    State state_ = State::posting;
    CallCheck check_;
    // What is not needed for a few bytes.
    bool used_before_ = false;  // what follows is of an earlier use
    bool got_on_ = false;
    DoneWait all_done_;
    OwnPost own_;
    Taking taking_;
};

}  // namespace lanyard
