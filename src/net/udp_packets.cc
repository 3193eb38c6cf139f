// Opens the sockets of UdpPackets, finds destinations, and receives. See udp_packets.h.
#include "net/udp_packets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "base/clock.h"
#include "base/epoll.h"
#include "net/udp_batch.h"
#include "net/udp_calls.h"
#include "net/udp_inbox.h"

namespace lanyard {

namespace {

constexpr size_t ipv4_and_udp = 28, ipv6_and_udp = 48;
constexpr uint32_t ports_tried = 16;
constexpr int single_after = 8;  // after this many receives with one short message, ask for one packet

// The number of leading bits that two addresses share; -1 if one address cannot be reached from the other.
int kinship(const Address &own, const Address &other) {
    if (own.version != other.version || own.is_loopback() != other.is_loopback()) return -1;
    int bits = 0;
    for (size_t i = 0; i < sizeof own.bytes; ++i, bits += 8)
        if (auto differing = static_cast<uint8_t>(own.bytes[i] ^ other.bytes[i]))
            return bits + std::countl_zero(differing);
    return bits;
}

}  // namespace

UdpPackets::UdpPackets(const Options &options)
    : options_(options), inbox_(new Inbox), batch_(new Batch), cuts_(options.join) {}

UdpPackets::~UdpPackets() {
    close_all();
    if (favourite_.descriptor >= 0) close(favourite_.descriptor);
    if (epoll_ >= 0) close(epoll_);
}

void UdpPackets::close_all() {
    for (const Socket &socket : sockets_) close(socket.descriptor);
    sockets_.clear();
}

int UdpPackets::open_at(const std::vector<Address> &addresses, uint16_t port) {
    for (const Address &address : addresses) {
        int socket =
            ::socket(address.version == 6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (socket < 0) return -errno;
        sockets_.push_back({socket, {}});
        if (address.version == 6) {
            set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
            set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
        } else {
            set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
        }
        for (int option : {SO_RCVBUF, SO_RCVBUFFORCE})
            set_option(socket, SOL_SOCKET, option, options_.buffer);
        sockaddr_storage place{};
        socklen_t length = to_system(address.with_port(port), place);
        if (bind(socket, reinterpret_cast<sockaddr *>(&place), length) != 0) return -errno;
        if (getsockname(socket, reinterpret_cast<sockaddr *>(&place), &length) != 0) return -errno;
        sockets_.back().bound = from_system(place);
        port = sockets_.back().bound.port;
        if (!epoll_add(epoll_, socket, EPOLLIN)) return -errno;
    }
    return 0;
}

Error UdpPackets::open(const std::vector<Address> &addresses, uint16_t least, uint16_t most) {
    if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
    uint32_t choices = least == 0 ? ports_tried : static_cast<uint32_t>(most - least) + 1, first = 0;
    if (getrandom(&first, sizeof first, GRND_NONBLOCK) < 0) first = 0;
    int result = epoll_ < 0 ? -errno : -EADDRNOTAVAIL;
    for (uint32_t i = 0; epoll_ >= 0 && i < choices && result != 0; ++i) {
        close_all();
        result = open_at(addresses,
                         least == 0 ? 0 : static_cast<uint16_t>(least + (first % choices + i) % choices));
        if (result != -EADDRINUSE && result != -EACCES) break;
    }
    if (result == 0) {
        if (options_.join) ask_to_join(true);
        return {};
    }
    close_all();
    std::string where;
    for (const Address &address : addresses) where += (where.empty() ? "" : ", ") + to_text(address);
    std::string ports =
        least ? " with a port of LANYARD_PORT_RANGE=" + std::to_string(least) + "-" + std::to_string(most)
              : "";
    const char *advice = least && result == -EADDRINUSE
                             ? "; each process of a host needs a port of its own: name more of them"
                             : "";
    return Error(ErrorClass::other, "this process cannot receive datagrams at " + where + ports + ": " +
                                        system_text(-result) + advice);
}

std::string UdpPackets::name() const {
    std::string name;
    for (const Socket &socket : sockets_) name += (name.empty() ? "" : ",") + to_text_with_port(socket.bound);
    return name;
}

// Returns a route to each address in a name that this process can reach. Empty if the name is not that of a
// UDP endpoint.
std::vector<UdpPackets::UdpRoute> UdpPackets::find_routes(std::string_view name) const {
    std::vector<UdpRoute> routes;
    for (std::string_view left = name; !left.empty();) {
        std::string_view one = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), one.size() + 1));
        Address address;
        if (!parse_address_with_port(one, address) || address.port == 0) return {};
        UdpRoute route{{}, -1};
        for (size_t i = 0; i < sockets_.size(); ++i)
            if (int bits = kinship(sockets_[i].bound, address); bits > route.kinship) {
                route.kinship = bits;
                route.to.socket = static_cast<uint16_t>(i);
            }
        if (route.kinship < 0) continue;
        sockaddr_storage place{};
        to_system(address, place);
        // All bytes, because place_of() compares all.
        std::memcpy(&route.to.any, &place, sizeof route.to.six);
        routes.push_back(route);
    }
    return routes;
}

