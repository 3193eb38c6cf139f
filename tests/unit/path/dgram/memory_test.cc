// Measures what a peer costs in memory on the datagram path, by counting allocations: its flow with sequence,
// epoch and duplicate filter, its log, and its address at the endpoint. Once a peer with much traffic is
// idle, it costs no more than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "net/udp_packets.h"
#include "pair.h"
#include "path/dgram/dgram_path.h"
#include "sim/known_secret.h"

namespace {
std::size_t allocated_bytes = 0;

// The bytes that glibc takes for an object, with its own header. They follow from the requested size, so that
// each run gives the same result.
std::size_t taken_for(std::size_t size) { return std::max<std::size_t>(32, (size + 8 + 15) / 16 * 16); }

constexpr std::size_t in_front = 16;  // bytes before each object, which store its size

void *allocate(std::size_t size) {
    auto *place = static_cast<char *>(std::malloc(in_front + size));
    if (!place) std::abort();
    std::memcpy(place, &size, sizeof size);
    allocated_bytes += taken_for(size);
    return place + in_front;
}
void release(void *object) {
    if (!object) return;
    char *place = static_cast<char *>(object) - in_front;
    std::size_t size;
    std::memcpy(&size, place, sizeof size);
    allocated_bytes -= taken_for(size);
    std::free(place);
}
}  // namespace

void *operator new(std::size_t size) { return allocate(size); }
void *operator new[](std::size_t size) { return allocate(size); }
void operator delete(void *place) noexcept { release(place); }
void operator delete[](void *place) noexcept { release(place); }
void operator delete(void *place, std::size_t) noexcept { release(place); }
void operator delete[](void *place, std::size_t) noexcept { release(place); }

namespace lanyard::dgram {
namespace {

constexpr uint32_t peers = 16'384;
constexpr size_t most_bytes_of_peer = 450;  // 0.44 KiB
constexpr size_t most_bytes_of_all = 16'000'000;

// Has addresses like UDP, but the test moves the packets.
class Line final : public PacketIo {
public:
    Line() {
        Address loopback;
        parse_address("127.0.0.1", loopback);
        LANYARD_MUST(!udp_.open({loopback}, 0, 0));
    }
    std::string name() const override { return udp_.name(); }
    int64_t destination(std::string_view name) override { return udp_.destination(name); }
    size_t largest(uint64_t) const override { return Side::largest; }
    int send(const Outgoing *list, int count) override {
        for (int i = 0; i < count; ++i) {
            PacketBytes &bytes = sent.emplace_back();
            for (int part = 0; part < list[i].count; ++part) {
                const auto *from = static_cast<const std::byte *>(list[i].parts[part].iov_base);
                bytes.insert(bytes.end(), from, from + list[i].parts[part].iov_len);
            }
        }
        return count;
    }
    int receive(Arrived *list, int most) override {
        lent_.clear();
        while (!to_arrive.empty() && static_cast<int>(lent_.size()) < most) {
            lent_.push_back(std::move(to_arrive.front()));
            to_arrive.erase(to_arrive.begin());
        }
        for (size_t i = 0; i < lent_.size(); ++i) list[i] = {lent_[i].data(), lent_[i].size()};
        return static_cast<int>(lent_.size());
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return now; }
    std::string describe() const override { return "a line"; }
    void forget() {
        sent = {};
        to_arrive = {};
        lent_ = {};
    }

    uint64_t now = 1'000'000;
    std::vector<PacketBytes> sent, to_arrive;

private:
    UdpPackets udp_;
    std::vector<PacketBytes> lent_;
};

class Taker final : public Sink {
public:
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++received; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override { ++delivered; }
    void lost(uint32_t, Error reason) override { LANYARD_MUST(!reason); }
    uint64_t received = 0, delivered = 0;
};

struct World {
    World()
        : processes(peers + 1),
          path(line, {}, processes, 7, Crc32c::built_in(), DgramLimits(),
               [](uint32_t peer, std::string &name) {
                   name = "127.0.0.1:" + std::to_string(2000 + peer);
                   return Error();
               }) {
        path.set_secret(sim::known_secret());
    }
    // Moves packets until both ends are idle.
    void run_until_idle(Side &peer) {
        for (int i = 0; i < 10'000 && (path.active() || peer.flow.active() || !line.to_arrive.empty()); ++i) {
            line.now += 20'000;
            path.poll(taker, 64, line.now);
            for (const PacketBytes &packet : std::exchange(line.sent, {})) peer.give(packet, line.now);
            for (PacketBytes &packet : peer.packets(line.now)) line.to_arrive.push_back(std::move(packet));
        }
    }
    void talk(Side &peer, int messages, size_t size) {
        uint32_t number = peer.home.own;
        std::vector<std::byte> bytes(size);
        Envelope envelope{};
        envelope.context = peer.arrived.size();  // Side requires numbered envelopes
        for (int i = 0; i < messages; ++i, ++envelope.context) {
            ASSERT_EQ(path.send(number, envelope, {bytes.data(), size, nullptr}), Sent::done);
            peer.send("an answer");
        }
        run_until_idle(peer);
        ASSERT_EQ(path.active(), 0u);
    }

    Line line;
    Processes processes;
    DgramPath path;
    Taker taker;
};

struct Held {
    // Bytes held without any peer; with the first peer, which includes what all peers share; and with all
    // peers.
    size_t none = 0, first = 0, all = 0;

    size_t of_others() const { return all - first; }
};

// A process has talked to all peers, and each of them is idle again. With `much`, there was bulk, and more
// envelopes than a new log has room for.
Held held_by_path(bool much) {
    size_t begin = allocated_bytes;
    std::vector<std::byte> data(5000);
    World world;
    auto now_held = [&] {
        world.line.forget();
        return allocated_bytes - begin;
    };
    Held held;
    held.none = now_held();
    for (uint32_t number = 1; number <= peers; ++number) {
        {
            Side peer(number, 0, 100 + number);
            if (much || number == 1) {
                world.talk(peer, 40, 1000);
                EXPECT_EQ(world.path.send_bulk(number, {0, 0}, {data.data(), data.size(), nullptr}, number),
                          Sent::pending);
            }
            // The last exchange is the same with each peer, so all peers hold the same share of what they
            // have in common.
            world.talk(peer, 1, 8);
            world.path.poll(world.taker, 64, world.line.now);
        }
        if (number == 1) held.first = now_held();
    }
    held.all = now_held();
    EXPECT_EQ(world.path.known(), peers);
    EXPECT_EQ(world.taker.delivered, much ? peers : 1);
    EXPECT_EQ(world.path.active(), 0u);
    return held;
}

TEST(Memory, OfAPeerThatWasTalkedToAndIsQuiet) {
    Held once = held_by_path(false), often = held_by_path(true);
    std::printf(
        "%zu bytes for each of %u peers, %zu in all, of which %zu are there without any; a Flow has %zu\n",
        once.of_others() / (peers - 1), peers, once.all, once.none, sizeof(Flow));
    EXPECT_LE(once.of_others() / (peers - 1) + sizeof(void *), most_bytes_of_peer)
        << "with its place in the list of all";
    EXPECT_LE(once.all, most_bytes_of_all);
    EXPECT_EQ(often.of_others(), once.of_others()) << "a peer with much traffic costs no more";
}

}  // namespace
}  // namespace lanyard::dgram
