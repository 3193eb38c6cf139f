// Runs schedules (schedule.h) on the messenger. One executor serves a runtime; blocking, nonblocking and persistent
// operations use it alike: take a Collective, write its schedule, start it, wait for its completion or be continued.
// It never blocks: a step starts when those before it are done, and what became ready while messages arrived runs as a
// Task of the engine, so that nothing recurses. Exchanges that must wait are polled on every step of the engine.
//
// Thread rule: everything here needs the engine owned. A step that fails does not stop the schedule, as other ranks
// count on this one's messages; the first error is kept and told at the end. Where ranks turn out to call different collectives (each
// message and each post in the node area says which one it belongs to: coll/agreement.h; a rank that waits long says so to those for whom it
// waits, and is answered by one that has left it behind) the schedule is abandoned, as it would never end, and all others of the team are
// told both calls, so that none waits for this one, or for the one that called something else.
// Making a persistent operation is a call like others in the sequence; its starts are not, and their messages have numbers apart.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/no_memory.h"
#include "base/spin_lock.h"
#include "coll/agreement.h"
#include "coll/early_messages.h"
#include "coll/kept_plans.h"
#include "coll/schedule.h"
#include "coll/select.h"
#include "coll/shm/exchange_run.h"
#include "coll/team.h"
#include "p2p/messenger.h"

namespace lanyard {

class Executor;

class Collective : private Task, private Poller {
public:
    Completion completion;
    Error error;  // valid once complete

    const char *name = "";  // for reports
    // Its number among the collectives started on the team, from 1; 0 of persistent ones, which are not started in one order.
    uint32_t number() const { return number_; }

    // Planning: the schedule is to be written, and described: what it does, and what the spaces of its blocks mean.
    Schedule &schedule() { return *schedule_; }
    void describe(const Agreement &agreement, const void *send, void *receive);
    // Before that: true when an earlier call of the team's has left all this. Else what is now written and described becomes that with
    // keep_plan().
    bool recall(Team &team, CollectiveKind kind, const PlanKey &key, const void *send, void *receive) {
        KeptPlan *plan = team.kept ? team.kept->of(kind).get() : nullptr;
        if (!plan || !plan->valid || !(key == plan->key)) return plan_to_keep(team, kind, key), false;
        kept_ = plan;
        ++plan->users;
        schedule_ = &plan->schedule;
        name = plan->name;
        word_ = plan->word;
        use_buffers(send, receive);
        return true;
    }
    void keep_plan(const Team &team);

    // It stands for this call of the program, whatever was planned for it.
    void stand_for(CollectiveKind kind);

    // Starts it, and does all of it at once, where it is a short one whose schedule was kept and nothing must be waited for. False: it is still
    // to be started, and start() goes on with what is done already.
    bool pass(Team &team);

    // Makes it persistent: takes the tag of every later start now. An error where the program still has the operation that got this tag
    // long ago: nothing is kept then.
    Error keep_tag(Team &team);

    explicit Collective(Executor &executor);
    ~Collective();
    Collective(const Collective &) = delete;
    Collective &operator=(const Collective &) = delete;

private:
    friend class Executor;
    // A message of a step.
    struct Flight {
        Collective *collective = nullptr;
        StepId step = no_step;
        std::variant<SendOperation, ReceiveOperation> operation;
    };

    void start(Team &team);
    void take_number(Team &team);
    void go_on_with_exchange();
    void begin_under_way();
    void use_buffers(const void *send, void *receive) {
        send_ = const_cast<std::byte *>(static_cast<const std::byte *>(send));
        receive_ = static_cast<std::byte *>(receive);
    }
    void plan_to_keep(Team &team, CollectiveKind kind, const PlanKey &key);
    void release_plan();
    bool prepare();
    bool agrees_with_early_messages();
    bool agrees_with_area();
    void look_for_posts();
    void tell(int rank, EnvelopeKind kind);
    void tell_awaited();
    // A call in which another rank makes another one, and what this rank does there.
    struct Place {
        int32_t tag;
        uint32_t word;
    };
    void abandon(Error reason, Place place);
    void doubt(const Error &reason, Place place);
    void withdraw();
    int drain();
    bool waits_for_program(StepId id) const;
    void run(StepId id);
    void launch(StepId id);
    bool advance(StepId id);
    ExchangeTask task_of(const Exchange &exchange);
    void done(StepId id);
    void finish();
    void keep(Error &failure);
    Buffer buffer(const Block &block) const;
    static void arrived(Completion &completion);

    static constexpr int32_t step_done = -1;

    Executor &executor_;
    Team *team_ = nullptr;
    Schedule own_schedule_;
    Schedule *schedule_ = &own_schedule_;
    KeptPlan *kept_ = nullptr;         // whose schedule it is, if not the own one
    uint32_t word_ = 0;                // what all ranks must agree upon (coll/agreement.h)
    Hook under_way_hook_;
    int32_t tag_ = 0;
    uint32_t number_ = 0;
    bool tag_kept_ = false;
    bool begun_ = false;               // by pass()
    uint32_t made_ = 0;                // of a persistent one: the number under which it was made
    std::byte *send_ = nullptr, *receive_ = nullptr;
    FallibleArray<std::byte> scratch_;
    size_t scratch_capacity_ = 0;
    FallibleArray<Flight> flights_;
    int32_t flight_capacity_ = 0;
    std::vector<int32_t> before_;      // by step: how many it still waits for; step_done when it is done
    std::vector<StepId> ready_;        // from next_ready_ on: may start
    size_t next_ready_ = 0;
    std::vector<ExchangeRun> exchanges_;
    std::vector<StepId> polled_;       // exchanges that wait for other ranks
    int32_t left_ = 0;                 // steps not done
    bool draining_ = false;
    uint8_t alarms_ = 0;               // how many rang while this one was under way
    bool abandoned_ = false;           // ranks disagree: nothing more is started
    bool withdrawn_ = false;           // and what had been started is withdrawn
    Collective *next_spare_ = nullptr;
};

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
        --collective->kept_->users;
        collective->kept_ = nullptr;
        collective->schedule_ = &collective->own_schedule_;
        collective->next_spare_ = spare_;
        spare_ = collective;
    }
    // Starts what has been written into the schedule as the next collective of the team. Buffers, datatypes, operation and
    // team must live until completion. The same schedule may be started again after it (persistent operations).
    void start(Collective &collective, Team &team) { collective.start(team); }
    // For a moment, where what a started one waits for comes soon if at all: before a caller goes to the trouble of waiting.
    void look_for_posts(Collective &collective) {
        if (!collective.polled_.empty() && collective.team_->processors == 0) collective.look_for_posts();
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
    void tell_call(uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t word);
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
