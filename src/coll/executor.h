// Runs schedules (schedule.h) on the messenger. One executor serves a runtime; blocking, nonblocking and persistent
// operations use it alike: take a Collective, write its plan (plan.h), start it, wait for its completion or be continued.
// It never blocks: a step starts when those before it are done, and what became ready while messages arrived runs as a
// Task of the engine, so that nothing recurses. Exchanges that must wait are polled on every step of the engine.
//
// It finds out that ranks call different collectives: each message and each post in the node area says which one it belongs to
// (coll/agreement.h); a rank that waits long says so to those for whom it waits, and is answered by one that has left it behind. Who is told both
// calls waits neither for this rank nor for the one that called something else.
//
// Thread rule: everything here needs the engine owned, but for what says otherwise.
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
    // `reach` may be nullptr where ranks never sleep and no team has direct reads.
    Executor(Messenger &messenger, NodeReach *reach);
    ~Executor();
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    Messenger &messenger() { return messenger_; }
    Engine &engine() { return messenger_.engine(); }
    const Selection &selection() const { return selection_; }
    Selection &selection() { return selection_; }

    // One with an empty schedule; give it back when it is complete and its error has been taken.
    Collective *take() {
        Collective *collective = spare_;
        if (!collective) return new Collective(*this);
        spare_ = collective->next_spare_;
        return collective;
    }
    void give_back(Collective *collective);
    // One whose pass() has done all.
    void give_back_passed(Collective *collective) {
        collective->plan.clear_short();
        collective->next_spare_ = spare_;
        spare_ = collective;
    }
    // Starts what has been written into the schedule as the next collective of the team. Buffers, datatypes, operation and
    // team must live until completion. The same schedule may be started again after it (persistent operations).
    void start(Collective &collective, Team &team) { collective.start(team); }
    // For a moment, where what a started one waits for comes soon if at all: before a caller goes to the trouble of waiting.
    void look_for_posts(Collective &collective) {
        if (!collective.polled_.empty() && collective.call_.team().processors == 0) collective.look_for_posts();
    }
    // Waits for a started one, gives it back and returns its error.
    Error finish(Collective *collective);
    // Once all have met in the last collective of a team and what they sent before has been looked at: messages of collectives in whose place this
    // rank called something else. Of collectives that wait for nobody nothing else tells it.
    Error judge_early_messages(const Team &team);

    // From the moment it has a context: others may ask what this rank has called on it. [any thread]
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
    std::set<std::pair<uint64_t, int32_t>> kept_tags_;  // of the persistent ones, by context
    std::unordered_map<uint64_t, const Team *> teams_;  // by context
    SpinLock teams_lock_;
    alignas(64) std::byte pieces_[exchange_pieces_bytes];
};

}  // namespace lanyard
