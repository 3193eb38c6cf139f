// Datagrams by libfabric, as far as they can be requested without its headers. Without these headers the
// library is built with fabric_absent.cc, which reports that they were missing.
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
    std::string provider;  // "": the first provider in libfabric's order that has datagram endpoints
    // For providers that use IP: the addresses of this process, the best first, and the ports there (any, if
    // `least_port` is 0).
    std::vector<Address> addresses;
    uint16_t least_port = 0, most_port = 0;

    // The setting, as in "LANYARD_DGRAM_IO=libfabric:udp".
    std::string setting() const {
        return "LANYARD_DGRAM_IO=libfabric" + (provider.empty() ? "" : ":" + provider);
    }
};

// The provider in the value of LANYARD_DGRAM_IO: "udp" for "libfabric:udp", "" for "libfabric".
inline std::string fabric_provider(const std::string &setting) {
    size_t colon = setting.find(':');
    return colon == std::string::npos ? "" : setting.substr(colon + 1);
}

// Opens an endpoint of libfabric (fabric_packets.h), or returns why this is not possible.
Error open_fabric(const FabricChoice &choice, std::unique_ptr<PacketIo> &packets);

// The beginning of an endpoint's name, as in "libfabric:udp:". Only endpoints with the same beginning reach
// each other. "" if the name is not one of libfabric's.
inline std::string_view fabric_kind(std::string_view name) {
    constexpr std::string_view start = "libfabric:";
    if (!name.starts_with(start)) return "";
    size_t end = name.find(':', start.size());
    return end == std::string_view::npos ? "" : name.substr(0, end + 1);
}

}  // namespace lanyard
