// One collective operation, blocking, nonblocking or persistent, from its plan to its completion. It is taken from the executor (executor.h), which
// starts it. Steps start as the queue says (step_queue.h); messages come back by their completions, exchanges that wait are polled.
//
// Thread rule: the owner of the engine. A step that fails does not stop the schedule, as other ranks count on this one's messages; the first
// error is kept and told at the end. Where ranks turn out to call different collectives the schedule is abandoned, as it would never end: nothing
// more is started, all others of the team are told both calls, and what has been started is withdrawn.
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
    Plan plan;    // to be written before the start

    // Its number among the collectives started on the team, from 1; 0 of persistent ones, which are not started in one order.
    uint32_t number() const { return call_.number(); }

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
    void go_on_with_exchange();
    void begin_under_way();
    bool prepare();
    bool agrees_with_early_messages();
    bool agrees_with_area();
    void look_for_posts();
    void tell_awaited();
    void abandon(Error reason, const TeamCall::Place &place);
    void doubt(const Error &reason, const TeamCall::Place &place);
    void withdraw();
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
    StepQueue queue_;  // stopped where ranks disagree
    FallibleArray<Flight> flights_;  // by the number of the transfer
    std::vector<ExchangeRun> exchanges_;
    std::vector<StepId> polled_;  // exchanges that wait for other ranks
    bool begun_ = false;          // by pass()
    bool draining_ = false;
    bool withdrawn_ = false;      // ranks disagree, and what had been started is withdrawn
    uint8_t alarms_ = 0;          // how many rang while this one was under way
    Collective *next_spare_ = nullptr;
};

}  // namespace lanyard
