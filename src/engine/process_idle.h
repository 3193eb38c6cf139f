// How a real process waits: with a processor for each rank it spins for about the price of a wake-up and then sleeps; where
// ranks outnumber processors it yields a few times and for some microseconds, and then sleeps. It sleeps on its word, by which peers of
// the node wake it; with open sockets it sleeps in epoll, with them and with a doorbell for those peers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/sleep_word.h"
#include "engine/idle.h"

namespace lanyard {

struct WaitRecord;

struct IdlePolicy {
    uint64_t spin_ns;       // before the first sleep
    uint32_t yields;        // instead of spinning, where ranks outnumber processors
    bool oversubscribed;           // they do
    uint64_t yield_ns = 0;  // and for at least so long
};

// For `ranks` on this node and `processors` granted to it, whose waits look at `sockets` too, or at memory only; spin_us < 0 chooses.
IdlePolicy choose_idle_policy(int ranks, int processors, bool sockets, int64_t spin_us);

class ProcessIdle final : public Idle {
public:
    // `word` lies where the peers of the node see it; nullptr: there are none. `record`, if any, is told since when the process is idle.
    explicit ProcessIdle(const IdlePolicy &policy, SleepWord *word = nullptr, WaitRecord *record = nullptr)
        : policy_(policy), word_(word ? word : &own_), shared_(word != nullptr), record_(record) {}
    ~ProcessIdle() override;

    // From now on it sleeps in epoll, with a doorbell for peers; false when the system gives no descriptors for that.
    bool use_descriptors();
    // After that: it also wakes when this one is readable.
    bool watch(int descriptor);
    void forget(int descriptor);
    // By the owner of the engine.
    void set_policy(const IdlePolicy &policy) { policy_ = policy; }
    // Readable when there is something to wake for; -1 before use_descriptors().
    int descriptor() const { return epoll_; }

    Action next(uint32_t idle_turns, uint64_t idle_since_ns, uint64_t now_ns) override;
    void yield() override;
    void arm() override;
    void sleep(uint64_t deadline_ns) override;
    void disarm() override { word_->wake_up(); }
    void quieten() override;
    void wake() override { wake_if_asleep(*word_, shared_); }

private:
    void sleep_at_doorbell(uint64_t limit_ns);

    IdlePolicy policy_;
    SleepWord own_{};
    SleepWord *word_;
    bool shared_;
    WaitRecord *record_;
    std::unique_ptr<Doorbell> bell_;
    int epoll_ = -1;
};

}  // namespace lanyard
