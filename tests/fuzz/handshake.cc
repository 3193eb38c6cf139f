// Tests how a process reads greetings. A process of the job that breaks the protocol, and strangers without
// the job's secret, send any bytes on several connections to process 1. Meanwhile processes 0 and 1, which
// follow the protocol, exchange messages. They must keep their one connection.
// Input: two bytes that choose delays, then the steps. A step begins with a byte that names it:
//     0 N        dials process 1 on connection N (of 4)
//     1 N L ...  sends L bytes on connection N
//     2 N K F FROM TO EPOCH(4) EXPECTS(1)
//                sends a greeting of kind K with a proof. The bits of F: 1 with another secret, 2 for another
//                job, 4 with other settings, 8 without regard to the greeting that was received. FROM is used
//                only with another secret
//     3 N        sends the hello again with which the connection of processes 0 and 1 began
//     4 N        receives a greeting
//     5 N        closes connection N
//     6 T        lets T turns pass
//     7          process 1 sends a message, for which it opens a connection
//     8 N        accepts that connection as connection N
#include "base/log.h"
#include "fuzz/caller.h"
#include "fuzz/fuzz.h"
#include "path/tcp/tcp_path.h"

namespace lanyard::fuzz {
namespace {

using sim::Baton, sim::SimInternet, sim::SimSockets;

constexpr uint32_t processes = 3, liar = 2;
constexpr int most_steps = 60;

// Counts what a process that follows the protocol receives from the other one.
struct Counter final : Sink {
    uint64_t from_honest = 0;
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *, size_t) override {
        if (peer == liar) return;
        must(envelope.context == from_honest, "envelopes come once and in order");
        ++from_honest;
    }
    void bulk(uint32_t peer, const BulkHeader &, const std::byte *, size_t) override {
        must(peer == liar, "nobody else sent bulk");
    }
    void sent(uint64_t) override { must(false, "nothing was pending"); }
    void lost(uint32_t peer, Error reason) override {
        reason.discard();
        must(peer == liar, "a peer that keeps to the protocol is not lost");
    }
};

class Scene {
public:
    explicit Scene(uint64_t seed)
        : baton_(seed),
          internet_(baton_, {.preempt_percent = 0}),
          sockets_{{internet_, 0}, {internet_, 1}, {internet_, liar}} {
        listener_ = sockets_[liar].listen(SimInternet::address_of(liar));
        ports_[liar] = sockets_[liar].bound(listener_).port;
        auto find = [this](uint32_t peer, std::vector<Address> &list) {
            list.push_back(SimInternet::address_of(peer).with_port(ports_[peer]));
            return Error();
        };
        for (uint32_t own : {0u, 1u}) {
            identity_.own.number = own;
            paths_[own] = std::make_unique<TcpPath>(sockets_[own], identity_, table_, TcpLimits(), find);
            must(!paths_[own]->listen({SimInternet::address_of(own)}, 0, 0, ports_[own]),
                 "a process can listen");
        }
        identity_.own.number = liar;
        for (auto &caller : callers_) caller = std::make_unique<Caller>(sockets_[liar], [this] { turn(); });
        exchange();
    }

    void step(Input &input) {
        uint64_t what = input.number(1) % 9;
        size_t which = what == 7 ? 0 : input.number(1);
        Caller &caller = *callers_[which % std::size(callers_)];
        Greeting &heard = heard_[which % std::size(callers_)];
        switch (what) {
            case 0: caller.dial(SimInternet::address_of(1).with_port(ports_[1])); break;
            case 1: {
                std::string_view bytes = input.text(input.number(1));
                caller.say(bytes.data(), bytes.size());
                break;
            }
            case 2: {
                Greeting greeting = made(input, heard);
                caller.say(&greeting, sizeof greeting);
                break;
            }
            case 3: {
                Greeting old{};
                old.kind = GreetingKind::hello;
                old.to = old.epoch = 1;
                WireIdentity honest;
                seal(old, honest, nullptr);
                caller.say(&old, sizeof old);
                break;
            }
            case 4: caller.hear(&heard, sizeof heard, 60); break;
            case 5: caller.close(); break;
            case 6:
                for (size_t i = 0; i < which; ++i) turn();
                break;
            case 7: {
                Envelope envelope{};
                envelope.kind = EnvelopeKind::eager;
                paths_[1]->send(liar, envelope, {});
                break;
            }
            default: caller.accept(listener_);
        }
    }
    void check() {
        exchange();
        must(paths_[0]->counts().broken == 0, "a connection of two that keep to the protocol is left alone");
        must(paths_[0]->connector().counts().made == 1, "and is made once");
    }

private:
    Greeting made(Input &input, const Greeting &heard) {
        Greeting greeting{};
        greeting.kind = static_cast<GreetingKind>(input.number(1) % 6);
        uint64_t flags = input.number(1);
        WireIdentity as = identity_;
        auto from = static_cast<uint32_t>(input.number(1));
        greeting.to = static_cast<uint32_t>(input.number(1));
        greeting.epoch = static_cast<uint32_t>(input.number(4));
        greeting.expects = input.number(1);
        if (greeting.expects > 200) greeting.expects = UINT64_MAX - greeting.expects;
        if (flags & 1) {
            Secret::parse(std::string(64, '5'), as.secret);
            as.own.number = from % processes;
        }
        if (flags & 2) as.job[3] = 1;
        if (flags & 4) as.settings = 1;
        bool answers = greeting.kind != GreetingKind::hello && !(flags & 8);
        seal(greeting, as, answers ? &heard : nullptr);
        return greeting;
    }
    void turn() {
        for (uint32_t own : {0u, 1u}) paths_[own]->poll(counters_[own], 100, baton_.now_ns());
    }
    // Sends a message from process 0 to process 1.
    void exchange() {
        Envelope envelope{};
        envelope.kind = EnvelopeKind::eager;
        uint64_t before = envelope.context = counters_[1].from_honest;
        must(paths_[0]->send(1, envelope, {}) == Sent::done, "a message is taken");
        for (int i = 0; i < 20'000 && counters_[1].from_honest == before; ++i) turn();
        must(counters_[1].from_honest == before + 1, "a message arrives");
    }

    Baton baton_;
    SimInternet internet_;
    SimSockets sockets_[processes];
    WireIdentity identity_;
    Processes table_{processes};
    uint16_t ports_[processes] = {};
    int listener_ = -1;
    std::unique_ptr<TcpPath> paths_[2];
    Counter counters_[2];
    std::unique_ptr<Caller> callers_[4];
    Greeting heard_[4] = {};
};

}  // namespace
}  // namespace lanyard::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::detail::log_level = -1;  // refusals and broken connections are not logged
    lanyard::fuzz::Input input(data, size);
    lanyard::fuzz::Scene scene(input.number(2));
    for (int i = 0; i < lanyard::fuzz::most_steps && !input.empty(); ++i) scene.step(input);
    scene.check();
    return 0;
}
