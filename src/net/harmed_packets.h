// HarmedPackets is an endpoint that harms packets on purpose (LANYARD_DGRAM_HARM). It sends and receives
// through another endpoint of any kind, the endpoint beneath it. Some of the packets sent are lost,
// duplicated, reordered or damaged. largest() may report less than the endpoint beneath, but longer packets
// are not dropped. HarmedPackets is used to test the layers above on networks that do no such harm
// themselves.
// Thread rule: as PacketIo.
#pragma once

#include <memory>
#include <vector>

#include "base/tally.h"
#include "config/harm.h"
#include "net/packet_io.h"
#include "net/sim/random.h"

namespace lanyard {

class HarmedPackets final : public PacketIo {
public:
    struct Counts {
        Tally<uint64_t> lost, doubled, overtaken, damaged;
    };

    HarmedPackets(std::unique_ptr<PacketIo> beneath, const Harm &harm)
        : beneath_(std::move(beneath)), harm_(harm), random_(harm.seed) {}

    std::string name() const override { return beneath_->name(); }
    int64_t destination(std::string_view name) override { return beneath_->destination(name); }
    std::vector<uint64_t> routes(std::string_view name) override { return beneath_->routes(name); }
    int64_t origin(const Arrived &packet) override { return beneath_->origin(packet); }
    bool note_origins(bool on) override { return beneath_->note_origins(on); }
    size_t largest(uint64_t destination) const override;
    std::string ends(uint64_t destination) const override { return beneath_->ends(destination); }
    bool within_host(uint64_t destination) const override { return beneath_->within_host(destination); }
    int send(const Outgoing *list, int count) override;
    int receive(Arrived *list, int most) override;
    int descriptor() const override { return beneath_->descriptor(); }
    void watch(bool on) override { beneath_->watch(on); }
    uint64_t now_ns() override { return beneath_->now_ns(); }
    std::string describe() const override;

    const Counts &counts() const { return counts_; }

private:
    // A packet that is held back so that it is reordered behind others. It is sent at the second call of
    // send() or receive() after the call that held it back.
    struct Held {
        uint64_t destination;
        std::vector<std::byte> bytes;
        int calls;
    };

    bool happens(uint32_t of_a_million) { return of_a_million && random_.below(1'000'000) < of_a_million; }
    int send_one(const Outgoing &packet);
    void release();

    std::unique_ptr<PacketIo> beneath_;
    const Harm harm_;
    sim::Random random_;
    std::vector<Held> held_;
    Counts counts_;
};

}  // namespace lanyard
