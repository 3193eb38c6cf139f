// A Collective carries out one collective operation (blocking, nonblocking or persistent) from its plan to
// its completion. The caller takes the object from the executor (executor.h), which starts it. Steps start in
// the order of the queue (step_queue.h). A step that sends or receives is done when its message is complete.
// An exchange (schedule.h) that waits for other ranks is polled.
//
// A step that fails does not stop the schedule, because other ranks wait for this rank's messages. The first
// error is kept and reported at the end. If there is no memory for the schedule, the collective ends with an
// error before its first step, and ranks that need this rank's messages or posts wait in vain. If ranks turn
// out to call different collectives, the schedule is abandoned, because it would never end. Then no more
// steps are started, both calls are reported to all other ranks of the team, and messages that have been
// started are withdrawn where possible. In both cases this rank counts as done with the schedule's exchanges.
// Thread rule: the owner of the engine.
// Tested by: tests/sim/collectives_test.cc, tests/sim/pending_test.cc.
#pragma once

#include <variant>
#include <vector>

#include "base/no_memory.h"
#include "coll/plan.h"
#include "coll/shm/exchange_run.h"
#include "coll/step_queue.h"
#include "coll/team.h"
#include "coll/team_call.h"
#include "p2p/messenger.h"

namespace lanyard {

class Executor;

class Collective : private Task, private Poller {
public:
    Completion completion;
    Error error;  // valid once complete
    Plan plan;    // written before the start

    // The number of this collective among all collectives of the team, counted from 1. A persistent
    // collective has the number 0, because ranks may start persistent collectives in different orders.
    uint32_t number() const { return call_.number(); }

    // Carries out the whole collective at once if its plan is one short use of the node area
    // (Plan::short_one()) or empty, the executor has no early messages of the team, and this rank need not
    // wait.
    // True: the collective is done without an error, `completion` is unchanged, and the caller must call
    // Executor::give_back_passed(). False: the caller must call Executor::start(), which continues from the
    // steps already done.
    bool pass(Team &team);
    // After pass() has returned false: looks for the posts that it lacked for a moment, if each rank has a
    // processor of its own. The result is that of pass().
    bool pass_soon(Team &team) { return begun_ && team.processors == 0 && pass_on(team); }

    // Makes this collective persistent: reserves the tag that every later start uses. The numbers in tags
    // repeat (collective_tag.h). If an older persistent operation with the same tag still exists, returns an
    // error and reserves no tag.
    Error keep_tag(Team &team);

    explicit Collective(Executor &executor);
    ~Collective();
    Collective(const Collective &) = delete;
    Collective &operator=(const Collective &) = delete;

private:
    friend class Executor;
    // The send or receive of one step.
    struct Flight {
        Collective *collective = nullptr;
        StepId step = no_step;
        std::variant<SendOperation, ReceiveOperation> operation;
    };

    void start(Team &team);
    void go_on_with_exchange();
    bool pass_empty(Team &team);
    bool pass_on(Team &team);
    void begin_under_way();
    bool prepare();
    bool agrees_with_early_messages();
    bool agrees_with_area();
    void look_for_posts();
    void tell_awaited();
    void abandon(Error reason, const TeamCall::OwnCall &own);
    void doubt(const Error &reason, const TeamCall::OwnCall &own);
    void withdraw();
    void abandon_exchanges();
    int drain();
    bool waits_for_program(StepId id) const;
    void run(StepId id);
    void launch(StepId id);
    bool advance(StepId id);
    ExchangeTask task_of(const Exchange &exchange);
    void finish();
    void keep(Error &failure);
    Buffer buffer(const Block &block) const { return plan.spaces().buffer(block); }
    static void arrived(Completion &completion);

    Executor &executor_;
    TeamCall call_;
    Hook under_way_hook_;
    StepQueue queue_;                // stopped when ranks disagree
    FallibleArray<Flight> flights_;  // indexed by Step::number of a send or receive
    std::vector<ExchangeRun> exchanges_;  // all done when the collective is complete
    std::vector<StepId> polled_;  // steps that are exchanges and wait for other ranks
    bool begun_ = false;          // pass() has begun the collective, and start() continues it
    bool draining_ = false;
    bool withdrawn_ = false;  // ranks disagree, and withdraw() has run
    uint8_t alarms_ = 0;      // how often the executor's timer has fired since the start; 2 at most
    Collective *next_spare_ = nullptr;
};

}  // namespace lanyard
