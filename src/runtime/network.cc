// See network.h.
#include "runtime/network.h"

#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/fabric.h"
#include "net/harmed_packets.h"
#include "net/packet_io.h"
#include "net/system_sockets.h"
#include "net/udp_packets.h"
#include "path/dgram/dgram_path.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {

// If the process also polls shared memory, sockets are polled only at this interval, because polling sockets
// once costs as much as polling shared memory many times.
constexpr uint64_t look_beside_shm_ns = 4000;
constexpr uint64_t weigh_from_bytes = MiB;
constexpr size_t longest_value = 1000;         // every launcher carries values of this length

enum class Service { tcp, udp, life };
// Some launchers accept only one value for a key. So when values are published again, they have other keys.
bool published_anew = false;
std::string address_key(Service service, ProcessName process) {
    const char *const names[] = {"lanyard-tcp-", "lanyard-udp-", "lanyard-life-"};
    std::string again = published_anew ? "again-" : "";
    return names[static_cast<int>(service)] + again + std::to_string(process.job) + "-" +
           std::to_string(process.number);
}
std::string secret_key() { return published_anew ? "lanyard-secret-again" : "lanyard-secret"; }

uint32_t own_peer(const Bootstrap &bootstrap) { return static_cast<uint32_t>(bootstrap.rank()); }

bool on_this_node(const Bootstrap &bootstrap, const Processes &processes, uint32_t peer) {
    return processes.node(peer) == processes.node(own_peer(bootstrap));
}

// Chooses the addresses at which this process listens. If ranks of its own node use the network, the loopback
// address is one of them. If LANYARD_INTERFACES is set, the addresses of the interfaces that it names are
// added. If it is not set and there are other nodes, the addresses of all suitable interfaces are added.
// Returns an error if there are other nodes but no address that they can use.
Error choose_addresses(const Settings &settings, const Bootstrap &bootstrap, bool shm,
                       std::vector<Address> &addresses) {
    bool others = bootstrap.local_size() < bootstrap.size();
    Address loopback;
    parse_address("127.0.0.1", loopback);
    if (!shm && bootstrap.local_size() > 1) addresses.push_back(loopback);
    if (!others && settings.interfaces.empty()) return {};
    std::vector<Interface> chosen;
    if (Error error = choose_interfaces(settings.interfaces, interfaces(), chosen)) return error;
    for (const Interface &interface : chosen) {
        bool link_local = interface.address.scope != 0;  // such an address has no meaning on another host
        bool known = std::find(addresses.begin(), addresses.end(), interface.address) != addresses.end();
        if (!link_local && !known) addresses.push_back(interface.address);
    }
    if (!addresses.empty() &&
        !(others && std::all_of(addresses.begin(), addresses.end(),
                                [](const Address &each) { return each.is_loopback(); })))
        return {};
    if (settings.interfaces.empty())
        return Error(ErrorClass::other,
                     "there are ranks on other hosts, but this one has no network interface that is up "
                     "besides loopback");
    return Error(ErrorClass::other,
                 "there are ranks on other hosts, but LANYARD_INTERFACES=" + settings.interfaces +
                     " leaves only loopback here: name an interface that they reach");
}

// True if the addresses belong to several interfaces, not counting loopback.
bool several_networks(const std::vector<Address> &addresses) {
    std::set<std::string> names;
    for (const Interface &interface : interfaces())
        if (!interface.loopback &&
            std::find(addresses.begin(), addresses.end(), interface.address) != addresses.end())
            names.insert(interface.name);
    return names.size() > 1;
}

// Returns the value that is published for a port and addresses, such as "4711,127.0.0.1,10.0.1.2". Leaves out
// addresses for which the value has no room.
std::string publish(const std::vector<Address> &addresses, uint16_t port) {
    std::string text = std::to_string(port);
    for (const Address &address : addresses) {
        std::string word = "," + to_text(address);
        if (text.size() + word.size() <= longest_value) text += word;
    }
    return text;
}

