// An IPv4 or IPv6 address with a port, as a value, and the addresses of this machine's interfaces.
#pragma once

#include <netinet/in.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lanyard {

struct Address {
    uint8_t bytes[16] = {};  // IPv4: the first four
    uint32_t scope = 0;      // of an IPv6 link-local address: the interface's index
    uint16_t port = 0;
    uint8_t version = 0;     // 4, 6; 0: none

    auto operator<=>(const Address &) const = default;
    bool is_loopback() const;
    Address with_port(uint16_t other) const {
        Address changed = *this;
        changed.port = other;
        return changed;
    }
};

// "10.0.1.2" or "fe80::1%eth0"; without a port. False when the text is no address.
bool parse_address(std::string_view text, Address &address);
// "10.0.1.2:4711", "[fe80::1%eth0]:4711".
bool parse_address_with_port(std::string_view text, Address &address);
// The same host's address, whatever the port?
inline bool same_host(const Address &a, const Address &b) { return a.with_port(0) == b.with_port(0); }

// "10.0.1.2" and "10.0.1.2:4711", "fe80::1%3" and "[fe80::1%3]:4711".
std::string to_text(const Address &address);
std::string to_text_with_port(const Address &address);

// As the kernel wants it; the length of what is used of `place`.
socklen_t to_system(const Address &address, sockaddr_storage &place);
Address from_system(const sockaddr_storage &place);

struct Interface {
    std::string name;
    Address address;
    bool loopback = false;
    bool up = true, carrier = true;
};

// Every address of all interfaces, in the kernel's order, link-local IPv6 ones after all others.
std::vector<Interface> interfaces();
// As its driver says it, in Mbit/s; 0: it does not.
int64_t interface_speed_mbit(const std::string &name);
// Of the fastest of these; 0: no driver says it.
int64_t fastest_mbit(const std::vector<Interface> &interfaces);
// Why other hosts are not told of this address unless LANYARD_INTERFACES names it; nullptr when they are.
const char *why_left_out(const Interface &interface);
// Those that `wanted` names, a list "eth0,10.1.0.0/16" of names, addresses and networks, and are up; all that are not left out when it is
// empty. What it names and is not there is an Error that lists what is.
Error choose_interfaces(const std::string &wanted, const std::vector<Interface> &all, std::vector<Interface> &chosen);

}  // namespace lanyard
