#include "coll/executor.h"

#include <cstdlib>
#include <cstring>

#include "coll/collective_tag.h"
#include "coll/combine.h"
#include "coll/shm/peer_memory.h"
#include "datatype/cursor.h"

namespace lanyard {

namespace {

constexpr size_t scratch_kept = 1 << 20;
constexpr size_t scratch_alignment = 64;

Error too_short(const ReceiveOperation &receive) {
    return Error(ErrorClass::count, "rank " + std::to_string(receive.matched_rank) + " sent " + std::to_string(receive.received) +
                                        " bytes where this rank expects " + std::to_string(receive.buffer.bytes()) +
                                        "; counts and datatypes must fit on all ranks");
}

// Displacements may be absolute addresses (MPI_BOTTOM), so this is no arithmetic within an object.
std::byte *address(std::byte *base, int64_t offset) {
    return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(offset));
}

}  // namespace

Collective::Collective(Executor &executor) : executor_(executor) {
    Task::run = [](Task &task) { return static_cast<Collective &>(task).drain(); };
    Poller::poll = [](Poller &poller, uint64_t) {
        auto &self = static_cast<Collective &>(poller);
        if (self.schedule_->exchanges().empty()) return self.agrees_with_area() ? 0 : 1;
        size_t before = self.polled_.size();
        bool goes_on = false;
        for (size_t i = 0; i < self.polled_.size();) {
            StepId id = self.polled_[i];
            if (self.waits_for_program(id) || !self.advance(id)) {
                goes_on |= self.exchanges_[static_cast<size_t>(self.schedule_->steps()[static_cast<size_t>(id)].number)].got_on();
                ++i;
                continue;
            }
            self.polled_.erase(self.polled_.begin() + static_cast<ptrdiff_t>(i));
            self.done(id);
        }
        size_t over = before - self.polled_.size();
        if (self.polled_.empty()) poller.hook.unlink();
        if (over > 0) self.drain();
        return static_cast<int>(over) + goes_on;
    };
}

Collective::~Collective() { error.discard(); }

Buffer Collective::buffer(const Block &block) const {
    std::byte *base = block.space == Space::send ? send_ : block.space == Space::receive ? receive_ : nullptr;
    if (block.space == Space::scratch) {
        auto start = reinterpret_cast<uintptr_t>(scratch_.get());
        base = reinterpret_cast<std::byte *>((start + scratch_alignment - 1) / scratch_alignment * scratch_alignment);
    }
    return {address(base, block.offset), block.count, block.type};
}

void Collective::keep(Error &failure) {
    if (!failure) return;
    if (error) {
        failure.discard();
    } else {
        error = failure;
    }
    failure = {};
}

// Memory for everything the schedule needs; false when there is not enough.
bool Collective::prepare() {
    auto scratch_bytes = static_cast<size_t>(schedule_->scratch_size());
    if (scratch_bytes > scratch_capacity_) {
        scratch_ = array_or_null<std::byte>(scratch_bytes + scratch_alignment);
        scratch_capacity_ = scratch_ ? scratch_bytes : 0;
        if (!scratch_) return false;
    }
    if (schedule_->transfers() > flight_capacity_) {
        flights_ = array_or_null<Flight>(static_cast<size_t>(schedule_->transfers()));
        flight_capacity_ = flights_ ? schedule_->transfers() : 0;
        if (!flights_) return false;
    }
    return true;
}

Error Collective::keep_tag(Team &team) {
    LANYARD_MUST(schedule_->exchanges().empty());
    team_ = &team;
    tag_ = tag_of(team.persistent++, true);
    word_ = persistent_form(word_);
    made_ = team.sequence++;
    team.recent[made_ % recent_collectives] = word_;
    number_ = 0;
    if (!executor_.kept_tags_.insert({team.context, tag_}).second)
        return Error(ErrorClass::request, std::to_string(collective_numbers) +
                                              " persistent operations have been made on this communicator since one that is still there, and "
                                              "there are no more numbers to tell them apart; free that one or use a duplicate of the communicator");
    tag_kept_ = true;
    return {};
}

void Collective::stand_for(CollectiveKind kind) {
    name = name_of(kind);
    word_ = Agreement{kind}.word();
}

void Collective::describe(const Agreement &agreement, const void *send, void *receive) {
    name = name_of(agreement.kind);
    word_ = agreement.word();
    use_buffers(send, receive);
}

void Collective::begin_under_way() {
    executor_.engine().begin_under_way();
    executor_.under_way_.push_back(*this);
}

inline void Collective::take_number(Team &team) {
    team_ = &team;
    if (tag_kept_) return;
    tag_ = tag_of(team.sequence, false);
    number_ = ++team.sequence;
    team.recent[number_of(tag_) % recent_collectives] = word_;
}

