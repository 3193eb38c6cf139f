// Connects TCP paths of several simulated processes in one real process, over the kernel's sockets on
// loopback or over simulated sockets that do not break.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "conformance/connected.h"
#include "net/system_sockets.h"
#include "path/sim/sim_sockets.h"
#include "path/tcp/tcp_path.h"

namespace lanyard::conformance {

class LinkConnected : public Connected {
public:
    TcpPath &tcp_path(uint32_t peer) { return *links_[peer]; }
    // Closes the sockets of the peer, as the operating system does when a process ends.
    bool kill(uint32_t peer) override {
        tcp_path(peer).close();
        return true;
    }

protected:
    // Connects the processes. Process i uses sockets[i] and has the address at[i]. With `checks`, frames
    // have checksums.
    void connect(const std::vector<Sockets *> &sockets, const std::vector<Address> &at, bool checks,
                 uint64_t peer_timeout_ns, size_t max_eager = TcpLimits().max_eager) {
        TcpLimits limits;
        limits.max_eager = max_eager;
        limits.peer_timeout_ns = peer_timeout_ns;
        Crc32c crc;
        LANYARD_MUST(!checks || !Crc32c::load(crc));
        auto count = static_cast<uint32_t>(sockets.size());
        ports_.resize(count);
        processes_.emplace(count);
        WireIdentity identity;
        for (uint32_t own = 0; own < count; ++own) {
            auto find = [this, at](uint32_t peer, std::vector<Address> &list) {
                list.push_back(at[peer].with_port(ports_[peer]));
                return Error();
            };
            identity.own.number = own;
            links_.push_back(
                std::make_unique<TcpPath>(*sockets[own], identity, *processes_, limits, find, crc));
            LANYARD_MUST(!links_[own]->listen({at[own]}, 0, 0, ports_[own]));
            paths.push_back(links_.back().get());
        }
    }

private:
    std::vector<uint16_t> ports_;
    std::optional<Processes> processes_;
    std::vector<std::unique_ptr<TcpPath>> links_;
};

class TcpConnected final : public LinkConnected {
public:
    explicit TcpConnected(uint32_t peers, bool checks = false) {
        Address loopback;
        parse_address("127.0.0.1", loopback);
        std::vector<Sockets *> all;
        for (uint32_t peer = 0; peer < peers; ++peer) {
            sockets_.push_back(std::make_unique<SystemSockets>());
            all.push_back(sockets_.back().get());
        }
        connect(all, std::vector<Address>(peers, loopback), checks, 1'000'000'000);
    }
    ~TcpConnected() override {
        for (uint32_t peer = 0; peer < sockets_.size(); ++peer) tcp_path(peer).close();
    }

private:
    std::vector<std::unique_ptr<SystemSockets>> sockets_;
};

class SimLinkConnected final : public LinkConnected {
public:
    SimLinkConnected(uint32_t peers, uint64_t seed, bool checks = false)
        : baton_(seed), internet_(baton_, calm(baton_.random())) {
        std::vector<Sockets *> all;
        std::vector<Address> at;
        for (uint32_t peer = 0; peer < peers; ++peer) {
            sockets_.push_back(std::make_unique<sim::SimSockets>(internet_, peer));
            all.push_back(sockets_.back().get());
            at.push_back(sim::SimInternet::address_of(peer));
        }
#ifdef __SANITIZE_THREAD__
        // Longer messages take minutes, because simulated sockets move small portions.
        constexpr size_t max_eager = 20'000;
#else
        constexpr size_t max_eager = TcpLimits().max_eager;
#endif
        connect(all, at, checks, 50'000'000, max_eager);
    }
    ~SimLinkConnected() override {
        for (uint32_t peer = 0; peer < sockets_.size(); ++peer) tcp_path(peer).close();
    }

    // Advances the simulated time, which otherwise stands still while no socket is used.
    uint64_t now_ns() override {
        baton_.tick();
        return baton_.now_ns();
    }

private:
    static sim::SocketBehaviour calm(sim::Random &random) {
        sim::SocketBehaviour any = sim::SocketBehaviour::any(random);
        any.refuse_percent = any.vanish_percent = any.reset_permille = 0;
        return any;
    }

    sim::Baton baton_;
    sim::SimInternet internet_;
    std::vector<std::unique_ptr<sim::SimSockets>> sockets_;
};

}  // namespace lanyard::conformance