// The entry of the hash table for this destination. The entry is 0 if the destination is not known yet.
uint32_t &UdpPackets::place_of(const Destination &destination) {
    std::string_view bytes(reinterpret_cast<const char *>(&destination.any),
                           sizeof destination.six + sizeof destination.socket);
    for (size_t at = std::hash<std::string_view>()(bytes);; ++at) {
        uint32_t &place = known_[at & (known_.size() - 1)];
        if (place == 0 || std::memcmp(&destinations_[place - 1].any, bytes.data(), bytes.size()) == 0)
            return place;
    }
}

// Makes room for one more destination. The list grows by an eighth at a time, so little of it is unused.
void UdpPackets::make_room() {
    if (destinations_.size() == destinations_.capacity())
        destinations_.reserve(destinations_.size() + destinations_.size() / 8 + 8);
    if (2 * (destinations_.size() + 1) <= known_.size()) return;
    known_.assign(std::max<size_t>(16, 2 * known_.size()), 0);
    for (size_t i = 0; i < destinations_.size(); ++i)
        place_of(destinations_[i]) = static_cast<uint32_t>(i) + 1;
}

uint64_t UdpPackets::number_of(Destination destination) {
    make_room();
    uint32_t &place = place_of(destination);
    if (place == 0) {
        learn_largest(destination);
        destinations_.push_back(destination);
        place = static_cast<uint32_t>(destinations_.size());
    }
    return place - 1;
}

int64_t UdpPackets::destination(std::string_view name) {
    std::vector<UdpRoute> all = find_routes(name);
    auto closest = std::ranges::max_element(all, {}, &UdpRoute::kinship);  // the first, if several are equal
    return closest == all.end() ? -EINVAL : static_cast<int64_t>(number_of(closest->to));
}

std::vector<uint64_t> UdpPackets::routes(std::string_view name) {
    std::vector<uint64_t> numbers;
    for (const UdpRoute &route : find_routes(name)) numbers.push_back(number_of(route.to));
    return numbers;
}

// Within a host there is only one route. All endpoints of a job on one host give the same answer here, since
// they use the same interfaces.
bool UdpPackets::may_note_origins() const {
    bool within_host =
        std::ranges::all_of(sockets_, [](const Socket &socket) { return socket.bound.is_loopback(); });
    return options_.routes_within_host || !within_host;
}

bool UdpPackets::note_origins(bool on) {
    wants_origins_ = on && may_note_origins();
    return wants_origins_;
}

int64_t UdpPackets::origin(const Arrived &packet) {
    if (!inbox_->notes_origins) return -1;
    Destination from{};
    from.six = inbox_->origin[packet.note];
    from.socket = static_cast<uint16_t>(read_socket_);
    return static_cast<int64_t>(number_of(from));
}

std::string UdpPackets::ends(uint64_t destination) const {
    const Destination &to = destinations_[destination];
    sockaddr_storage place{};
    std::memcpy(&place, &to.any, to.length());
    return to_text_with_port(sockets_[to.socket].bound) + " and " + to_text_with_port(from_system(place));
}

