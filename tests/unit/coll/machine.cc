#include "machine.h"

#include <cstdlib>
#include <cstring>

#include "datatype/cursor.h"

namespace lanyard::testing {

struct Machine::State {
    std::vector<int32_t> before;
    std::vector<int> depth;  // of what each step waited for
    std::vector<std::byte> scratch;
    std::vector<ExchangeRun> exchanges;
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

Machine::Machine(int size, uint64_t seed, size_t area_bytes) : random_(seed) {
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
    }
}

Machine::~Machine() { std::free(area_); }

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
    state.scratch.assign(static_cast<size_t>(rank.schedule.scratch_size()) + 64 + 2 * guard_bytes, guard_value);
    state.left = static_cast<int32_t>(steps.size());
    state.depth.assign(steps.size(), 0);
    state.exchanges.resize(rank.schedule.exchanges().size());
    for (ExchangeRun &exchange : state.exchanges) exchange.begin(rank.team);
    for (StepId id = 0; id < state.left; ++id) {
        state.before.push_back(steps[id].before);
        if (steps[id].before == 0) startable_.push_back({index, id});
    }
}

void Machine::finish(int index, StepId id, int depth) {
    const Schedule &schedule = ranks_[index]->schedule;
    State &state = *states_[index];
    --state.left;
    for (int32_t edge = schedule.steps()[id].first_edge; edge >= 0; edge = schedule.edges()[edge].next) {
        StepId later = schedule.edges()[edge].to;
        state.depth[later] = std::max(state.depth[later], depth);
        if (--state.before[later] == 0) startable_.push_back({index, later});
    }
}

std::string Machine::start(int index, StepId id) {
    const Schedule &schedule = ranks_[index]->schedule;
    const Step &step = schedule.steps()[id];
    int depth = states_[index]->depth[id];
    if (step.kind == StepKind::send || step.kind == StepKind::receive) {
        bool send = step.kind == StepKind::send;
        if (step.peer == index || step.peer < 0 || step.peer >= static_cast<int>(ranks_.size()))
            return "rank " + std::to_string(index) + " names peer " + std::to_string(step.peer);
        Route route = send ? Route(index, step.peer, step.label) : Route(step.peer, index, step.label);
        Channel &channel = channels_[route];
        Posted posted{index, id, depth, false, {}};
        if (send && random_() % 2) {
            // Like an eager message: copied away at once, the buffer is free.
            posted.data = packed(buffer(index, step.from));
            posted.copied = true;
            finish(index, id, depth);
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
        lanyard::reduce(*schedule.op, buffer(index, step.from).base, buffer(index, step.to).base, step.to.count, *step.to.type);
    finish(index, id, depth);
    return "";
}

std::string Machine::deliver(Route route) {
    Channel &channel = channels_[route];
    if (channel.sends.empty() || channel.receives.empty()) return "";  // listed twice
    Posted sent = std::move(channel.sends.front()), received = std::move(channel.receives.front());
    channel.sends.pop_front();
    channel.receives.pop_front();
    if (channel.sends.size() && channel.receives.size()) deliverable_.push_back(route);
    const Step &from = ranks_[sent.rank]->schedule.steps()[sent.step];
    const Step &to = ranks_[received.rank]->schedule.steps()[received.step];
    if (!sent.copied) sent.data = packed(buffer(sent.rank, from.from));
    if (static_cast<int64_t>(sent.data.size()) != to.to.bytes())
        return "rank " + std::to_string(sent.rank) + " sends " + std::to_string(sent.data.size()) + " bytes, rank " +
               std::to_string(received.rank) + " receives " + std::to_string(to.to.bytes());
    if (!sent.data.empty()) Cursor(buffer(received.rank, to.to)).unpack(sent.data.data(), sent.data.size());
    ++observed_.messages;
    observed_.bytes += static_cast<int64_t>(sent.data.size());
    int depth = std::max(sent.depth + 1, received.depth);
    observed_.rounds = std::max(observed_.rounds, depth);
    finish(received.rank, received.step, depth);
    if (!sent.copied) unsent_.push_back(std::move(sent));
    return "";
}

bool Machine::advance(int index, StepId id) {
    const Schedule &schedule = ranks_[index]->schedule;
    int32_t number = schedule.steps()[id].number;
    return states_[index]->exchanges[number].advance(schedule.exchanges()[number], schedule.op, ranks_[index]->team, nullptr,
                                                     [&](const Block &block) { return buffer(index, block); });
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
            finish(sent.rank, sent.step, states_[sent.rank]->depth[sent.step]);
            fruitless = 0;
        } else {
            auto waiting = take(polled_);
            if (advance(waiting.first, waiting.second)) {
                finish(waiting.first, waiting.second, states_[waiting.first]->depth[waiting.second]);
                fruitless = 0;
            } else {
                polled_.push_back(waiting);
                if (++fruitless > 1000 * ranks_.size()) return "exchanges do not get on";
            }
        }
        if (!wrong.empty()) return wrong;
    }
    for (size_t index = 0; index < ranks_.size(); ++index) {
        if (states_[index]->left) return "deadlock: rank " + std::to_string(index) + " has steps that cannot start";
        std::vector<std::byte> &scratch = states_[index]->scratch;
        std::byte *begin = aligned(scratch), *end = begin + ranks_[index]->schedule.scratch_size();
        for (std::byte *p = scratch.data(); p < scratch.data() + scratch.size(); ++p)
            if ((p < begin || p >= end) && *p != guard_value) return "rank " + std::to_string(index) + " wrote beside its scratch memory";
    }
    for (auto &[route, channel] : channels_)
        if (!channel.sends.empty() || !channel.receives.empty()) return "a message was never received or never sent";
    return "";
}

}  // namespace lanyard::testing
