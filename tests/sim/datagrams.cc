// Implements the endpoints of the simulated processes, and the thread that drives their network. See
// datagrams.h.
#include "sim/datagrams.h"

#include "sim/known_secret.h"

namespace lanyard::sim {

namespace {
// how long to wait before sending again if the card's queue is full
constexpr uint64_t full_again_ns = 5'000;
constexpr int preempt_percent = 25;  // share of the receive calls before which other threads run
}  // namespace

// The network endpoint of one process, whose clock is that of the baton.
class SimDatagrams::Endpoint final : public PacketIo {
public:
    Endpoint(SimDatagrams &datagrams, uint32_t process)
        : datagrams_(datagrams), host_(datagrams.network.host(process)), process_(process) {}

    std::string name() const override { return host_.name(); }
    int64_t destination(std::string_view name) override { return host_.destination(name); }
    size_t largest(uint64_t destination) const override { return host_.largest(destination); }
    int send(const Outgoing *list, int count) override {
        Baton &baton = datagrams_.baton_;
        datagrams_.network.advance(baton.now_ns());
        int sent = host_.send(list, count);
        if (sent < count) baton.notify_at(baton.now_ns() + full_again_ns, datagrams_.threads_[process_]);
        datagrams_.wake();
        return sent;
    }
    int receive(Arrived *list, int most) override {
        Baton &baton = datagrams_.baton_;
        if (baton.random().chance(preempt_percent)) baton.pass();
        int received = host_.receive(list, most);
        if (received > 0) baton.progress();
        return received;
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return datagrams_.baton_.now_ns(); }
    std::string describe() const override { return host_.describe(); }

private:
    SimDatagrams &datagrams_;
    PacketIo &host_;
    const uint32_t process_;
};

std::vector<Member> members_of(const Processes &everybody) {
    std::vector<Member> members;
    for (uint32_t peer = 0; peer < everybody.count(); ++peer)
        members.push_back({everybody.name(peer), &everybody});
    return members;
}

SimDatagrams::SimDatagrams(Baton &baton, const PacketBehaviour &behaviour, const DgramLimits &limits,
                           const std::vector<Member> &members)
    : network(baton.random().next(), behaviour, static_cast<uint32_t>(members.size())),
      baton_(baton),
      threads_(members.size(), UINT32_MAX) {
    for (uint32_t own = 0; own < members.size(); ++own) {
        const Processes &known = *members[own].known;
        auto find = [&known](uint32_t peer, std::string &name) {
            name = std::to_string(known.name(peer).serial());
            return Error();
        };
        endpoints_.push_back(std::make_unique<Endpoint>(*this, own));
        paths_.push_back(std::make_unique<DgramPath>(*endpoints_[own], members[own].name, known, 1 + own,
                                                     Crc32c::built_in(), limits, find));
        paths_[own]->set_secret(known_secret());
    }
}

SimDatagrams::~SimDatagrams() = default;

void SimDatagrams::add_thread(const std::string &name) {
    thread_ = baton_.add(name, [this] { live(); }, [this] { return " " + network.describe(); });
}

void SimDatagrams::end() {
    over_ = true;
    baton_.notify(thread_);
}

void SimDatagrams::wake() {
    if (network.next_ns() < wakes_ns_) baton_.notify(thread_);
}

void SimDatagrams::live() {
    while (!over_) {
        baton_.arm();
        network.advance(baton_.now_ns());
        for (uint32_t process = 0; process < threads_.size(); ++process)
            if (network.has_arrived(process)) baton_.notify(threads_[process]);
        wakes_ns_ = network.next_ns();
        if (wakes_ns_ == UINT64_MAX) baton_.sleep();
        else baton_.sleep_until(wakes_ns_);
    }
}

}  // namespace lanyard::sim
