// Connects two datagram paths by a simulated network, in virtual time. A known part of the numbered packets
// is dropped, duplicated or damaged beneath the paths, and the fates of the packets are counted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/sim/packet_network.h"
#include "path/dgram/dgram_path.h"
#include "sim/known_secret.h"

namespace lanyard::dgram {

class KnownLosses {
public:
    struct Fate {
        uint64_t numbered = 0, dropped = 0, doubled = 0, damaged = 0;
    };

    KnownLosses() : network_(1, {}, 2) {
        for (uint32_t own : {0u, 1u}) {
            hosts_.push_back(std::make_unique<Host>(network_.host(own)));
            auto find = [](uint32_t peer, std::string &name) {
                name = std::to_string(peer);
                return Error();
            };
            ProcessName name{0, own};
            paths_.push_back(std::make_unique<DgramPath>(*hosts_[own], name, processes_, 7 + own,
                                                         Crc32c::built_in(), DgramLimits(), find));
            paths_.back()->set_secret(sim::known_secret());
        }
    }
    void send(uint32_t from, uint32_t to, size_t size) {
        std::vector<std::byte> bytes(size);
        Envelope envelope{};
        while (paths_[from]->send(to, envelope, {bytes.data(), size, nullptr}) == Sent::full) run(1);
    }
    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            network_.advance(network_.now_ns() + step_ns);
            for (auto &path : paths_) path->poll(nobody_, 64, network_.now_ns());
        }
    }
    void run_until_idle() {
        for (int i = 0; i < 100'000 && (paths_[0]->active() || paths_[1]->active()); ++i) run(1);
        run(1000);  // what is still under way
    }
    const DgramPath &path(uint32_t own) const { return *paths_[own]; }
    const Fate &fate(uint32_t sender) const { return hosts_[sender]->fate; }

private:
    static constexpr uint64_t step_ns = 20'000;

    // Drops every 17th numbered packet, duplicates every 23rd and damages every 29th.
    class Host final : public PacketIo {
    public:
        explicit Host(PacketIo &beneath) : beneath_(beneath) {}

        std::string name() const override { return beneath_.name(); }
        int64_t destination(std::string_view name) override { return beneath_.destination(name); }
        size_t largest(uint64_t destination) const override { return beneath_.largest(destination); }
        int receive(Arrived *list, int most) override { return beneath_.receive(list, most); }
        int descriptor() const override { return -1; }
        uint64_t now_ns() override { return beneath_.now_ns(); }
        std::string describe() const override { return "packets with known losses"; }
        int send(const Outgoing *list, int count) override {
            for (int i = 0; i < count; ++i)
                if (!send_one(list[i])) return i;
            return count;
        }

        Fate fate;

    private:
        bool send_one(const Outgoing &packet) {
            std::vector<std::byte> bytes;
            for (int i = 0; i < packet.count; ++i) {
                const auto *part = static_cast<const std::byte *>(packet.parts[i].iov_base);
                bytes.insert(bytes.end(), part, part + packet.parts[i].iov_len);
            }
            PacketHeader header;
            LANYARD_MUST(read_header(Crc32c::built_in(), bytes, header));
            uint64_t which = header.number ? fate.numbered + 1 : 0;
            bool drops = which && which % 17 == 0, damages = which && !drops && which % 29 == 0;
            bool doubles = which && !drops && !damages && which % 23 == 0;
            if (damages) bytes.back() ^= std::byte{1};
            for (int copies = drops ? 0 : doubles ? 2 : 1; copies > 0; --copies) {
                iovec part{bytes.data(), bytes.size()};
                Outgoing out{packet.destination, &part, 1};
                if (beneath_.send(&out, 1) != 1) return false;
            }
            fate.numbered += which != 0;
            fate.dropped += drops;
            fate.doubled += doubles;
            fate.damaged += damages;
            return true;
        }

        PacketIo &beneath_;
    };
    class Nobody final : public Sink {
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
        void sent(uint64_t) override {}
        void lost(uint32_t, Error reason) override { LANYARD_MUST(!reason); }
    };

    sim::PacketNetwork network_;
    Processes processes_{2};
    Nobody nobody_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::vector<std::unique_ptr<DgramPath>> paths_;
};

}  // namespace lanyard::dgram
