// An IPv4 or IPv6 address with a port, as a value, and the addresses of this machine's interfaces. Any
// thread.
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
    uint32_t scope = 0;      // index of the interface, for an IPv6 link-local address
    uint16_t port = 0;
    uint8_t version = 0;     // 4 or 6; 0: no address

    auto operator<=>(const Address &) const = default;
    bool is_loopback() const;
    Address with_port(uint16_t other) const {
        Address changed = *this;
        changed.port = other;
        return changed;
    }
};

// Reads "10.0.1.2" or "fe80::1%eth0", without a port. False if the text is not an address.
bool parse_address(std::string_view text, Address &address);
// Reads "10.0.1.2:4711" or "[fe80::1%eth0]:4711".
bool parse_address_with_port(std::string_view text, Address &address);
// True if both are the same address, whatever the ports.
inline bool same_host(const Address &a, const Address &b) { return a.with_port(0) == b.with_port(0); }

// "10.0.1.2" and "10.0.1.2:4711", "fe80::1%3" and "[fe80::1%3]:4711".
std::string to_text(const Address &address);
std::string to_text_with_port(const Address &address);

// Converts to the kernel's form. Returns how many bytes of `place` are used.
socklen_t to_system(const Address &address, sockaddr_storage &place);
Address from_system(const sockaddr_storage &place);

struct Interface {
    std::string name;
    Address address;
    bool loopback = false;
    bool up = true, carrier = true;
};

// Every address of all interfaces in the kernel's order, IPv6 link-local ones after all others.
std::vector<Interface> interfaces();
// The speed in Mbit/s that the driver reports; 0: it reports none.
int64_t interface_speed_mbit(const std::string &name);
// The speed of the fastest of these interfaces; 0: no driver reports one.
int64_t fastest_mbit(const std::vector<Interface> &interfaces);
// Why this address is not published to other hosts unless LANYARD_INTERFACES names it; nullptr if it is.
const char *why_left_out(const Interface &interface);
// Chooses the interfaces that are up and that `wanted` names, a list "eth0,10.1.0.0/16" of names, addresses
// and networks. If `wanted` is empty, chooses all that why_left_out() does not exclude. A word that matches
// no interface is an Error that lists those of this machine.
Error choose_interfaces(const std::string &wanted, const std::vector<Interface> &all,
                        std::vector<Interface> &chosen);

}  // namespace lanyard
