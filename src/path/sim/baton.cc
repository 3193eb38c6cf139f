// See baton.h.
#include "path/sim/baton.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace lanyard::sim {

namespace {
constexpr uint64_t longest_turn_ns = 300;
}

uint32_t Baton::add(std::string name, std::function<void()> body, std::function<std::string()> waits_for) {
    auto number = static_cast<uint32_t>(members_.size());
    members_.push_back(std::make_unique<Member>());
    members_.back()->name = std::move(name);
    members_.back()->body = std::move(body);
    members_.back()->waits_for = std::move(waits_for);
    return number;
}

void Baton::run() {
    unfinished_ = members_.size();
    if (!unfinished_) return;
    for (uint32_t number = 0; number < members_.size(); ++number) set_runnable(number);
    std::vector<std::thread> threads;
    for (uint32_t number = 0; number < members_.size(); ++number)
        threads.emplace_back([this, number] { live(number); });
    {
        std::unique_lock lock(mutex_);
        running_ = choose();
        members_[running_]->turn.notify_one();
        all_done_.wait(lock, [&] { return unfinished_ == 0; });
    }
    for (std::thread &thread : threads) thread.join();
    members_.clear();
    running_ = nobody;
}

void Baton::live(uint32_t number) {
    Member &self = *members_[number];
    {
        std::unique_lock lock(mutex_);
        self.turn.wait(lock, [&] { return running_ == number; });
    }
    self.body();
    self.finished = true;
    set_blocked(number);
    bool last = unfinished_ == 1;
    uint32_t next = last ? nobody : choose();
    std::lock_guard lock(mutex_);
    --unfinished_;
    running_ = next;
    if (last) all_done_.notify_one();
    else members_[next]->turn.notify_one();
}

void Baton::hand_over() {
    uint32_t self = running_, next = choose();
    if (next == self) return;
    std::unique_lock lock(mutex_);
    running_ = next;
    members_[next]->turn.notify_one();
    members_[self]->turn.wait(lock, [&] { return running_ == self; });
}

// Draws which thread runs next. Time advances a little or, if all threads sleep, to the next event.
uint32_t Baton::choose() {
    ++turns_;
    if (++fruitless_turns_ > most_fruitless_turns)
        give_up("nothing has moved for a long time, but a thread keeps polling");
    tick();
    while (runnable_.empty()) {
        if (events_.empty()) give_up("a deadlock: all threads sleep and nothing is on its way");
        now_ns_ = events_.top().time_ns;
        fire_events();
    }
    return random_.pick(runnable_);
}

void Baton::tick() {
    now_ns_ += random_.below(longest_turn_ns);
    fire_events();
}

void Baton::fire_events() {
    while (!events_.empty() && events_.top().time_ns <= now_ns_) {
        uint32_t thread = events_.top().thread;
        events_.pop();
        notify(thread);
    }
}

void Baton::pass() {
    if (running_ == nobody) tick();
    else hand_over();
}

void Baton::arm() {
    if (running_ != nobody) members_[running_]->notified = false;
}

void Baton::sleep() {
    if (running_ == nobody) return tick();
    if (members_[running_]->notified) return;
    set_blocked(running_);
    hand_over();
}

void Baton::sleep_until(uint64_t time_ns) {
    if (running_ == nobody || time_ns <= now_ns_) return tick();
    notify_at(time_ns, running_);
    sleep();
}

void Baton::notify(uint32_t thread) {
    if (thread >= members_.size() || members_[thread]->finished) return;
    members_[thread]->notified = true;
    set_runnable(thread);
}

void Baton::notify_at(uint64_t time_ns, uint32_t thread) { events_.push({time_ns, next_order_++, thread}); }

void Baton::set_runnable(uint32_t number) {
    Member &member = *members_[number];
    if (member.place != absent) return;
    member.place = runnable_.size();
    runnable_.push_back(number);
}

void Baton::set_blocked(uint32_t number) {
    Member &member = *members_[number];
    if (member.place == absent) return;
    uint32_t last = runnable_.back();
    runnable_[member.place] = last;
    members_[last]->place = member.place;
    runnable_.pop_back();
    member.place = absent;
}

// Ends the process, because the threads cannot be unwound from where they are.
void Baton::give_up(const char *what) {
    std::fflush(nullptr);
    std::fprintf(stderr, "The simulation has come to %s, after %llu turns at %llu ns.\n", what,
                 static_cast<unsigned long long>(turns_), static_cast<unsigned long long>(now_ns_));
    for (const auto &member : members_) {
        if (member->finished) continue;
        const char *state = member->place == absent ? "sleeps" : "runs";
        std::fprintf(stderr, "  %s %s: %s\n", member->name.c_str(), state,
                     member->waits_for ? member->waits_for().c_str() : "");
    }
    std::fprintf(stderr, "Repeat with LANYARD_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed_));
    std::_Exit(1);
}

}  // namespace lanyard::sim
