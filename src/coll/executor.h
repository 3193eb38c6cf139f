// Runs schedules (schedule.h) on the messenger. One executor serves a runtime, for blocking, nonblocking and
// persistent operations alike: take a Collective, write its plan (plan.h), start it, then wait for its
// completion or get a continuation. It never blocks. A step starts when all of its predecessors are done.
// Steps that become ready while messages arrive run as a Task of the engine, so nothing recurses. Exchanges
// that must wait are polled on every turn of the engine.
//
// It detects that ranks call different collectives. Each message and each post in the node area states to
// which one it belongs (agreement.h). A rank that waits long reports its call to the ranks for which it
// waits, and a rank that has already left that place in the sequence answers. A rank that learns both calls
// waits neither for this rank nor for the one that called something else.
//
// Thread rule: the owner of the engine, except where a method says otherwise.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/spin_lock.h"
#include "coll/collective.h"
#include "coll/early_messages.h"
#include "coll/select.h"
#include "coll/team.h"
#include "p2p/messenger.h"

namespace lanyard {

class Executor : private CollectiveObserver, private Handler, private Task {
public:
    // `reach` may be nullptr if ranks never sleep and no team has direct reads.
    Executor(Messenger &messenger, NodeReach *reach);
    ~Executor();
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    Messenger &messenger() { return messenger_; }
    Engine &engine() { return messenger_.engine(); }
    const Selection &selection() const { return selection_; }
    Selection &selection() { return selection_; }

    // Takes a collective with an empty schedule. The caller gives it back when it is complete and its error
    // has been taken.
    Collective *take() {
        Collective *collective = spare_;
        if (!collective) return new Collective(*this);
        spare_ = collective->next_spare_;
        return collective;
    }
    void give_back(Collective *collective);
    // Gives back one whose pass() has done all the work.
    void give_back_passed(Collective *collective) {
        collective->plan.clear_short();
        collective->next_spare_ = spare_;
        spare_ = collective;
    }
    // Starts the plan as the next collective of the team. Buffers, datatypes, operation and team must live
    // until completion. Afterwards the same plan may be started again (persistent operations).
    void start(Collective &collective, Team &team) { collective.start(team); }
    // Polls for a moment a started collective that waits for posts. If they arrive at all they arrive soon,
    // and this costs less than waiting.
    void look_for_posts(Collective &collective) {
        if (!collective.polled_.empty() && collective.call_.team().processors == 0)
            collective.look_for_posts();
    }
    // Waits for a started collective, gives it back, and returns its error.
    Error finish(Collective *collective);
    // To be called once all ranks have met in the last collective of a team and earlier messages have been
    // handled. Error: a message belongs to a collective in whose place this rank called something else.
    // Nothing else would report this for collectives that wait for no rank.
    Error judge_early_messages(const Team &team);

    // From the moment that the team has a context, others may query what this rank has called on it. [any
    // thread]
    void know(const Team &team);
    void forget(const Team &team);

private:
    friend class Collective;
    static constexpr uint64_t alarm_every_ns = 1'000'000'000;

    void stored(const Envelope &envelope) override { heard(envelope); }
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    void heard(const Envelope &envelope);
    Error compared(uint32_t own, uint32_t other, int32_t other_rank) override;
    void answer(const Envelope &envelope);
    void answer_in_areas();
    int look_for_patient_ones();

    Messenger &messenger_;
    NodeReach *reach_;
    Selection selection_;
    Stage stage_;
    Collective *spare_ = nullptr;
    List<Collective, &Collective::under_way_hook_> under_way_;
    EarlyMessages early_;
    std::set<std::pair<uint64_t, int32_t>> kept_tags_;  // of the persistent collectives, by context
    std::unordered_map<uint64_t, const Team *> teams_;  // by context
    SpinLock teams_lock_;
    alignas(64) std::byte pieces_[exchange_pieces_bytes];
};

}  // namespace lanyard
