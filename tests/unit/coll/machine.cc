// See machine.h.
#include "machine.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "datatype/cursor.h"

namespace lanyard::testing {

struct Machine::State {
    std::vector<int32_t> before;
    std::vector<Chain> chain;  // by step: the chain of events for which the step has waited
    Chain end;                 // the join of the chains of all steps that are done
    std::vector<std::byte> scratch;
    std::vector<ExchangeRun> exchanges;
    bool may_pass = false;     // the schedule has only one exchange, which is first tried as a short use
    bool looks_again = false;  // this has been tried, and only posts of others were missing
    int32_t left = 0;
};

namespace {

constexpr size_t guard_bytes = 64;
constexpr std::byte guard_value{0xA5};

std::byte *aligned(std::vector<std::byte> &memory) {
    auto start = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<std::byte *>((start + 63) / 64 * 64) + guard_bytes;
}

}  // namespace

std::vector<std::byte> packed(const Buffer &buffer) {
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes()));
    if (!bytes.empty()) Cursor(buffer).pack(bytes.data(), bytes.size());
    return bytes;
}

Error Machine::Reach::read(uint32_t, uint64_t address, std::byte *to, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const std::byte *>(address), bytes);
    return {};
}

Machine::Machine(int size, uint64_t seed, Shares shares) : random_(seed), pieces_(exchange_pieces_bytes) {
    size_t area_bytes = shares == Shares::nothing ? 0 : node_area_bytes(size);
    if (area_bytes) area_ = static_cast<std::byte *>(std::aligned_alloc(64, (area_bytes + 63) / 64 * 64));
    if (area_) std::memset(area_, 0, area_bytes);
    for (int i = 0; i < size; ++i) peers_.push_back(static_cast<uint32_t>(i));
    for (int i = 0; i < size; ++i) {
        ranks_.push_back(std::make_unique<Rank>());
        Team &team = ranks_.back()->team;
        team.index = i;
        team.size = size;
        team.peers = peers_.data();
        team.node_area = area_;
        team.node_area_bytes = area_bytes;
        team.direct_reads = shares == Shares::memory;
        ranks_.back()->copies = random_() % 2 ? "twice" : "once";
    }
}

Machine::~Machine() { std::free(area_); }

void Machine::place(const Nodes *nodes) {
    nodes_ = nodes;
    node_in_.assign(static_cast<size_t>(nodes ? nodes->count() : 0), 0);
    node_out_ = node_in_;
    for (auto &rank : ranks_) rank->team.nodes = nodes;
}

uint64_t Machine::heard(int index) const { return states_[index]->end.heard; }

Buffer Machine::buffer(int index, const Block &block) {
    Rank &rank = *ranks_[index];
    std::byte *base = block.space == Space::send      ? rank.send.data() + rank.send_origin
                      : block.space == Space::receive ? rank.receive.data() + rank.receive_origin
                                                      : aligned(states_[index]->scratch);
    return {base + block.offset, block.count, block.type};
}

void Machine::begin(int index) {
    Rank &rank = *ranks_[index];
    states_.push_back(std::make_unique<State>());
    State &state = *states_.back();
    const std::vector<Step> &steps = rank.schedule.steps();
    state.scratch.assign(static_cast<size_t>(rank.schedule.scratch_size()) + 64 + 2 * guard_bytes,
                         guard_value);
    state.left = static_cast<int32_t>(steps.size());
    state.chain.assign(steps.size(), Chain{.heard = uint64_t{1} << (index % 64)});
    state.end.heard = uint64_t{1} << (index % 64);
    state.exchanges.resize(rank.schedule.exchanges().size());
    for (ExchangeRun &exchange : state.exchanges) exchange.begin(rank.team, 0, 0);
    state.may_pass = random_() % 2 == 0;
    for (StepId id = 0; id < state.left; ++id) {
        state.before.push_back(steps[id].before);
        if (steps[id].before == 0) startable_.push_back({index, id});
    }
}

void Machine::finish(int index, StepId id, const Chain &chain) {
    const Schedule &schedule = ranks_[index]->schedule;
    State &state = *states_[index];
    --state.left;
    state.end.join(chain);
    for (int32_t edge = schedule.steps()[id].first_edge; edge >= 0; edge = schedule.edges()[edge].next) {
        StepId later = schedule.edges()[edge].to;
        state.chain[later].join(chain);
        if (--state.before[later] == 0) startable_.push_back({index, later});
    }
}

