// How a real process waits. If each rank has a processor of its own, it spins for about the price of a
// wake-up and then sleeps. Where ranks outnumber processors, it yields a few times and for some microseconds,
// and then sleeps. It sleeps on its sleep word, by which peers of the node wake it. With open sockets it
// sleeps in epoll, on those sockets and a doorbell for these peers.
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
    bool oversubscribed;    // ranks outnumber processors
    uint64_t yield_ns = 0;  // and yields for at least this time
};

// For `ranks` on this node and the `processors` granted to it. `sockets`: waiting threads look at sockets
// too, not only at memory. spin_us < 0: the policy chooses.
IdlePolicy choose_idle_policy(int ranks, int processors, bool sockets, int64_t spin_us);

class ProcessIdle final : public Idle {
public:
    // `word` lies where the peers of the node see it; nullptr: this process has none. `record`, if not null,
    // receives the time since which the process has been idle.
    explicit ProcessIdle(const IdlePolicy &policy, SleepWord *word = nullptr, WaitRecord *record = nullptr)
        : policy_(policy), word_(word ? word : &own_), shared_(word != nullptr), record_(record) {}
    ~ProcessIdle() override;

    // From now on the process sleeps in epoll, with a doorbell for peers. Returns false if the system gives
    // no descriptors for that.
    bool use_descriptors();
    // After use_descriptors(): `descriptor` becoming readable also wakes the process.
    bool watch(int descriptor);
    void forget(int descriptor);
    // By the owner of the engine.
    void set_policy(const IdlePolicy &policy) { policy_ = policy; }
    // Readable when there is a reason to wake; -1 before use_descriptors().
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