// Reads the addresses from a published value. Loopback addresses of other nodes are left out, because they do
// not lead to these nodes. False if the value does not have the form that publish() gives it, or if its port
// is 0.
bool read_published(const std::string &text, bool same_node, std::vector<Address> &addresses) {
    std::vector<std::string> words = split_words(text);
    uint16_t port = 0;
    const std::string &first = words.front();
    auto [end, trouble] = std::from_chars(first.data(), first.data() + first.size(), port);
    if (trouble != std::errc{} || end != first.data() + first.size() || port == 0) return false;
    for (size_t i = 1; i < words.size(); ++i) {
        Address address;
        if (!parse_address(words[i], address)) return false;
        if (same_node || !address.is_loopback()) addresses.push_back(address.with_port(port));
    }
    // For a process of the same node, one address is enough: the first, which has the shortest route.
    if (same_node && !addresses.empty()) addresses.resize(1);
    return true;
}

Error find_peer(Bootstrap &bootstrap, const Processes &processes, Service service, uint32_t peer,
                std::vector<Address> &addresses) {
    std::string text;
    if (Error error = bootstrap.get(address_key(service, processes.name(peer)), text)) return error;
    if (read_published(text, on_this_node(bootstrap, processes, peer), addresses) && !addresses.empty())
        return {};
    return Error(ErrorClass::other, "rank " + std::to_string(peer) +
                                        " has published no address that can be used from here: \"" + text +
                                        "\"");
}

// Like find_peer(). But if the peer is on another node, leaves out addresses that this host has as well,
// unless the peer has only such addresses. An address that both hosts have, for example the address of
// docker0, does not lead from one host to the other. Used for connections that do not verify the peer's
// identity.
Error find_elsewhere(Bootstrap &bootstrap, const Processes &processes, Service service,
                     const std::vector<Address> &own, uint32_t peer, std::vector<Address> &addresses) {
    if (Error error = find_peer(bootstrap, processes, service, peer, addresses)) return error;
    auto is_ours = [&](const Address &each) {
        return std::ranges::any_of(own, [&](const Address &one) { return same_host(one, each); });
    };
    if (!on_this_node(bootstrap, processes, peer) && !std::ranges::all_of(addresses, is_ours))
        std::erase_if(addresses, is_ours);
    return {};
}

uint32_t fresh_epoch() {
    uint32_t epoch = 0;
    while (epoch == 0)
        if (getrandom(&epoch, sizeof epoch, 0) < 0) epoch = static_cast<uint32_t>(clock_ns());
    return epoch;
}

// Reads a range of ports, "5000-5100". Its form was checked when the settings were read.
void read_range(const std::string &text, uint16_t &least, uint16_t &most) {
    least = most = 0;
    if (text.empty()) return;
    size_t dash = text.find('-');
    std::from_chars(text.data(), text.data() + dash, least);
    std::from_chars(text.data() + dash + 1, text.data() + text.size(), most);
}

// Returns how many connections may be open at a time. Some of the files that this process may open are set
// aside for other purposes (`others`). Three quarters of the rest are for connections.
uint32_t most_connections() {
    constexpr rlim_t others = 32, fewest = 4;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return UINT32_MAX;
    rlim_t most = files.rlim_cur > others ? (files.rlim_cur - others) / 4 * 3 : 0;
    return static_cast<uint32_t>(std::clamp<rlim_t>(most, fewest, UINT32_MAX));
}

Error open_links(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                 const std::vector<Address> &addresses, bool shm, Network &network) {
    WireIdentity identity;
    identity.own = processes.name(own_peer(bootstrap));
    Proof job = digest(bootstrap.job());
    std::memcpy(identity.job, job.data(), sizeof identity.job);
    Crc32c crc;
    if (settings.checksum)
        if (Error error = Crc32c::load(crc)) return error;
    network.sockets = std::make_unique<SystemSockets>(static_cast<int>(settings.socket_buffer),
                                                      static_cast<int>(settings.peer_timeout));
    if (network.sockets->descriptor() < 0)
        return Error(ErrorClass::other, "the kernel gives no epoll descriptor: " + system_text(errno));
    TcpLimits limits;
    limits.peer_timeout_ns = static_cast<uint64_t>(settings.peer_timeout) * 1'000'000'000;
    limits.most_open = most_connections();
    limits.weigh_from = several_networks(addresses) ? weigh_from_bytes : 0;
    limits.look_every_ns = shm && bootstrap.local_size() > 1 ? look_beside_shm_ns : 0;
    auto find = [&bootstrap, &processes](uint32_t peer, std::vector<Address> &list) {
        return find_peer(bootstrap, processes, Service::tcp, peer, list);
    };
    auto links = std::make_unique<TcpPath>(*network.sockets, identity, processes, limits, find, crc);
    network.links = links.get();
    network.path = std::move(links);
    uint16_t least, most, port;
    read_range(settings.port_range, least, most);
    if (Error error = network.links->listen(addresses, least, most, port)) return error;
    return bootstrap.put(address_key(Service::tcp, identity.own), publish(addresses, port));
}

