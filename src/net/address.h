// Address is a value type for an IPv4 or IPv6 address with a port. Interface describes an address of one of
// this machine's network interfaces. Any thread.
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
    uint8_t bytes[16] = {};  // an IPv4 address uses the first four
    uint32_t scope = 0;      // for an IPv6 link-local address: the index of the interface
    uint16_t port = 0;
    uint8_t version = 0;     // 4 or 6; 0 if this is no address

    auto operator<=>(const Address &) const = default;
    bool is_loopback() const;
    Address with_port(uint16_t other) const {
        Address changed = *this;
        changed.port = other;
        return changed;
    }
};

// Reads "10.0.1.2" or "fe80::1%eth0", without a port. False if the text is not an address; `address` then has
// no meaning.
bool parse_address(std::string_view text, Address &address);
// Reads "10.0.1.2:4711" or "[fe80::1%eth0]:4711". False if the text has another form; `address` then has no
// meaning.
bool parse_address_with_port(std::string_view text, Address &address);
// True if the addresses are equal; the ports are ignored.
inline bool same_host(const Address &a, const Address &b) { return a.with_port(0) == b.with_port(0); }

// The address as text without its port: "10.0.1.2" or "fe80::1%3".
std::string to_text(const Address &address);
// The address as text with its port: "10.0.1.2:4711" or "[fe80::1%3]:4711".
std::string to_text_with_port(const Address &address);

// Converts an address to the kernel's form in `place`. Returns how many bytes of `place` are used.
socklen_t to_system(const Address &address, sockaddr_storage &place);
Address from_system(const sockaddr_storage &place);

struct Interface {
    std::string name;
    Address address;
    bool loopback = false;
    bool up = true, carrier = true;
};

// All addresses of all interfaces, in the kernel's order, but IPv6 link-local addresses last. Empty if the
// kernel does not list them.
std::vector<Interface> interfaces();
// The speed in Mbit/s that the interface's driver reports; 0 if it reports none.
int64_t interface_speed_mbit(const std::string &name);
// The speed of the fastest of these interfaces; 0 if no driver reports a speed.
int64_t fastest_mbit(const std::vector<Interface> &interfaces);
// Returns why the address of this interface is not published to other hosts while LANYARD_INTERFACES is
// empty; nullptr if the address is published then.
const char *why_left_out(const Interface &interface);
// Chooses the interfaces that are up and that `wanted` names. `wanted` is a list of names, addresses and
// networks such as "eth0,10.1.0.0/16". If `wanted` is empty, chooses all interfaces for which why_left_out()
// returns nullptr. For a word that matches no interface, returns an Error that lists the machine's
// interfaces.
Error choose_interfaces(const std::string &wanted, const std::vector<Interface> &all,
                        std::vector<Interface> &chosen);

}  // namespace lanyard