std::string Machine::start(int index, StepId id) {
    const Schedule &schedule = ranks_[index]->schedule;
    const Step &step = schedule.steps()[id];
    const Chain chain = states_[index]->chain[id];
    if (step.kind == StepKind::send || step.kind == StepKind::receive) {
        bool send = step.kind == StepKind::send;
        if (step.peer == index || step.peer < 0 || step.peer >= static_cast<int>(ranks_.size()))
            return "rank " + std::to_string(index) + " names peer " + std::to_string(step.peer);
        Route route = send ? Route(index, step.peer, step.label) : Route(step.peer, index, step.label);
        Channel &channel = channels_[route];
        Posted posted{index, id, chain, false, {}};
        if (send && random_() % 2) {
            // Behaves like an eager message: copies the data at once, so that the buffer may be
            // reused.
            posted.data = packed(buffer(index, step.from));
            posted.copied = true;
            finish(index, id, chain);
        }
        (send ? channel.sends : channel.receives).push_back(std::move(posted));
        if (channel.sends.size() && channel.receives.size()) deliverable_.push_back(route);
        return "";
    }
    if (step.kind == StepKind::exchange) {
        polled_.push_back({index, id});
        return "";
    }
    if (step.kind == StepKind::copy) {
        std::vector<std::byte> data = packed(buffer(index, step.from));
        Buffer to = buffer(index, step.to);
        if (to.bytes() != step.from.bytes()) return "a copy between blocks of different size";
        Cursor(to).unpack(data.data(), data.size());
    }
    if (step.kind == StepKind::reduce)
        lanyard::reduce(*schedule.op, buffer(index, step.from).base, buffer(index, step.to).base,
                        step.to.count, *step.to.type);
    finish(index, id, chain);
    return "";
}

std::string Machine::deliver(Route route) {
    Channel &channel = channels_[route];
    // an earlier entry of the same route has delivered this message already
    if (channel.sends.empty() || channel.receives.empty()) return "";
    Posted sent = std::move(channel.sends.front()), received = std::move(channel.receives.front());
    channel.sends.pop_front();
    channel.receives.pop_front();
    if (channel.sends.size() && channel.receives.size()) deliverable_.push_back(route);
    const Step &from = ranks_[sent.rank]->schedule.steps()[sent.step];
    const Step &to = ranks_[received.rank]->schedule.steps()[received.step];
    if (!sent.copied) sent.data = packed(buffer(sent.rank, from.from));
    if (static_cast<int64_t>(sent.data.size()) != to.to.bytes())
        return "rank " + std::to_string(sent.rank) + " sends " + std::to_string(sent.data.size()) +
               " bytes, rank " + std::to_string(received.rank) + " receives " + std::to_string(to.to.bytes());
    if (!sent.data.empty()) Cursor(buffer(received.rank, to.to)).unpack(sent.data.data(), sent.data.size());
    ++observed_.messages;
    observed_.bytes += static_cast<int64_t>(sent.data.size());
    Chain chain = sent.chain;
    ++chain.messages;
    if (nodes_ && nodes_->node_of[sent.rank] != nodes_->node_of[received.rank]) {
        ++chain.far;
        ++observed_.far_messages;
        node_out_[nodes_->node_of[sent.rank]] += static_cast<int64_t>(sent.data.size());
        node_in_[nodes_->node_of[received.rank]] += static_cast<int64_t>(sent.data.size());
    }
    chain.join(received.chain);
    observed_.rounds = std::max(observed_.rounds, chain.messages);
    observed_.far_rounds = std::max(observed_.far_rounds, chain.far);
    finish(received.rank, received.step, chain);
    if (!sent.copied) unsent_.push_back(std::move(sent));
    return "";
}