// Opens the liveness checks of datagrams. Without these checks, a process that computes for
// LANYARD_PEER_TIMEOUT would count as failed.
Error open_liveness(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                    const std::vector<Address> &addresses, uint16_t wanted, Network &network) {
    network.sockets = std::make_unique<SystemSockets>(0, static_cast<int>(settings.peer_timeout));
    auto find = [&bootstrap, &processes, addresses](uint32_t peer, std::vector<Address> &list) {
        return find_elsewhere(bootstrap, processes, Service::life, addresses, peer, list);
    };
    network.liveness = std::make_unique<Liveness>(*network.sockets, find);
    network.datagrams->use(*network.liveness);
    uint16_t least, most;
    read_range(settings.port_range, least, most);
    uint16_t port = network.liveness->listen(addresses, wanted ? wanted : least, least, most);
    if (port == 0)
        log(LogLevel::warn, "dgram",
            "no TCP port%s is free at all addresses of this process, so the others cannot check whether it "
            "lives: if it computes for %lld s (LANYARD_PEER_TIMEOUT), they count it as failed. %s",
            settings.port_range.empty() ? "" : " of LANYARD_PORT_RANGE",
            static_cast<long long>(settings.peer_timeout),
            settings.port_range.empty() ? "Raise LANYARD_PEER_TIMEOUT, or name fewer LANYARD_INTERFACES"
                                        : "Name more ports");
    return bootstrap.put(address_key(Service::life, processes.name(own_peer(bootstrap))),
                         publish(addresses, port));
}

// Returns the addresses at which datagrams are received. If there are addresses besides loopback, loopback is
// left out, so that one socket less is polled. Processes of one host reach each other by any of the host's
// addresses, and the kernel keeps that traffic inside the host.
std::vector<Address> for_packets(std::vector<Address> addresses) {
    auto is_loopback = [](const Address &each) { return each.is_loopback(); };
    if (!std::all_of(addresses.begin(), addresses.end(), is_loopback)) std::erase_if(addresses, is_loopback);
    return addresses;
}

// Opens an endpoint over UDP. Returns what must be published about the endpoint, and its port.
Error open_udp(const Settings &settings, const std::vector<Address> &addresses,
               std::unique_ptr<PacketIo> &packets, std::string &published, uint16_t &port) {
    UdpPackets::Options options;
    if (settings.socket_buffer > 0) options.buffer = static_cast<int>(settings.socket_buffer);
    auto udp = std::make_unique<UdpPackets>(options);
    uint16_t least, most;
    read_range(settings.port_range, least, most);
    if (Error error = udp->open(addresses, least, most)) return error;
    port = udp->port();
    published = publish(addresses, port);
    packets = std::move(udp);
    return {};
}

// Opens an endpoint of libfabric. The endpoint has one address, chosen so that other hosts can reach it if
// possible. No port is returned, so the port of the liveness checks does not depend on the endpoint's port.
Error open_libfabric(const Settings &settings, const std::vector<Address> &addresses,
                     std::unique_ptr<PacketIo> &packets, std::string &published, uint16_t &) {
    FabricChoice choice;
    choice.provider = fabric_provider(settings.dgram_io);
    choice.addresses = addresses;
    read_range(settings.port_range, choice.least_port, choice.most_port);
    if (Error error = open_fabric(choice, packets)) return error;
    published = packets->name();
    return {};
}

// Finds the name of a peer's endpoint. That endpoint must be of the same kind as this process's own endpoint.
Error find_endpoint(Bootstrap &bootstrap, const Processes &processes, const std::vector<Address> &own,
                    uint32_t peer, std::string_view own_kind, std::string &name) {
    if (Error error = bootstrap.get(address_key(Service::udp, processes.name(peer)), name)) return error;
    std::string_view kind = fabric_kind(name);
    if (kind != own_kind) {
        auto words = [](std::string_view of) {
            return std::string(of.empty() ? "UDP" : of.substr(0, of.size() - 1));
        };
        return Error(ErrorClass::other, "takes messages by " + words(kind) +
                                            " and this process sends them by " + words(own_kind) +
                                            ": set LANYARD_DGRAM_IO alike for all processes");
    }
    if (!kind.empty()) return {};
    std::vector<Address> list;
    if (Error error = find_elsewhere(bootstrap, processes, Service::udp, own, peer, list)) return error;
    name.clear();
    for (const Address &address : list) name += (name.empty() ? "" : ",") + to_text_with_port(address);
    return {};
}