bool Collective::pass(Team &team) {
    if (!kept_ || !kept_->short_use.ready() || !executor_.early_.empty()) return false;
    take_number(team);
    if (exchanges_.size() != 1) exchanges_.resize(1);
    ExchangeRun &run = exchanges_.front();
    run.begin(team, word_, number_of(tag_));
    const ShortUse &use = kept_->short_use;
    begun_ = !run.pass({{team, use.area(), executor_.reach_}, kept_->schedule.exchanges().front()}, use, {send_, receive_});
    return !begun_;
}

// A schedule of nothing else, most of which are over at once.
void Collective::go_on_with_exchange() {
    if (advance(0)) return completion.finish();
    begin_under_way();
    left_ = 1;
    before_.assign(1, 0);
    polled_.push_back(0);
    executor_.engine().watch(*this);
    executor_.engine().set_alarm(executor_.engine().now_ns() + Executor::alarm_every_ns, executor_);
}

void Collective::start(Team &team) {
    completion.reset();
    abandoned_ = withdrawn_ = false;
    alarms_ = 0;
    if (!begun_ && pass(team)) return completion.finish();
    if (begun_) {
        begun_ = false;
        return go_on_with_exchange();
    }
    take_number(team);
    bool fits = agrees_with_early_messages();
    if (fits) {
        exchanges_.resize(schedule_->exchanges().size());
        for (ExchangeRun &exchange : exchanges_) exchange.begin(team, word_, number_of(tag_));
        if (schedule_->is_one_exchange() && !waits_for_program(0) && prepare()) return go_on_with_exchange();
    }
    begin_under_way();
    if (!fits) return finish();
    if (!prepare()) {
        error = Error(ErrorClass::no_mem, "there is no memory for the " + std::to_string(schedule_->scratch_size()) +
                                              " bytes this collective operation needs beside the program's buffers");
        return finish();
    }
    const std::vector<Step> &steps = schedule_->steps();
    left_ = static_cast<int32_t>(steps.size());
    before_.resize(steps.size());
    ready_.clear();
    next_ready_ = 0;
    for (StepId id = 0; id < left_; ++id) {
        before_[id] = steps[id].before;
        if (steps[id].before == 0) ready_.push_back(id);
    }
    drain();
    if (left_ > 0) executor_.engine().set_alarm(executor_.engine().now_ns() + Executor::alarm_every_ns, executor_);
    // Other ranks may wait in the node area for this one, which waits for a message.
    if (left_ > 0 && exchanges_.empty() && team.node_area && !tag_kept_) executor_.engine().watch(*this);
}

// Runs what is ready, and what becomes ready by that; how many steps.
int Collective::drain() {
    int steps = 0;
    draining_ = true;
    for (; next_ready_ < ready_.size() && !abandoned_ && !waits_for_program(ready_[next_ready_]); ++steps) run(ready_[next_ready_++]);
    draining_ = false;
    if (abandoned_) {
        if (!withdrawn_) withdraw();
        return steps;
    }
    if (next_ready_ < ready_.size()) {
        executor_.engine().ready(*this);
        return steps;
    }
    ready_.clear();
    next_ready_ = 0;
    if (left_ == 0) finish();
    return steps;
}

// The program's own functions are not called while it computes (engine/helper.h).
bool Collective::waits_for_program(StepId id) const {
    StepKind kind = schedule_->steps()[id].kind;
    return executor_.engine().helping() && (kind == StepKind::reduce || kind == StepKind::exchange) && schedule_->op && schedule_->op->function;
}

void Collective::run(StepId id) {
    const Step &step = schedule_->steps()[id];
    switch (step.kind) {
        case StepKind::send:
        case StepKind::receive: return launch(id);
        case StepKind::copy: copy(buffer(step.from), buffer(step.to)); break;
        case StepKind::reduce:
            combine(*schedule_->op, buffer(step.from).base, buffer(step.to).base, step.to.count, *step.to.type,
                    error);
            break;
        case StepKind::join: break;
        case StepKind::exchange:
            if (advance(id)) break;
            polled_.push_back(id);
            if (!Poller::hook.linked()) executor_.engine().watch(*this);
            return;
    }
    done(id);
}

void Collective::launch(StepId id) {
    const Step &step = schedule_->steps()[id];
    int32_t tag = tag_ | (step.label & (max_labels - 1));
    uint32_t peer = team_->peers[step.peer];
    // Most short messages leave at once and need no operation.
    if (step.kind == StepKind::send && executor_.messenger_.send_now(peer, {team_->context, team_->index, tag}, buffer(step.from), word_))
        return done(id);
    Flight &flight = flights_[step.number];
    flight.collective = this;
    flight.step = id;
    auto describe = [&](MessageOperation &operation, const Block &block) {
        operation.completion.then = arrived;
        operation.completion.context = &flight;
        operation.peer = peer;
        operation.check = word_;
        operation.buffer = buffer(block);
    };
    if (step.kind == StepKind::send) {
        auto &send = flight.operation.emplace<SendOperation>();
        describe(send, step.from);
        static_cast<MatchKey &>(send) = {team_->context, team_->index, tag};
        send.destination = step.peer;
        executor_.messenger_.send(send);
    } else {
        auto &receive = flight.operation.emplace<ReceiveOperation>();
        describe(receive, step.to);
        static_cast<MatchKey &>(receive) = {team_->context, step.peer, tag};
        executor_.messenger_.receive(receive);
    }
}

