// Selects the address by which a peer is connected, and moves the connection to another address. Carries out
// what AddressChoice decides (path/tcp/address_choice.h).
// Thread rule: the owner of the engine.
// Tested by: tests/sim/links_test.cc, tests/lab/test_addresses.py.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "path/tcp/address_choice.h"
#include "path/tcp/connector.h"

namespace lanyard {

// The route to one peer.
struct Route {
    // Stored after the first look-up: at the end of the job the launcher may no longer answer.
    std::vector<Address> addresses;
    Address last;  // the address that the latest connection uses, or the next should use
    std::unique_ptr<AddressChoice> choice;  // created when enough bulk has flowed
};

class Routes {
public:
    using Find = std::function<Error(uint32_t peer, std::vector<Address> &list)>;

    // `weigh_from`: bytes of bulk on a connection before its rate is sampled, after which the other addresses
    // may be measured; 0: never. A measurement writes to each address for at most `measure_ns`. `find`
    // returns the addresses that a peer has published.
    Routes(Sockets &sockets, Connector &connector, uint64_t weigh_from, uint64_t measure_ns, Find find)
        : sockets_(sockets), connector_(connector), find_(std::move(find)), weigh_from_(weigh_from),
          measure_ns_(measure_ns) {}

    // Returns the peer's addresses in `list`. If route.last is among them, it comes first and `first` is 1;
    // otherwise `first` is 0.
    Error addresses(uint32_t peer, Route &route, std::vector<Address> &list, size_t &first);
    // Called when there is a new connection.
    void connected(Route &route, int socket);
    // Has a connection taken so much bulk that its rate should be sampled?
    bool is_to_be_weighed(uint64_t bulk_bytes) const { return weigh_from_ > 0 && bulk_bytes >= weigh_from_; }
    // Called when bulk has been written and is_to_be_weighed() holds. Takes a sample of the connection's
    // rate. `may_measure`: this process may open a further connection.
    void weigh(uint32_t peer, Route &route, int socket, bool may_measure);
    // measured(): called when the connector has measured an address. not_moved(): called if the connector
    // could not move the connection. `is_needed`: the connection is not closed as idle.
    void measured(uint32_t peer, Route &route, const AddressChoice::Found &found, bool is_needed);
    void not_moved(uint32_t peer, Route &route, bool is_needed);
    // follow_choice(): begins what the choice requests now: measurements, a move, or the report.
    // tell_choice(): logs what is known about the addresses, once.
    void follow_choice(uint32_t peer, Route &route, bool is_needed);
    void tell_choice(uint32_t peer, Route &route);

private:
    uint64_t bytes_between_samples() const { return weigh_from_ / 32; }

    Sockets &sockets_;
    Connector &connector_;
    const Find find_;
    const uint64_t weigh_from_, measure_ns_;
};

}  // namespace lanyard
