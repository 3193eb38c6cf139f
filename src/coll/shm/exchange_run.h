// Carries out one exchange of a schedule (Exchange, schedule.h) through memory that all ranks of a team share
// (node_area.h). A rank writes its slot if it has something to post, waits for the slots of one, some or all
// ranks, and takes what they contain. No function here blocks: the executor has one ExchangeRun for each
// exchange of a schedule, and calls advance() until it returns true. A use that is begun must end, by
// advance() or by abandon(), before the object is used again or destroyed.
//
// Each use of the area has a number, its generation, which is the same on all ranks. If each rank has s
// slots, generation g uses slot g mod s. The memory for payloads is used in turn likewise. Slot and payload
// memory are written again only when every rank is done with the generation that used them before
// (uses_done.h).
//
// A contribution that does not fit in a slot stays in the program's buffer, and so does a shorter one that
// the other ranks can map (own_post.h). The slot contains its address, and the other ranks read the
// contribution from there (peer_memory.h), so that it is copied once. A rank that posts an address completes
// only when every rank is done with the generation, because the program may write the buffer afterwards.
// (Exchange::awaits_readers states when this wait is not needed.) Alternatively, a long contribution travels
// through the stage, in streams (streams.h), if this has turned out to be faster (copy_choice.h).
//
// The parts of an exchange: own_post.h writes what this rank posts, taking.h takes what others have posted,
// call_check.h checks whether all ranks make the same call, and uses_done.h waits until all ranks are done.
// This file calls them in order and decides which ranks are woken. A use of less than 1 KiB is done at once
// if it need not wait for any rank (short_use.h).
//
// Why every exchange ends: consider the oldest generation with which some rank is not done. It depends on no
// later generation. Its slots are free, because all ranks are done with the earlier generations. Each rank
// posts as soon as the earlier steps of its own schedule allow this. And a rank that has taken its data
// states this before it waits for others to take theirs.
//
// Waking: a rank that stores something for which others may wait checks whether one of them sleeps
// (area_team.h). A sleeper is woken by the last of the ranks for which it waits. To find out whether it is
// the last of them, each of these ranks executes a sequentially consistent memory fence after its store, and
// then looks for the stores of the others. At least one rank therefore sees all stores.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/node_area_test.cc, tests/unit/coll/moves_test.cc.
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
    // Begins the next use of the team's area, with the next generation. All ranks begin their uses in the
    // same order.
    void begin(Team &team, uint32_t word, uint32_t number) {
        generation_ = ++team.node_use.started;
        check_.begin(word, number);
        next_ = 0;
        state_ = State::posting;
        used_before_ = true;
    }
    // Carries out a short use at once, unless it must wait for a rank. False: advance() must be called, and
    // continues from what is done.
    bool pass(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers);
    // After pass() has returned false: does this use lack nothing but posts of others? Then pass_on() looks
    // for them once more, and completes the use if they are there. False: they are not, or only advance() can
    // continue.
    bool waits_for_posts() const { return state_ == State::waiting && !check_.disagrees(); }
    bool pass_on(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers);
    // Continues as far as possible without waiting. True: the use is done. One call puts at most about 1
    // MiB into the stage, takes at most about 1 MiB of other ranks' data, and leaves the rest to the next
    // call. Copies within this rank are not divided.
    bool advance(const ExchangeTask &task);
    // Ends a use that this rank will not carry out any further; does nothing if the use is done. From then on
    // this rank counts as done with the use, and it does not count as waiting. If it has more uses under way
    // than it can record out of order (most_uses_ahead), it does not count as done, and its later uses wait
    // in vain.
    void abandon(const AreaTeam &place);
    // Has a call of advance() moved data since the last call of got_on()? Then the next advance() may be able
    // to go on at once, although the last call returned false.
    bool got_on() { return std::exchange(got_on_, false); }
    // To be read once the use is done: the mismatch between the calls or contributions of ranks, if any.
    const CallCheck &check() const { return check_; }

private:
    enum class State : uint8_t { posting, waiting, taking, leaving, done };

    void forget_earlier_use();
    bool post(const ExchangeTask &task);
    bool all_there(const ExchangePlace &place);
    void tell_call(const AreaTeam &place) const;
    void end_pass(const ExchangePlace &place, const ShortUse &use);
    void tell_posted(const ExchangePlace &place) const;
    void wake_for_post(const ExchangePlace &place, int first, int last) const;
    bool take(const ExchangeTask &task);
    bool leave(const ExchangeTask &task);
    // Does this rank post without waiting for any post? It then cannot compare its call with those of the
    // others at once.
    static bool posts_alone(const Exchange &exchange) {
        return exchange.posts && exchange.wants == Exchange::Among::none;
    }
    bool goes_aside(const Exchange &exchange) const {
        return (own_.at_address() || own_.by_stage()) && exchange.aside.type;
    }

    uint32_t generation_ = 0;
    int next_ = 0;  // every rank below next_ is known to have posted
    State state_ = State::done;
    CallCheck check_;
    // The members below serve only uses that pass() does not complete.
    bool used_before_ = false;  // the members below still have the state of an earlier use
    bool got_on_ = false;
    DoneWait all_done_;
    OwnPost own_;
    Taking taking_;
};

}  // namespace lanyard
