// See address.h.
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

#include "config/settings.h"

namespace lanyard {

namespace {

int bits_of(const Address &address) { return address.version == 4 ? 32 : 128; }

// True if the addresses are of one version and their first `bits` bits are equal.
bool same_network(const Address &a, const Address &b, int bits) {
    if (a.version != b.version) return false;
    int whole = bits / 8, rest = bits % 8;
    if (std::memcmp(a.bytes, b.bytes, static_cast<size_t>(whole)) != 0) return false;
    return rest == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - rest) == 0;
}

bool is_link_local(const Address &address) {
    return address.version == 6 && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

// True if this word of LANYARD_INTERFACES (a name, an address or a network) matches the interface. False also
// for a word of any other form.
bool means(const std::string &word, const Interface &interface) {
    if (word == interface.name) return true;
    size_t slash = word.find('/');
    Address network;
    if (!parse_address(word.substr(0, slash), network)) return false;
    int bits = bits_of(network);
    if (slash != std::string::npos) {
        const char *end = word.data() + word.size();
        auto [read, trouble] = std::from_chars(word.data() + slash + 1, end, bits);
        if (trouble != std::errc{} || read != end || bits < 0 || bits > bits_of(network)) return false;
    }
    return same_network(network, interface.address, bits);
}

std::string list_of(const std::vector<Interface> &all) {
    std::string text;
    for (const Interface &interface : all)
        if (interface.up)
            text += (text.empty() ? "" : ", ") + interface.name + " (" + to_text(interface.address) + ")";
    return text;
}

}  // namespace

bool Address::is_loopback() const {
    if (version == 4) return bytes[0] == 127;
    return version == 6 && std::all_of(bytes, bytes + 15, [](uint8_t byte) { return byte == 0; }) &&
           bytes[15] == 1;
}

bool parse_address(std::string_view text, Address &address) {
    char copy[INET6_ADDRSTRLEN + IF_NAMESIZE + 2];
    if (text.size() >= sizeof copy) return false;
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    address = {};
    if (inet_pton(AF_INET, copy, address.bytes) == 1) {
        address.version = 4;
        return true;
    }
    if (char *scope = std::strchr(copy, '%')) {
        *scope++ = 0;
        address.scope = if_nametoindex(scope);
        if (address.scope == 0) {
            const char *end = scope + std::strlen(scope);
            auto [read, trouble] = std::from_chars(scope, end, address.scope);
            if (trouble != std::errc{} || read != end) return false;
        }
    }
    if (inet_pton(AF_INET6, copy, address.bytes) != 1) return false;
    address.version = 6;
    return true;
}

bool parse_address_with_port(std::string_view text, Address &address) {
    size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return false;
    std::string_view host = text.substr(0, colon), digits = text.substr(colon + 1);
    bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (!parse_address(bracketed ? host.substr(1, host.size() - 2) : host, address) ||
        (address.version == 6) != bracketed)
        return false;
    auto [read, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    return trouble == std::errc{} && read == digits.data() + digits.size();
}

std::string to_text(const Address &address) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(address.version == 4 ? AF_INET : AF_INET6, address.bytes, text, sizeof text);
    return address.scope ? std::string(text) + "%" + std::to_string(address.scope) : text;
}

std::string to_text_with_port(const Address &address) {
    std::string port = ":" + std::to_string(address.port);
    return address.version == 6 ? "[" + to_text(address) + "]" + port : to_text(address) + port;
}

socklen_t to_system(const Address &address, sockaddr_storage &place) {
    place = {};
    if (address.version == 6) {
        auto &six = reinterpret_cast<sockaddr_in6 &>(place);
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(address.port);
        six.sin6_scope_id = address.scope;
        std::memcpy(&six.sin6_addr, address.bytes, 16);
        return sizeof six;
    }
    auto &four = reinterpret_cast<sockaddr_in &>(place);
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    std::memcpy(&four.sin_addr, address.bytes, 4);
    return sizeof four;
}

Address from_system(const sockaddr_storage &place) {
    Address address;
    if (place.ss_family == AF_INET) {
        auto &four = reinterpret_cast<const sockaddr_in &>(place);
        address.version = 4;
        address.port = ntohs(four.sin_port);
        std::memcpy(address.bytes, &four.sin_addr, 4);
    } else if (place.ss_family == AF_INET6) {
        auto &six = reinterpret_cast<const sockaddr_in6 &>(place);
        address.version = 6;
        address.port = ntohs(six.sin6_port);
        address.scope = six.sin6_scope_id;
        std::memcpy(address.bytes, &six.sin6_addr, 16);
    }
    return address;
}

std::vector<Interface> interfaces() {
    std::vector<Interface> all;
    ifaddrs *first = nullptr;
    if (getifaddrs(&first) != 0) return all;
    for (ifaddrs *each = first; each; each = each->ifa_next) {
        if (!each->ifa_addr) continue;
        sockaddr_storage place{};
        int family = each->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        std::memcpy(&place, each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        all.push_back({each->ifa_name, from_system(place), (each->ifa_flags & IFF_LOOPBACK) != 0,
                       (each->ifa_flags & IFF_UP) != 0, (each->ifa_flags & IFF_RUNNING) != 0});
    }
    freeifaddrs(first);
    std::stable_partition(all.begin(), all.end(),
                          [](const Interface &interface) { return !is_link_local(interface.address); });
    return all;
}

int64_t interface_speed_mbit(const std::string &name) {
    int64_t speed = 0;
    std::ifstream("/sys/class/net/" + name + "/speed") >> speed;
    return std::max<int64_t>(speed, 0);
}

int64_t fastest_mbit(const std::vector<Interface> &interfaces) {
    int64_t fastest = 0;
    for (const Interface &interface : interfaces)
        fastest = std::max(fastest, interface_speed_mbit(interface.name));
    return fastest;
}

const char *why_left_out(const Interface &interface) {
    if (!interface.up) return "it is down";
    if (interface.loopback) return "loopback leads to no other host";
    if (is_link_local(interface.address)) return "a link-local address means nothing on another host";
    return interface.carrier ? nullptr : "it has no carrier: nothing is connected to it";
}

Error choose_interfaces(const std::string &wanted, const std::vector<Interface> &all,
                        std::vector<Interface> &chosen) {
    chosen.clear();
    if (wanted.empty()) {
        for (const Interface &interface : all)
            if (!why_left_out(interface)) chosen.push_back(interface);
        return {};
    }
    for (const std::string &word : split_words(wanted)) {
        bool found = false;
        for (const Interface &interface : all) {
            if (!interface.up || !means(word, interface)) continue;
            found = true;
            auto same = [&](const Interface &other) { return other.address == interface.address; };
            if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(interface);
        }
        if (!found)
            return Error(ErrorClass::other,
                         "LANYARD_INTERFACES names '" + word +
                             "', which is no interface, address or network of this machine; there are " +
                             list_of(all));
    }
    return {};
}

}  // namespace lanyard