// Queries the kernel for the largest packet that the route carries. The kernel reports this only for
// connected sockets, so a socket is connected for the query.
void UdpPackets::learn_largest(Destination &destination) const {
    bool six = destination.any.sa_family == AF_INET6;
    int mtu = 0;
    socklen_t length = sizeof mtu;
    int socket = ::socket(destination.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool known =
        socket >= 0 && connect(socket, &destination.any, destination.length()) == 0 &&
        getsockopt(socket, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU : IP_MTU, &mtu, &length) == 0;
    if (socket >= 0) close(socket);
    size_t headers = six ? ipv6_and_udp : ipv4_and_udp;
    size_t bytes = known ? static_cast<size_t>(std::max(mtu, 0)) : 1500;
    destination.largest =
        static_cast<uint16_t>(std::clamp(bytes - std::min(bytes, headers), least_packet, most_udp_payload));
}

void UdpPackets::watch(bool on) {
    if (on == watched_ || (!on && std::ranges::any_of(sockets_, &Socket::awaits_room))) return;
    watched_ = on;
    for (const Socket &socket : sockets_) {
        if (on) epoll_add(epoll_, socket.descriptor, EPOLLIN);
        else epoll_ctl(epoll_, EPOLL_CTL_DEL, socket.descriptor, nullptr);
    }
}

int UdpPackets::read(Socket &socket) {
    inbox_->empty();
    if (inbox_->notes_origins != wants_origins_) {
        inbox_->notes_origins = wants_origins_;
        inbox_->prepare(Inbox::slots);
    }
    ++counts_.receive_calls;
    int received = inbox_->look(socket.descriptor);
    if (received == -EAGAIN || received == -ECONNREFUSED) {
        // The call for one packet may be used now, because the only socket is empty: it has no packets that
        // were joined earlier.
        inbox_->single = inbox_->alone >= single_after && !inbox_->joins && sockets_.size() == 1;
        return 0;
    }
    if (received < 0) return received;
    if (options_.join && inbox_->joins == (inbox_->alone >= single_after)) ask_to_join(!inbox_->joins);
    for (int i = 0; i < received; ++i) {
        if (!(inbox_->message[i].msg_hdr.msg_flags & MSG_TRUNC)) continue;
        ++counts_.cut;
        inbox_->message[i].msg_len = 0;
    }
    return received;
}

// Sets whether the kernel joins packets. If it does, a receive must also get the lengths of the joined
// packets, which the call for one packet cannot do.
void UdpPackets::ask_to_join(bool on) {
    inbox_->joins = on;
    if (on) inbox_->single = false;
    for (const Socket &socket : sockets_) set_option(socket.descriptor, SOL_UDP, UDP_GRO, on);
}

int UdpPackets::lend(Arrived *list, int most) {
    int lent = 0;
    for (Inbox &in = *inbox_; lent < most && in.lent < in.received;) {
        size_t left = in.message[in.lent].msg_len - in.lent_bytes;
        if (left == 0) {
            ++in.lent;
            in.lent_bytes = 0;
            continue;
        }
        size_t bytes = std::min(left, in.segment[in.lent]);
        list[lent++] = {in.bytes[in.lent] + in.lent_bytes, bytes, static_cast<uint32_t>(in.lent)};
        in.lent_bytes += bytes;
    }
    counts_.received += static_cast<uint64_t>(lent);
    return lent;
}

int UdpPackets::receive(Arrived *list, int most) {
    if (int lent = lend(list, most)) return lent;
    for (size_t tried = 0; tried < sockets_.size(); ++tried) {
        Socket &socket = sockets_[read_socket_ = next_socket_];
        if (++next_socket_ == sockets_.size()) next_socket_ = 0;
        int received = read(socket);
        if (received < 0) return received;
        if (int lent = lend(list, most)) return lent;
    }
    return 0;
}

PacketIo::Behind UdpPackets::behind() const {
    const Inbox &in = *inbox_;
    bool last = in.lent + 1 == in.received && in.lent_bytes == in.message[in.lent].msg_len;
    if (sockets_.size() > 1 || (!last && in.lent < in.received)) return Behind::perhaps;
    if (in.for_one) return Behind::unlikely;
    return in.received < Inbox::slots ? Behind::nothing : Behind::perhaps;
}

uint64_t UdpPackets::now_ns() { return clock_ns(); }

int UdpPackets::granted_buffer() const {
    int bytes = 0;
    socklen_t length = sizeof bytes;
    if (!sockets_.empty()) getsockopt(sockets_[0].descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
    return bytes / 2;  // the kernel doubles what it grants, for its own needs
}

std::string UdpPackets::describe() const {
    std::string text = "UDP at " + name() + ", " + std::to_string(granted_buffer() / 1024) + " KiB of buffer";
    if (int wanted = options_.buffer / 1024; granted_buffer() / 1024 < wanted)
        text += " (of " + std::to_string(wanted) + " wanted: raise net.core.rmem_max where packets are lost)";
    text += std::string(", packets ") + (cuts_ ? "joined" : "one by one");
    if (uint64_t dropped = counts_.too_long) text += ", " + std::to_string(dropped) + " too long";
    if (uint64_t dropped = counts_.refused) text += ", " + std::to_string(dropped) + " refused by the system";
    if (uint64_t dropped = counts_.cut) text += ", " + std::to_string(dropped) + " longer than any may be";
    return text;
}

}  // namespace lanyard