ExchangeTask Collective::task_of(const Exchange &exchange) {
    auto buffer_of = [](const void *owner, const Block &block) { return static_cast<const Collective *>(owner)->buffer(block); };
    auto answer_elsewhere = [](const void *owner) { static_cast<const Collective *>(owner)->executor_.answer_in_areas(); };
    return {{{*team_, NodeArea(*team_), executor_.reach_}, exchange}, *schedule_, executor_.pieces_, this, buffer_of, answer_elsewhere,
            &error, &executor_.stage_, &executor_.messenger_.settings().copies};
}

bool Collective::advance(StepId id) {
    int32_t number = schedule_->steps()[id].number;
    ExchangeRun &run = exchanges_[number];
    if (!run.advance(task_of(schedule_->exchanges()[number]))) return false;
    const CallCheck &check = run.check();
    Error failure = check.error();
    if (failure.is_mismatch()) doubt(failure, {tag_of(number_of(tag_) - check.disputed_age(), false), check.disputed_word()});
    keep(failure);
    return true;
}

void Collective::done(StepId id) {
    --left_;
    before_[id] = step_done;
    if (abandoned_) return;
    const Step &step = schedule_->steps()[id];
    for (int32_t edge = step.first_edge; edge >= 0; edge = schedule_->edges()[edge].next) {
        StepId later = schedule_->edges()[edge].to;
        if (--before_[later] == 0) ready_.push_back(later);
    }
}

// A message has come or gone. Called by the messenger, maybe from inside launch().
void Collective::arrived(Completion &completion) {
    Flight &flight = *static_cast<Flight *>(completion.context);
    Collective &self = *flight.collective;
    Error &error = std::visit([](MessageOperation &operation) -> Error & { return operation.error; }, flight.operation);
    if (error.is_mismatch()) self.doubt(error, {self.tag_, self.word_});
    self.keep(error);
    const auto *receive = std::get_if<ReceiveOperation>(&flight.operation);
    if (receive && !self.error && !self.abandoned_ && receive->received != receive->buffer.bytes()) self.error = too_short(*receive);
    self.done(flight.step);
    if (self.draining_) return;
    if (self.left_ == 0) return self.finish();
    // Not here in the middle of a delivery: what is ready, or to be withdrawn.
    if (self.next_ready_ < self.ready_.size() || (self.abandoned_ && !self.withdrawn_)) self.executor_.engine().ready(self);
}

void Collective::finish() {
    if (Task::hook.linked()) Task::hook.unlink();
    if (Poller::hook.linked()) Poller::hook.unlink();
    under_way_hook_.unlink();
    executor_.engine().end_under_way();
    completion.finish();
}

Executor::Executor(Messenger &messenger, NodeReach *reach) : messenger_(messenger), reach_(reach) {
    messenger.set_observer(this);
    for (EnvelopeKind kind : {kind_awaiting, kind_calls}) messenger.dispatch().bind(kind, *this);
    Task::run = [](Task &task) { return static_cast<Executor &>(task).look_for_patient_ones(); };
}

// What other ranks ask for of this one's memory (exchange_run.h).
void Executor::answer_in_areas() {
    for (Collective *one = under_way_.front(); one; one = under_way_.after(*one))
        if (one->team_->node_area) answer_askers(NodeArea(*one->team_), *one->team_);
}

Executor::~Executor() {
    messenger_.set_observer(nullptr);
    messenger_.dispatch().unbind(*this);
    while (spare_) {
        Collective *collective = spare_;
        spare_ = collective->next_spare_;
        delete collective;
    }
}

void Executor::give_back(Collective *collective) {
    if (collective->scratch_capacity_ > scratch_kept) {
        collective->scratch_.reset();
        collective->scratch_capacity_ = 0;
    }
    collective->own_schedule_.clear();
    collective->completion.then = nullptr;
    if (collective->tag_kept_) kept_tags_.erase({collective->team_->context, collective->tag_});
    collective->tag_kept_ = false;
    collective->error = {};
    if (collective->kept_) collective->release_plan();
    collective->next_spare_ = spare_;
    spare_ = collective;
}

// Who waits for posts of others, with processors to spare, looks for them alone for a while: they come soon, and a turn of the engine
// takes longer than that.
void Collective::look_for_posts() {
    constexpr int looks = 100;
    for (int look = 0; look < looks && polled_.size() == 1 && !waits_for_program(polled_[0]); ++look) {
        StepId id = polled_[0];
        if (!advance(id)) continue;
        polled_.clear();
        Poller::hook.unlink();
        done(id);
        if (left_ == 0) finish();
        else drain();
    }
}

Error Executor::finish(Collective *collective) {
    look_for_posts(*collective);
    if (!collective->completion.complete()) engine().wait_owned(collective->completion);
    Error error = collective->error;
    give_back(collective);
    return error;
}

}  // namespace lanyard