// Returns true if the step is done. `wrong` then describes a mismatch that the exchange reports, if any.
bool Machine::advance(int index, StepId id, std::string &wrong) {
    const Schedule &schedule = ranks_[index]->schedule;
    int32_t number = schedule.steps()[id].number;
    struct Owner {
        Machine &machine;
        int index;
    } owner{*this, index};
    auto buffer_of = [](const void *of, const Block &block) {
        auto &self = *static_cast<const Owner *>(of);
        return self.machine.buffer(self.index, block);
    };
    Team &team = ranks_[index]->team;
    State &state = *states_[index];
    ShortUse use;
    bool first = std::exchange(state.may_pass, false);
    if ((first || state.looks_again) && use.prepare(schedule, team)) {
        Rank &rank = *ranks_[index];
        std::byte *send = rank.send.empty() ? nullptr : rank.send.data() + rank.send_origin;
        std::byte *receive = rank.receive.empty() ? nullptr : rank.receive.data() + rank.receive_origin;
        ExchangeRun &run = state.exchanges[0];
        ExchangePlace place{{team, use.area(), &reach_}, schedule.exchanges()[0]};
        if (first ? run.pass(place, use, {send, receive}) : run.pass_on(place, use, {send, receive}))
            return true;
        state.looks_again = run.waits_for_posts() && random_() % 4 != 0;
        if (state.looks_again) return false;
    }
    const Exchange &exchange = schedule.exchanges()[number];
    Rank &rank = *ranks_[index];
    Error failure;
    bool done = state.exchanges[number].advance(
        {{{team, NodeArea(team), &reach_}, exchange}, schedule, pieces_.data(), &owner, buffer_of, &failure,
         &rank.stage, &rank.copies});
    LANYARD_MUST(!failure);  // no reduction operation of these tests throws
    if (Error mismatch = done ? state.exchanges[number].check().error() : Error())
        wrong = "rank " + std::to_string(index) + ": " + mismatch.take().sentence;
    return done;
}

std::string Machine::run() {
    states_.clear();
    observed_ = {};
    for (int index = 0; index < static_cast<int>(ranks_.size()); ++index) begin(index);
    auto take = [&](auto &list) {
        std::swap(list[pick(list.size())], list.back());
        auto chosen = list.back();
        list.pop_back();
        return chosen;
    };
    size_t fruitless = 0;
    while (true) {
        size_t choices = startable_.size() + deliverable_.size() + unsent_.size() + polled_.size();
        if (choices == 0) break;
        size_t choice = pick(choices);
        std::string wrong;
        if (choice < startable_.size()) {
            auto [index, id] = take(startable_);
            wrong = start(index, id);
            fruitless = 0;
        } else if (choice < startable_.size() + deliverable_.size()) {
            wrong = deliver(take(deliverable_));
            fruitless = 0;
        } else if (choice < startable_.size() + deliverable_.size() + unsent_.size()) {
            Posted sent = take(unsent_);
            if (packed(buffer(sent.rank, ranks_[sent.rank]->schedule.steps()[sent.step].from)) != sent.data)
                wrong = "rank " + std::to_string(sent.rank) + " overwrites what it sends";
            finish(sent.rank, sent.step, states_[sent.rank]->chain[sent.step]);
            fruitless = 0;
        } else {
            auto waiting = take(polled_);
            if (advance(waiting.first, waiting.second, wrong)) {
                finish(waiting.first, waiting.second, states_[waiting.first]->chain[waiting.second]);
                fruitless = 0;
            } else {
                polled_.push_back(waiting);
                if (++fruitless > 1000 * ranks_.size()) return "exchanges do not get on";
            }
        }
        if (!wrong.empty()) return wrong;
    }
    for (size_t index = 0; index < ranks_.size(); ++index) {
        if (states_[index]->left)
            return "deadlock: rank " + std::to_string(index) + " has steps that cannot start";
        std::vector<std::byte> &scratch = states_[index]->scratch;
        std::byte *begin = aligned(scratch), *end = begin + ranks_[index]->schedule.scratch_size();
        for (std::byte *p = scratch.data(); p < scratch.data() + scratch.size(); ++p)
            if ((p < begin || p >= end) && *p != guard_value)
                return "rank " + std::to_string(index) + " wrote beside its scratch memory";
    }
    for (const std::vector<int64_t> *bytes : {&node_in_, &node_out_})
        for (int64_t each : *bytes)
            observed_.busiest_node_bytes = std::max(observed_.busiest_node_bytes, each);
    for (auto &[route, channel] : channels_)
        if (!channel.sends.empty() || !channel.receives.empty())
            return "a message was never received or never sent";
    return "";
}

}  // namespace lanyard::testing
