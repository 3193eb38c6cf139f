// See exchange_run.h.
#include "coll/shm/exchange_run.h"

#include "coll/shm/packing.h"
#include "coll/shm/peer_memory.h"

namespace lanyard {

using Among = Exchange::Among;

void ExchangeRun::forget_earlier_use() {
    used_before_ = got_on_ = false;
    all_done_ = {};
    own_.forget();
    taking_.forget();
}

void ExchangeRun::tell_posted(const ExchangePlace &place) const {
    const Exchange &exchange = place.exchange;
    const Team &team = place.team;
    int first = exchange.wakes == Among::root     ? exchange.root
                : exchange.wakes == Among::higher ? team.index + 1
                                                  : 0;
    int last = exchange.wakes == Among::root ? first + 1 : exchange.wakes == Among::none ? 0 : team.size;
    if (place.any_asleep(first, last)) wake_for_post(place, first, last);
}

// Wakes the ranks that wait for this rank's post, if this rank is the last rank for which they wait.
[[gnu::noinline]] void ExchangeRun::wake_for_post(const ExchangePlace &place, int first, int last) const {
    const Exchange &exchange = place.exchange;
    const Team &team = place.team;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int end = 0;  // every rank below `end` has posted, or need not post
    while (end < team.size && (place.area.has_posted(end, generation_) ||
                               (exchange.wakes == Among::root && end == exchange.root)))
        ++end;
    bool awaits_only_this = exchange.wakes == Among::everyone && exchange.wants == Among::none;
    if (exchange.wakes == Among::higher) last = end;
    else if (end < team.size && !awaits_only_this && !check_.disagrees()) return;
    place.wake_all(first, last);
}

bool ExchangeRun::all_there(const ExchangePlace &place) {
    Team &team = place.team;
    const NodeArea &area = place.area;
    const Exchange &exchange = place.exchange;
    if (exchange.wants == Among::none) return true;
    if (exchange.wants == Among::root) {
        if (!area.has_posted(exchange.root, generation_)) return false;
        check_.compare(exchange.root, area.slot(exchange.root, generation_).call());
        return true;
    }
    int end = exchange.wants == Among::lower ? team.index : team.size;
    for (; next_ < end; ++next_) {
        // This rank does not read its own slot, because after the store another processor may hold the slot's
        // cache line.
        if (next_ == team.index) continue;
        if (!area.has_posted(next_, generation_)) return false;
        // The ranks disagree, so some of them will never post for this use.
        if (!check_.compare(next_, area.slot(next_, generation_).call())) return true;
    }
    if (end == team.size) learn_who_is_done(place, generation_, area.payload_bytes());
    return true;
}

[[gnu::always_inline]] inline void ExchangeRun::end_pass(const ExchangePlace &place, const ShortUse &use) {
    if (posts_alone(place.exchange)) check_.remember_alone(place, generation_);
    if (place.exchange.wants == Among::everyone) learn_who_is_done(place, generation_, use.bytes());
    tell_done_through(place, generation_);
    state_ = State::done;
}

// Records this rank's call. Other ranks read these records seldom but regularly, so the store may have to
// wait for the cache line, and later stores wait behind it. The post is therefore stored first.
[[gnu::always_inline]] inline void ExchangeRun::tell_call(const AreaTeam &place) const {
    place.area.calls(place.team.index).tell(generation_, check_.own());
}

// Does what advance() does, without the steps that a short use does not need. Returns false if advance() must
// continue. One reason is that this rank cannot begin yet: it is not done with all earlier uses, some rank
// requests data (NodeArea::asking), or the slot is not free. The other reason is that a post is missing or
// does not match. In that case advance() takes all data again, and writes this rank's post only if pass() has
// left it out (ShortUse::posts).
bool ExchangeRun::pass(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers) {
    const Exchange &exchange = place.exchange;
    Team &team = place.team;
    const NodeArea &area = place.area;
    if (team.node_use.done_through + 1 != generation_ || area.asking().load(std::memory_order_relaxed))
        return false;
    bool posts = use.posts(exchange);
    if (posts) {
        if (!reached(generation_ - area.uses_apart(use.bytes()), team.node_use.known_done)) return false;
        use.post(place, generation_, check_.own(), buffers);
    }
    tell_call(place);
    use.keep_own(buffers);
    check_.compare_alone(place, exchange.wants != Among::none);
    bool taken = (exchange.wants == Among::none && exchange.take == Exchange::Take::nothing) ||
                 use.take(place, generation_, check_.own(), buffers);
    if (exchange.wakes != Among::none) tell_posted(place);
    if (!taken || check_.disagrees()) {
        if (posts || !exchange.posts) state_ = State::waiting;
        return false;
    }
    end_pass(place, use);
    return true;
}

bool ExchangeRun::pass_on(const ExchangePlace &place, const ShortUse &use, const ShortUse::Buffers &buffers) {
    if (!use.all_posted(place, generation_) || !use.take(place, generation_, check_.own(), buffers))
        return false;
    end_pass(place, use);
    return true;
}

// Posts this rank's contribution. False: there is no room yet.
bool ExchangeRun::post(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    bool room = generation_ - task.team.node_use.done_through <= most_uses_ahead &&
                (!exchange.posts || own_.has_room(task, generation_, all_done_));
    if (room && exchange.posts) {
        own_.write(task, generation_, check_.own());
        got_on_ |= own_.by_stage();
    }
    tell_call(task);
    if (!room) return false;
    if (exchange.own_to.type) copy(task.buffer(exchange.own_from), task.buffer(exchange.own_to));
    check_.compare_alone(task, exchange.wants != Among::none);
    return true;
}

bool ExchangeRun::take(const ExchangeTask &task) {
    bool whole = taking_.take({task, generation_, own_.by_stage(), goes_aside(task.exchange), check_});
    got_on_ |= taking_.got_on();
    if (!whole) return false;
    // This rank is done with the posts of others, although others are perhaps not yet done with this rank's
    // post.
    if (posts_alone(task.exchange)) check_.remember_alone(task, generation_);
    tell_done(task, generation_);
    return true;
}

bool ExchangeRun::leave(const ExchangeTask &task) {
    const Exchange &exchange = task.exchange;
    // A root's own contribution is posted too, but no other rank waits for it or reads it.
    bool is_read = exchange.awaits_readers && exchange.wakes != Among::none;
    bool awaits = own_.at_address() && is_read && !check_.disagrees();
    if (check_.disagrees()) own_.give_up();
    if (!own_.is_whole() || (awaits && !all_done_.all_done(task, generation_))) return false;
    if (awaits) own_.readers_done(task);
    if (goes_aside(exchange))
        pack_block(task.buffer(exchange.aside), task.buffer(exchange.into).base, exchange.into.bytes());
    return true;
}

bool ExchangeRun::advance(const ExchangeTask &task) {
    answer_askers(task);
    if (used_before_) forget_earlier_use();
    if (state_ == State::posting) {
        if (!post(task)) return false;
        bool there = all_there(task);
        if (task.exchange.posts) tell_posted(task);
        got_on_ |= own_.go_on(task);
        state_ = there ? State::taking : State::waiting;
    } else {
        got_on_ |= own_.go_on(task);
        if (state_ == State::waiting && all_there(task)) state_ = State::taking;
    }
    if (state_ == State::waiting) return false;
    if (state_ == State::taking) {
        if (!take(task)) return false;
        state_ = State::leaving;
    }
    if (state_ == State::leaving) {
        if (!leave(task)) return false;
        state_ = State::done;
    }
    return true;
}

void ExchangeRun::abandon(const AreaTeam &place) {
    if (state_ == State::done) return;
    if (used_before_) forget_earlier_use();
    own_.give_up();
    all_done_.give_up(place);
    taking_.abandon(place);
    bool can_tell = generation_ - place.team.node_use.done_through <= most_uses_ahead;
    if (state_ != State::leaving && can_tell) tell_done(place, generation_);
    state_ = State::done;
}

}  // namespace lanyard
