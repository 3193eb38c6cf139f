// Datagrams by libfabric, as far as its headers are not needed to ask for them. Without these the library is built all the same
// (fabric_absent.cc), and says so to who asks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/address.h"
#include "net/packet_io.h"

namespace lanyard {

struct FabricChoice {
    std::string provider;  // "": the first of libfabric's own order that has datagram endpoints
    // Of this process, the best first, and the ports at them (any where `least_port` is 0): for providers that go over IP.
    std::vector<Address> addresses;
    uint16_t least_port = 0, most_port = 0;

    // "LANYARD_DGRAM_IO=libfabric:udp"
    std::string setting() const { return "LANYARD_DGRAM_IO=libfabric" + (provider.empty() ? "" : ":" + provider); }
};

// That of LANYARD_DGRAM_IO: "udp" of "libfabric:udp", "" of "libfabric".
inline std::string fabric_provider(const std::string &setting) {
    size_t colon = setting.find(':');
    return colon == std::string::npos ? "" : setting.substr(colon + 1);
}

// An endpoint of libfabric's (fabric_packets.h), or why there is none.
Error open_fabric(const FabricChoice &choice, std::unique_ptr<PacketIo> &packets);

// What an endpoint's name begins with, "libfabric:udp:": only endpoints with the same reach each other. "" of a name that is none of libfabric's.
inline std::string_view fabric_kind(std::string_view name) {
    constexpr std::string_view start = "libfabric:";
    if (!name.starts_with(start)) return "";
    size_t end = name.find(':', start.size());
    return end == std::string_view::npos ? "" : name.substr(0, end + 1);
}

}  // namespace lanyard
