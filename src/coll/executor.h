// Runs schedules (schedule.h) on the messenger. One executor serves a runtime, for blocking, nonblocking and
// persistent operations alike. The caller takes a Collective, has its plan written (plan.h) and starts it.
// Then the caller waits for the completion, or sets a continuation, which is called at the end. The executor
// itself never blocks, except in finish(). A step starts when all of its predecessors are done. Steps that
// become ready while messages arrive run later, as a Task of the engine, so that no recursion occurs.
// Exchanges that must wait are polled on every turn of the engine.
//
// The executor detects that ranks call different collectives. Each message and each post in the node area
// states to which call it belongs (agreement.h). A rank that waits long reports its call to the ranks for
// which it waits. A rank that made another call at that place in the sequence answers, even if its call has
// ended. Two calls that do not agree are reported to all ranks of the team. Every rank's own call differs
// from at least one of the two, so every rank abandons its own call.
//
// Thread rule: the owner of the engine, except where a method says otherwise.
// Tested by: tests/sim/collectives_test.cc, tests/sim/pending_test.cc.
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

class Executor final : private CollectiveObserver, private Handler, private Task {
public:
    // `reach` may be nullptr if ranks never sleep and no team reads other ranks' memory directly.
    Executor(Messenger &messenger, NodeReach *reach);
    ~Executor();
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    Messenger &messenger() { return messenger_; }
    Engine &engine() { return messenger_.engine(); }
    const Selection &selection() const { return selection_; }
    Selection &selection() { return selection_; }

    // Returns a collective with an empty schedule. The executor owns the collective. The caller gives the
    // collective back when it is complete and its error has been taken, or when it will not be started.
    Collective *take() {
        engine().check_owner();
        Collective *collective = spare_;
        if (!collective) return new Collective(*this);
        spare_ = collective->next_spare_;
        return collective;
    }
    void give_back(Collective *collective);
    // Gives back a collective whose pass() has returned true.
    void give_back_passed(Collective *collective) {
        collective->plan.clear_kept();
        collective->next_spare_ = spare_;
        spare_ = collective;
    }
    // Starts the plan as the next collective of the team. (A start of a persistent operation has no place in
    // that sequence.) The collective may be complete on return. Buffers, datatypes, operation and team must
    // live until completion. Afterwards the same plan may be started again (persistent operations).
    void start(Collective &collective, Team &team) {
        engine().check_owner();
        collective.start(team);
    }
    // Polls a started collective for a moment if it waits for posts in the node area and each rank has a
    // processor of its own. Posts usually arrive within that moment, and polling costs less than a wait in
    // the engine.
    void look_for_posts(Collective &collective) {
        if (!collective.polled_.empty() && collective.call_.team().processors == 0)
            collective.look_for_posts();
    }
    // Waits for a started collective, gives it back, and returns its error. Must not be called for a
    // collective with a continuation.
    Error finish(Collective *collective);
    // To be called when all ranks have met in the last collective of a team and earlier messages have been
    // handled. Error: a message belongs to a collective that disagrees with this rank's call at that place.
    // If this rank waited for no other rank in a collective, the start of the team's next collective reports
    // such a mismatch. If none follows, only this function reports it.
    Error judge_early_messages(const Team &team);

    // [any thread] Registers a team, by its context, so that other ranks can query what this rank has called
    // on the team. forget() must be called before the team ends.
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
    int report_long_waits();

    Messenger &messenger_;
    NodeReach *reach_;
    Selection selection_;
    Stage stage_;
    Collective *spare_ = nullptr;
    List<Collective, &Collective::under_way_hook_> under_way_;
    EarlyMessages early_;
    // The tags of persistent collectives, each with its context.
    std::set<std::pair<uint64_t, int32_t>> kept_tags_;
    std::unordered_map<uint64_t, const Team *> teams_;  // by context
    SpinLock teams_lock_;
    alignas(64) std::byte pieces_[exchange_pieces_bytes];
};

}  // namespace lanyard