Error open_datagrams(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                     const std::vector<Address> &addresses, Network &network) {
    if (processes.name(processes.count() - 1).serial() >= dgram::most_processes)
        return Error(ErrorClass::other, "datagrams carry process numbers of 23 bits, and this job has " +
                                            std::to_string(bootstrap.size()) +
                                            " processes: leave dgram out of LANYARD_PATHS");
    auto open = settings.dgram_io == "udp" ? open_udp : open_libfabric;
    std::string published;
    uint16_t port = 0;
    if (Error error = open(settings, for_packets(addresses), network.packets, published, port)) return error;
    Harm harm;
    parse_harm(settings.dgram_harm, harm);  // its form was checked when the settings were read
    harm.seed = harm.seed ? harm.seed + static_cast<uint64_t>(bootstrap.rank()) : fresh_epoch();
    if (harm.any()) network.packets = std::make_unique<HarmedPackets>(std::move(network.packets), harm);
    DgramLimits limits;
    limits.flow.peer_timeout_ns = static_cast<uint64_t>(settings.peer_timeout) * 1'000'000'000;
    limits.computing_answers = settings.progress != "caller" && settings.dgram_progress != "engine";
    Crc32c crc = Crc32c::built_in();
    auto find = [&bootstrap, &processes, addresses, kind = std::string(fabric_kind(published))](
                    uint32_t peer, std::string &name) {
        return find_endpoint(bootstrap, processes, addresses, peer, kind, name);
    };
    ProcessName own = processes.name(own_peer(bootstrap));
    auto path =
        std::make_unique<DgramPath>(*network.packets, own, processes, fresh_epoch(), crc, limits, find);
    network.datagrams = path.get();
    network.path = std::move(path);
    if (Error error = bootstrap.put(address_key(Service::udp, own), published)) return error;
    return open_liveness(settings, bootstrap, processes, addresses, port, network);
}

}  // namespace

std::string network_word(const Settings &settings) {
    for (const std::string &word : split_words(settings.paths))
        if (word == "tcp" || word == "dgram") return word;
    return "";
}

bool network_needed(const Bootstrap &bootstrap, bool allowed, bool shm) {
    if (!allowed || bootstrap.size() == 1) return false;
    const std::vector<int> &node = bootstrap.identity().node_of_rank;
    bool one_node = std::all_of(node.begin(), node.end(), [&](int each) { return each == node.front(); });
    return !one_node || !shm;
}

int64_t network_speed_mbit(const Settings &settings) {
    std::vector<Interface> chosen;
    // This error is discarded because open_network() reports it if a network is opened.
    if (Error error = choose_interfaces(settings.interfaces, interfaces(), chosen)) error.discard();
    return fastest_mbit(chosen);
}

Error open_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes, bool datagrams,
                   bool shm, Network &network) {
    std::vector<Address> addresses;
    if (Error error = choose_addresses(settings, bootstrap, shm, addresses)) return error;
    if (bootstrap.rank() == 0)
        if (Error error = bootstrap.put(secret_key(), Secret::random().to_text())) return error;
    if (datagrams) return open_datagrams(settings, bootstrap, processes, addresses, network);
    return open_links(settings, bootstrap, processes, addresses, shm, network);
}

Error open_network_instead(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                           bool datagrams, Network &network) {
    network = {};
    published_anew = true;
    return open_network(settings, bootstrap, processes, datagrams, false, network);
}

Error reopen_network(const Settings &settings, Bootstrap &bootstrap, const Processes &processes,
                     Network &network) {
    bool shm = names_path(settings, "shm");
    std::vector<Address> addresses;
    if (Error error = choose_addresses(settings, bootstrap, shm, addresses)) return error;
    return open_links(settings, bootstrap, processes, addresses, shm, network);
}

Error join_network(Bootstrap &bootstrap, Network &network) {
    std::string secret;
    if (Error error = bootstrap.get(secret_key(), secret)) return error;
    Secret key;
    if (!Secret::parse(secret, key))
        return Error(ErrorClass::other,
                     "the launcher hands out a secret of the job that was not put there by rank 0");
    network.path->set_secret(key);
    return {};
}

}  // namespace lanyard
