// One collective operation, blocking, nonblocking or persistent, from its plan to its completion. It is taken
// from the executor (executor.h), which starts it. Steps start in the order of the queue (step_queue.h).
// Messages continue by their completions, and exchanges that wait are polled.
//
// A step that fails does not stop the schedule, because other ranks count on this rank's messages. The first
// error is kept and reported at the end. If ranks turn out to call different collectives, the schedule is
// abandoned, because it would never end. Nothing more is started, both calls are reported to all other ranks
// of the team, and what has been started is withdrawn.
// Thread rule: the owner of the engine.
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

    // Its number among the collectives started on the team, from 1. 0 for persistent ones, which have no
    // common order of starts.
    uint32_t number() const { return call_.number(); }

    // Starts it and does all of it at once, if it is short, has a kept schedule, and nothing must be waited
    // for. False: it must still be started, and start() continues with what is already done.
    bool pass(Team &team);

    // Makes it persistent by taking the tag of every later start now. Error, with nothing taken: the program
    // still has the operation that got the same tag long ago.
    Error keep_tag(Team &team);

    explicit Collective(Executor &executor);
    ~Collective();
    Collective(const Collective &) = delete;
    Collective &operator=(const Collective &) = delete;

private:
    friend class Executor;
    // The message of one step.
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
    StepQueue queue_;                // stopped if ranks disagree
    FallibleArray<Flight> flights_;  // by the number of the transfer
    std::vector<ExchangeRun> exchanges_;
    std::vector<StepId> polled_;  // exchanges that wait for other ranks
    bool begun_ = false;          // by pass()
    bool draining_ = false;
    bool withdrawn_ = false;  // ranks disagree, and everything that was started is withdrawn
    uint8_t alarms_ = 0;      // how many alarms rang while this one was under way
    Collective *next_spare_ = nullptr;
};

}  // namespace lanyard
