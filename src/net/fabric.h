// Opens datagram endpoints of libfabric. This header does not need libfabric's own headers. If libfabric's
// headers are missing, the library is built with fabric_absent.cc, where every request is an error that says
// so.
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
    std::string provider;  // if "": the first in libfabric's order that has a suitable datagram endpoint
    // For providers that use IP: the addresses of this process, the best first, and the range of ports. Any
    // port may be used if `least_port` is 0.
    std::vector<Address> addresses;
    uint16_t least_port = 0, most_port = 0;

    // The setting that makes this choice, as in "LANYARD_DGRAM_IO=libfabric:udp".
    std::string setting() const {
        return "LANYARD_DGRAM_IO=libfabric" + (provider.empty() ? "" : ":" + provider);
    }
};

// The provider that a value of LANYARD_DGRAM_IO names: "udp" for "libfabric:udp", "" for "libfabric".
inline std::string fabric_provider(const std::string &setting) {
    size_t colon = setting.find(':');
    return colon == std::string::npos ? "" : setting.substr(colon + 1);
}

// Opens an endpoint of libfabric (fabric_packets.h), or returns why this is not possible.
Error open_fabric(const FabricChoice &choice, std::unique_ptr<PacketIo> &packets);

// The beginning of an endpoint's name, as in "libfabric:udp:". Only endpoints whose names have the same
// beginning can reach each other. "" if the name is not that of an endpoint of libfabric.
inline std::string_view fabric_kind(std::string_view name) {
    constexpr std::string_view start = "libfabric:";
    if (!name.starts_with(start)) return "";
    size_t end = name.find(':', start.size());
    return end == std::string_view::npos ? "" : name.substr(0, end + 1);
}

}  // namespace lanyard
