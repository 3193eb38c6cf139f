// Runs the conformance suite for datagrams over libfabric: with its provider `udp`, and with a mock
// provider that makes the same demands as InfiniBand (unit/net/mock_fabric.h) and checks that they are met.
#include "conformance/dgram_connected.h"
#include "conformance/path_suite.h"
#include "net/fabric_packets.h"
#include "unit/net/mock_fabric.h"

namespace lanyard::conformance {
namespace {

std::unique_ptr<PacketIo> open_fabric_packets(const FabricLibrary &library, const char *provider) {
    FabricChoice choice;
    choice.provider = provider;
    choice.addresses.resize(1);
    parse_address("127.0.0.1", choice.addresses[0]);
    std::unique_ptr<FabricPackets> packets;
    Error error = FabricPackets::open(library, choice, packets);
    if (error) ADD_FAILURE() << error.take().sentence;
    LANYARD_MUST(packets);
    return packets;
}

FabricLibrary installed;

std::string lacks_libfabric() {
    static const std::string lack = [] {
        Error error = FabricLibrary::load(installed);
        return error ? error.take().sentence : std::string();
    }();
    return lack;
}

std::unique_ptr<PacketIo> open_fabric_udp() { return open_fabric_packets(installed, "udp"); }

std::unique_ptr<PacketIo> open_mock() {
    if (mock_fabric::counts().open == 0) mock_fabric::begin();
    return open_fabric_packets(mock_fabric::library(), "mock");
}

class MockConnected final : public PacketsConnected {
public:
    MockConnected(uint32_t peers, const Harm &harm) : PacketsConnected(peers, harm, open_mock) {}
    ~MockConnected() override { EXPECT_EQ(mock_fabric::faults(), std::vector<std::string>()); }
};

Harm some_harm(uint64_t seed) {
    return {.lost = 10'000, .doubled = 10'000, .overtaken = 10'000, .damaged = 1'000, .seed = seed};
}

std::unique_ptr<Connected> connect_fabric_udp(uint32_t peers, uint64_t) {
    return std::make_unique<PacketsConnected>(peers, Harm{}, open_fabric_udp);
}
std::unique_ptr<Connected> connect_fabric_udp_harmed(uint32_t peers, uint64_t seed) {
    return std::make_unique<PacketsConnected>(peers, some_harm(seed), open_fabric_udp);
}
std::unique_ptr<Connected> connect_mock(uint32_t peers, uint64_t) {
    return std::make_unique<MockConnected>(peers, Harm{});
}
std::unique_ptr<Connected> connect_mock_harmed(uint32_t peers, uint64_t seed) {
    return std::make_unique<MockConnected>(peers, some_harm(seed));
}

INSTANTIATE_TEST_SUITE_P(
    Fabric, PathSuite,
    ::testing::Values(Kind{"fabric_udp", connect_fabric_udp, lacks_libfabric},
                      Kind{"fabric_udp_harmed", connect_fabric_udp_harmed, lacks_libfabric},
                      Kind{"fabric_mock", connect_mock}, Kind{"fabric_mock_harmed", connect_mock_harmed}),
    [](const auto &about) { return std::string(about.param.name); });

}  // namespace
}  // namespace lanyard::conformance
