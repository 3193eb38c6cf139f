#include "coll/executor.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "datatype/cursor.h"

namespace lanyard {

namespace {

// A tag is: persistent or not (1 bit), the collective's number on its team (19), the label of the message (11). Numbers come
// round after half a million; by then the earlier holder is over, unless so many persistent operations are alive at once.
constexpr int label_bits = 11, number_bits = 19;
constexpr int32_t tag_of(uint32_t number, bool persistent) {
    number &= (1u << number_bits) - 1;
    return static_cast<int32_t>((uint32_t{persistent} << number_bits | number) << label_bits);
}

constexpr size_t scratch_kept = 1 << 20;
constexpr size_t scratch_alignment = 64;

// As many bytes of the packed streams, whatever the two layouts.
void copy_buffer(const Buffer &from, const Buffer &to) {
    int64_t bytes = std::min(from.bytes(), to.bytes());
    if (bytes == 0) return;
    if (to.contiguous()) return pack_block(from, to.base, bytes);
    Cursor target(to);
    if (from.contiguous()) {
        target.unpack(from.base, static_cast<size_t>(bytes));
        return;
    }
    Cursor source(from);
    std::byte between[4096];
    for (int64_t done = 0; done < bytes;) {
        size_t moved = source.pack(between, static_cast<size_t>(std::min<int64_t>(sizeof between, bytes - done)));
        target.unpack(between, moved);
        done += static_cast<int64_t>(moved);
    }
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
        size_t before = self.polled_.size();
        for (size_t i = 0; i < self.polled_.size();) {
            StepId id = self.polled_[i];
            if (self.waits_for_program(id) || !self.advance(id)) {
                ++i;
                continue;
            }
            self.polled_.erase(self.polled_.begin() + static_cast<ptrdiff_t>(i));
            self.done(id);
        }
        size_t over = before - self.polled_.size();
        if (self.polled_.empty()) poller.hook.unlink();
        if (over > 0) self.drain();
        return static_cast<int>(over);
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
    auto scratch_bytes = static_cast<size_t>(schedule.scratch_size());
    if (scratch_bytes > scratch_capacity_) {
        scratch_.reset(new (std::nothrow) std::byte[scratch_bytes + scratch_alignment]);
        scratch_capacity_ = scratch_ ? scratch_bytes : 0;
        if (!scratch_) return false;
    }
    if (schedule.transfers() > flight_capacity_) {
        flights_.reset(new (std::nothrow) Flight[static_cast<size_t>(schedule.transfers())]);
        flight_capacity_ = flights_ ? schedule.transfers() : 0;
        if (!flights_) return false;
    }
    return true;
}

void Collective::keep_tag(Team &team) {
    LANYARD_MUST(schedule.exchanges().empty());
    tag_ = tag_of(team.persistent++, true);
    number_ = 0;
    tag_kept_ = true;
}

void Collective::start(Team &team) {
    team_ = &team;
    if (!tag_kept_) {
        tag_ = tag_of(team.sequence, false);
        number_ = ++team.sequence;
    }
    completion.reset();
    executor_.engine().begin_under_way();
    exchanges_.resize(schedule.exchanges().size());
    for (ExchangeRun &exchange : exchanges_) exchange.begin(team);
    if (!prepare()) {
        error = Error(ErrorClass::no_mem, "there is no memory for the " + std::to_string(schedule.scratch_size()) +
                                              " bytes this collective operation needs beside the program's buffers");
        return finish();
    }
    const std::vector<Step> &steps = schedule.steps();
    left_ = static_cast<int32_t>(steps.size());
    before_.resize(steps.size());
    ready_.clear();
    next_ready_ = 0;
    for (StepId id = 0; id < left_; ++id) {
        before_[id] = steps[id].before;
        if (steps[id].before == 0) ready_.push_back(id);
    }
    drain();
}

// Runs what is ready, and what becomes ready by that; how many steps.
int Collective::drain() {
    int steps = 0;
    draining_ = true;
    for (; next_ready_ < ready_.size() && !waits_for_program(ready_[next_ready_]); ++steps) run(ready_[next_ready_++]);
    draining_ = false;
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
    StepKind kind = schedule.steps()[id].kind;
    return executor_.engine().helping() && (kind == StepKind::reduce || kind == StepKind::exchange) && schedule.op && schedule.op->function;
}

void Collective::run(StepId id) {
    const Step &step = schedule.steps()[id];
    switch (step.kind) {
        case StepKind::send:
        case StepKind::receive: return launch(id);
        case StepKind::copy: copy_buffer(buffer(step.from), buffer(step.to)); break;
        case StepKind::reduce:
            lanyard::reduce(*schedule.op, buffer(step.from).base, buffer(step.to).base, step.to.count, *step.to.type);
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
    const Step &step = schedule.steps()[id];
    int32_t tag = tag_ | (step.label & ((1 << label_bits) - 1));
    uint32_t peer = team_->peers[step.peer];
    // Most short messages leave at once and need no transfer.
    if (step.kind == StepKind::send && executor_.messenger_.send_now(peer, {team_->context, team_->index, tag}, buffer(step.from)))
        return done(id);
    Flight &flight = flights_[step.number];
    flight.collective = this;
    flight.step = id;
    flight.completion.reset();
    flight.completion.then = arrived;
    flight.completion.context = &flight;
    flight.context = team_->context;
    flight.tag = tag;
    flight.peer = peer;
    flight.mode = SendMode::standard;
    flight.error = {};
    if (step.kind == StepKind::send) {
        flight.buffer = buffer(step.from);
        flight.rank = team_->index;
        flight.destination = step.peer;
        executor_.messenger_.send(flight);
    } else {
        flight.buffer = buffer(step.to);
        flight.rank = step.peer;
        executor_.messenger_.receive(flight);
    }
}

bool Collective::advance(StepId id) {
    int32_t number = schedule.steps()[id].number;
    const Exchange &exchange = schedule.exchanges()[number];
    ExchangeRun &run = exchanges_[number];
    if (!run.advance(exchange, schedule.op, *team_, executor_.bell_, [this](const Block &block) { return buffer(block); }))
        return false;
    Error failure = run.error();
    keep(failure);
    return true;
}

void Collective::done(StepId id) {
    --left_;
    const Step &step = schedule.steps()[id];
    for (int32_t edge = step.first_edge; edge >= 0; edge = schedule.edges()[edge].next) {
        StepId later = schedule.edges()[edge].to;
        if (--before_[later] == 0) ready_.push_back(later);
    }
}

// A message has come or gone. Called by the messenger, maybe from inside launch().
void Collective::arrived(Completion &completion) {
    Flight &flight = *static_cast<Flight *>(completion.context);
    Collective &self = *flight.collective;
    self.keep(flight.error);
    self.done(flight.step);
    if (self.draining_) return;
    if (self.left_ == 0) return self.finish();
    if (self.next_ready_ < self.ready_.size()) self.executor_.engine().ready(self);
}

void Collective::finish() {
    if (Task::hook.linked()) Task::hook.unlink();
    executor_.engine().end_under_way();
    completion.finish();
}

Executor::~Executor() {
    while (spare_) {
        Collective *collective = spare_;
        spare_ = collective->next_spare_;
        delete collective;
    }
}

Collective *Executor::take() {
    Collective *collective = spare_;
    if (!collective) return new Collective(*this);
    spare_ = collective->next_spare_;
    collective->schedule.clear();
    return collective;
}

void Executor::give_back(Collective *collective) {
    if (collective->scratch_capacity_ > scratch_kept) {
        collective->scratch_.reset();
        collective->scratch_capacity_ = 0;
    }
    collective->completion.then = nullptr;
    collective->tag_kept_ = false;
    collective->error = {};
    collective->next_spare_ = spare_;
    spare_ = collective;
}

Error Executor::finish(Collective *collective) {
    if (!collective->completion.complete()) engine().wait_owned(collective->completion);
    Error error = collective->error;
    give_back(collective);
    return error;
}

}  // namespace lanyard
