// ProcessIdle decides how a real process waits. If each rank has a processor of its own, the process spins
// for about the time that a wake-up costs, then yields for two milliseconds, and then sleeps. Where ranks
// outnumber processors, it yields at least a few times and for some microseconds, and then sleeps. The
// process sleeps on its sleep word, by which peers of the node wake it. With open sockets it sleeps in epoll,
// on those sockets and a doorbell for the peers of the node.
// Thread rule: as in Idle. Functions that Idle does not have are called by the thread that creates the
// runtime, or by the owner of the engine.
// Tested by: tests/unit/engine/engine_test.cc, tests/unit/engine/helper_test.cc.
// Tested by: tests/unit/engine/attention_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/sleep_word.h"
#include "engine/idle.h"

namespace lanyard {

struct WaitRecord;

struct IdlePolicy {
    uint64_t spin_ns;       // spin for this time first
    uint32_t yields;        // then yield until at least this many turns were idle
    bool oversubscribed;    // ranks outnumber processors
    uint64_t yield_ns = 0;  // yield also until the process was idle for this time; then sleep
};

// Chooses a policy for `ranks` ranks on this node, to which `processors` processors are granted. `sockets`:
// waiting threads poll sockets too, not only memory. spin_us: how long to spin before the sleep; the function
// chooses how long to spin and to yield if spin_us < 0.
IdlePolicy choose_idle_policy(int ranks, int processors, bool sockets, int64_t spin_us);

class ProcessIdle final : public Idle {
public:
    // `word`: the process's sleep word, in memory that the peers of the node see; nullptr: there is no such
    // word. `record`, if not null, receives the time since which the process has been idle.
    explicit ProcessIdle(const IdlePolicy &policy, SleepWord *word = nullptr, WaitRecord *record = nullptr)
        : policy_(policy), word_(word ? word : &own_), shared_(word != nullptr), record_(record) {}
    ~ProcessIdle() override;

    // From now on the process sleeps in epoll, with a doorbell for peers. Must be called before the first
    // sleep. Returns false if the system gives no descriptors for that (errno has the reason); the process
    // must not sleep then.
    bool use_descriptors();
    // From now on the process also wakes when `descriptor` becomes readable, until forget(). Requires
    // use_descriptors(). The caller owns the descriptor and calls forget() before closing it. Returns false
    // if the system refused (errno has the reason).
    bool watch(int descriptor);
    void forget(int descriptor);
    void set_policy(const IdlePolicy &policy) { policy_ = policy; }
    // A descriptor that is readable when there is a reason to wake; -1 before use_descriptors().
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
