// See collective.h.
#include "coll/collective.h"

#include <string>

#include "coll/combine.h"
#include "coll/executor.h"
#include "datatype/cursor.h"

namespace lanyard {

namespace {

// How often a blocking collective looks for posts before it waits in the engine.
constexpr int looks = 100;

Error too_short(const ReceiveOperation &receive) {
    return Error(ErrorClass::count, "rank " + std::to_string(receive.matched_rank) + " sent " +
                                        std::to_string(receive.received) + " bytes where this rank expects " +
                                        std::to_string(receive.buffer.bytes()) +
                                        "; counts and datatypes must fit on all ranks");
}

}  // namespace

Collective::Collective(Executor &executor) : executor_(executor) {
    Task::run = [](Task &task) { return static_cast<Collective &>(task).drain(); };
    Poller::poll = [](Poller &poller, uint64_t) {
        auto &self = static_cast<Collective &>(poller);
        const Schedule &schedule = self.plan.schedule();
        if (schedule.exchanges().empty()) return self.agrees_with_area() ? 0 : 1;
        size_t before = self.polled_.size();
        bool goes_on = false;
        for (size_t i = 0; i < self.polled_.size();) {
            StepId id = self.polled_[i];
            if (self.waits_for_program(id) || !self.advance(id)) {
                goes_on |=
                    self.exchanges_[static_cast<size_t>(schedule.steps()[static_cast<size_t>(id)].number)]
                        .got_on();
                ++i;
                continue;
            }
            self.polled_.erase(self.polled_.begin() + static_cast<ptrdiff_t>(i));
            self.queue_.done(id);
        }
        size_t over = before - self.polled_.size();
        if (self.polled_.empty()) poller.hook.unlink();
        if (over > 0) self.drain();
        return static_cast<int>(over) + goes_on;
    };
}

Collective::~Collective() { error.discard(); }

void Collective::keep(Error &failure) {
    if (!failure) return;
    if (error) {
        failure.discard();
    } else {
        error = failure;
    }
    failure = {};
}

// Allocates the memory that the schedule needs to run. False: there is not enough memory.
bool Collective::prepare() {
    if (!plan.make_scratch()) return false;
    auto transfers = static_cast<size_t>(plan.schedule().transfers());
    if (transfers == 0 || (flights_ && transfers <= flights_.get_deleter().count)) return true;
    flights_ = array_or_null<Flight>(transfers);
    return flights_ != nullptr;
}

Error Collective::keep_tag(Team &team) {
    LANYARD_MUST(plan.schedule().exchanges().empty());
    plan.make_persistent();
    call_.make_persistent(team, plan.word());
    if (executor_.kept_tags_.insert({team.context, call_.tag()}).second) return {};
    call_.end();
    return Error(
        ErrorClass::request,
        std::to_string(collective_numbers) +
            " persistent operations have been made on this communicator since one that is still there, and "
            "there are no more numbers to tell them apart; free that one or use a duplicate of the "
            "communicator");
}

void Collective::begin_under_way() {
    executor_.engine().begin_under_way();
    executor_.under_way_.push_back(*this);
}

[[gnu::noinline]] bool Collective::pass_empty(Team &team) {
    if (!plan.is_kept_empty() || executor_.early_.concern(team)) return false;
    call_.begin(team, plan.word());
    return true;
}

bool Collective::pass(Team &team) {
    const KeptPlan *kept = plan.short_one();
    if (!kept) return pass_empty(team);
    if (executor_.early_.concern(team)) return false;
    call_.begin(team, plan.word());
    if (exchanges_.size() != 1) exchanges_.resize(1);
    ExchangeRun &run = exchanges_.front();
    run.begin(team, call_.word(), call_.number() - 1);
    const ShortUse &use = kept->short_use;
    begun_ = !run.pass({{team, use.area(), executor_.reach_}, kept->schedule.exchanges().front()}, use,
                       {plan.spaces().send(), plan.spaces().receive()});
    return !begun_;
}

// Posts usually arrive within less time than a start of the collective takes.
bool Collective::pass_on(Team &team) {
    if (!exchanges_.front().waits_for_posts()) return false;
    const KeptPlan &kept = *plan.short_one();
    ExchangePlace place{{team, kept.short_use.area(), executor_.reach_}, kept.schedule.exchanges().front()};
    ShortUse::Buffers buffers{plan.spaces().send(), plan.spaces().receive()};
    for (int look = 0; begun_ && look < looks; ++look)
        begun_ = !exchanges_.front().pass_on(place, kept.short_use, buffers);
    return !begun_;
}

// Starts or continues a schedule that consists of one exchange. Most such schedules complete at once.
void Collective::go_on_with_exchange() {
    if (advance(0)) return completion.finish();
    begin_under_way();
    queue_.begin_started(plan.schedule());
    polled_.push_back(0);
    executor_.engine().watch(*this);
    executor_.engine().set_alarm(executor_.engine().now_ns() + Executor::alarm_every_ns, executor_);
}

void Collective::start(Team &team) {
    completion.reset();
    queue_.resume();
    withdrawn_ = false;
    alarms_ = 0;
    if (!begun_ && pass(team)) return completion.finish();
    if (begun_) {
        begun_ = false;
        return go_on_with_exchange();
    }
    call_.begin(team, plan.word());
    bool fits = agrees_with_early_messages();
    if (fits) {
        exchanges_.resize(plan.schedule().exchanges().size());
        for (ExchangeRun &exchange : exchanges_) exchange.begin(team, call_.word(), call_.number() - 1);
        if (plan.schedule().is_one_exchange() && !waits_for_program(0) && prepare())
            return go_on_with_exchange();
    }
    begin_under_way();
    if (!fits) return finish();
    if (!prepare()) {
        error = Error(ErrorClass::no_mem,
                      "there is no memory for the " + std::to_string(plan.schedule().scratch_size()) +
                          " bytes this collective operation needs beside the program's buffers");
        abandon_exchanges();
        return finish();
    }
    queue_.begin(plan.schedule());
    drain();
    if (queue_.left() == 0) return;
    executor_.engine().set_alarm(executor_.engine().now_ns() + Executor::alarm_every_ns, executor_);
    // Other ranks may be in a collective that uses the node area and wait there for this rank, while this
    // rank waits for a message. Polling finds such a mismatch.
    if (exchanges_.empty() && team.node_area && !call_.persistent()) executor_.engine().watch(*this);
}

// Runs all ready steps, including those that become ready meanwhile, and returns their number.
int Collective::drain() {
    int steps = 0;
    draining_ = true;
    for (; queue_.any_ready() && !waits_for_program(queue_.next()); ++steps) run(queue_.take());
    draining_ = false;
    if (queue_.stopped()) {
        if (!withdrawn_) withdraw();
    } else if (queue_.any_ready()) {
        executor_.engine().ready(*this);
    } else if (queue_.left() == 0) {
        finish();
    }
    return steps;
}

// Must the step wait until a thread of the program is inside MPI? The helper does not call the program's
// functions (engine/helper.h).
bool Collective::waits_for_program(StepId id) const {
    const Schedule &schedule = plan.schedule();
    StepKind kind = schedule.steps()[id].kind;
    return executor_.engine().helping() && (kind == StepKind::reduce || kind == StepKind::exchange) &&
           schedule.op && schedule.op->function;
}

void Collective::run(StepId id) {
    const Step &step = plan.schedule().steps()[id];
    switch (step.kind) {
        case StepKind::send:
        case StepKind::receive: return launch(id);
        case StepKind::copy: copy(buffer(step.from), buffer(step.to)); break;
        case StepKind::reduce:
            combine(*plan.schedule().op, buffer(step.from).base, buffer(step.to).base, step.to.count,
                    *step.to.type, error);
            break;
        case StepKind::join: break;
        case StepKind::exchange:
            if (advance(id)) break;
            polled_.push_back(id);
            if (!Poller::hook.linked()) executor_.engine().watch(*this);
            return;
    }
    queue_.done(id);
}

void Collective::launch(StepId id) {
    const Step &step = plan.schedule().steps()[id];
    const Team &team = call_.team();
    uint32_t peer = team.peers[step.peer];
    // Most short messages leave at once and need no operation.
    if (step.kind == StepKind::send &&
        executor_.messenger_.send_now(peer, call_.message_from(team.index, step.label), buffer(step.from),
                                      call_.word()))
        return queue_.done(id);
    Flight &flight = flights_[step.number];
    flight.collective = this;
    flight.step = id;
    auto describe = [&](MessageOperation &operation, const Block &block) {
        operation.completion.then = arrived;
        operation.completion.context = &flight;
        operation.peer = peer;
        operation.check = call_.word();
        operation.buffer = buffer(block);
    };
    if (step.kind == StepKind::send) {
        auto &send = flight.operation.emplace<SendOperation>();
        describe(send, step.from);
        static_cast<MatchKey &>(send) = call_.message_from(team.index, step.label);
        send.destination = step.peer;
        executor_.messenger_.send(send);
    } else {
        auto &receive = flight.operation.emplace<ReceiveOperation>();
        describe(receive, step.to);
        static_cast<MatchKey &>(receive) = call_.message_from(step.peer, step.label);
        executor_.messenger_.receive(receive);
    }
}

ExchangeTask Collective::task_of(const Exchange &exchange) {
    auto buffer_of = [](const void *owner, const Block &block) {
        return static_cast<const Collective *>(owner)->buffer(block);
    };
    Team &team = call_.team();
    return {{{team, NodeArea(team), executor_.reach_}, exchange},
            plan.schedule(),
            executor_.pieces_,
            this,
            buffer_of,
            &error,
            &executor_.stage_,
            &executor_.messenger_.settings().copies};
}

bool Collective::advance(StepId id) {
    int32_t number = plan.schedule().steps()[id].number;
    ExchangeRun &run = exchanges_[number];
    if (!run.advance(task_of(plan.schedule().exchanges()[number]))) return false;
    const CallCheck &check = run.check();
    Error failure = check.error();
    if (failure.is_mismatch())
        doubt(failure, {tag_of(number_of(call_.tag()) - check.disputed_age(), false), check.disputed_word()});
    keep(failure);
    return true;
}

// Called by the messenger when the message of a step has been sent or received, perhaps from inside launch().
void Collective::arrived(Completion &completion) {
    Flight &flight = *static_cast<Flight *>(completion.context);
    Collective &self = *flight.collective;
    Error &error =
        std::visit([](MessageOperation &operation) -> Error & { return operation.error; }, flight.operation);
    if (error.is_mismatch()) self.doubt(error, self.call_.own_call());
    self.keep(error);
    const auto *receive = std::get_if<ReceiveOperation>(&flight.operation);
    if (receive && !self.error && !self.queue_.stopped() && receive->received != receive->buffer.bytes())
        self.error = too_short(*receive);
    self.queue_.done(flight.step);
    if (self.draining_) return;
    if (self.queue_.left() == 0) return self.finish();
    // The engine runs the ready steps, or withdraw(), later, because arrived() may be called in the middle of
    // a delivery.
    if (self.queue_.any_ready() || (self.queue_.stopped() && !self.withdrawn_))
        self.executor_.engine().ready(self);
}

void Collective::finish() {
    if (Task::hook.linked()) Task::hook.unlink();
    if (Poller::hook.linked()) Poller::hook.unlink();
    under_way_hook_.unlink();
    executor_.engine().end_under_way();
    completion.finish();
}

// Polls for a while only the posts for which the collective waits. They usually arrive within less time than
// a turn of the engine takes.
void Collective::look_for_posts() {
    for (int look = 0; look < looks && polled_.size() == 1 && !waits_for_program(polled_[0]); ++look) {
        StepId id = polled_[0];
        if (!advance(id)) continue;
        polled_.clear();
        Poller::hook.unlink();
        queue_.done(id);
        if (queue_.left() == 0) finish();
        else drain();
    }
}

// Do the early messages agree with this rank's calls? False: another rank has called a different collective,
// and `error` says so.
bool Collective::agrees_with_early_messages() {
    EarlyMessages &early = executor_.early_;
    if (early.empty()) return true;
    EarlyMessage message;
    const Team &team = call_.team();
    bool of_this = call_.persistent() &&
                   early.take_disagreeing_persistent(team, number_of(call_.tag()), call_.word(), message);
    if (!of_this && !early.take_disagreeing(team, team.sequence - 1, message)) return true;
    uint32_t own = of_this ? call_.word() : team.recent[message.number % recent_collectives];
    error = disagreement(own, message.check, message.source);
    doubt(error, {tag_of(message.number, message.persistent), own});
    return false;
}

// Do the ranks that use the node area make the same call? False: one of them makes a different call at this
// place, and this collective has been abandoned.
bool Collective::agrees_with_area() {
    uint32_t other = 0;
    int rank = called_by_another(call_.team(), number_of(call_.tag()), call_.word(), other);
    if (rank >= 0) abandon(disagreement(call_.word(), other, rank), call_.own_call());
    return rank < 0;
}

void Collective::tell_awaited() {
    Messenger &messenger = executor_.messenger_;
    const Team &team = call_.team();
    const std::vector<Step> &steps = plan.schedule().steps();
    for (StepId id = 0; id < static_cast<StepId>(steps.size()); ++id)
        if (steps[id].kind == StepKind::receive && queue_.is_under_way(id))
            call_.tell(messenger, steps[id].peer, kind_awaiting);
    for (int rank = 0; rank < team.size && !polled_.empty(); ++rank)
        if (rank != team.index) call_.tell(messenger, rank, kind_awaiting);
}

void Collective::abandon(Error reason, const TeamCall::OwnCall &own) {
    doubt(reason, own);
    keep(reason);
    if (!draining_ && !withdrawn_) withdraw();
}

// Starts no more steps, and reports the two different calls to all other ranks.
void Collective::doubt(const Error &reason, const TeamCall::OwnCall &own) {
    if (queue_.stopped()) return;
    queue_.stop();
    call_.tell_mismatch(executor_.messenger_, reason, own);
}

// Ends the exchanges that have not ended, so that the node area can be used further.
void Collective::abandon_exchanges() {
    Team &team = call_.team();
    AreaTeam place{team, NodeArea(team), executor_.reach_};
    for (ExchangeRun &exchange : exchanges_) exchange.abandon(place);
}

// Abandons the exchanges, and withdraws the messages that have been started, as far as possible.
void Collective::withdraw() {
    withdrawn_ = true;
    queue_.leave_the_rest(polled_);
    polled_.clear();
    abandon_exchanges();
    const std::vector<Step> &steps = plan.schedule().steps();
    draining_ = true;
    for (StepId id = 0; id < static_cast<StepId>(steps.size()); ++id)
        if (queue_.is_under_way(id))
            std::visit([&](auto &operation) { executor_.messenger_.cancel(operation); },
                       flights_[steps[id].number].operation);
    draining_ = false;
    if (queue_.left() == 0) finish();
}

}  // namespace lanyard
