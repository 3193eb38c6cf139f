// By which of a peer's addresses its connection goes: what path/tcp/address_choice.h decides, done. Thread rule: the owner of the engine.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "path/tcp/address_choice.h"
#include "path/tcp/connector.h"

namespace lanyard {

// Of one peer.
struct Route {
    std::vector<Address> addresses;         // once asked for: at the end of the job nobody may answer any more
    Address last;                           // by which the latest connection goes, or the next should
    std::unique_ptr<AddressChoice> choice;  // once bulk has flowed, where there are several
};

class Routes {
public:
    using Find = std::function<Error(uint32_t peer, std::vector<Address> &list)>;

    // `weigh_from`: bytes of bulk on a connection before other addresses are measured; 0: never. Each is written to for `measure_ns`.
    Routes(Sockets &sockets, Connector &connector, uint64_t weigh_from, uint64_t measure_ns, Find find)
        : sockets_(sockets), connector_(connector), find_(std::move(find)), weigh_from_(weigh_from), measure_ns_(measure_ns) {}

    // The peer's, the one that the latest connection went by first: `first` is then 1, else 0.
    Error addresses(uint32_t peer, Route &route, std::vector<Address> &list, size_t &first);
    // There is a new connection.
    void connected(Route &route, int socket);
    // Has a connection that has taken so much bulk to be asked how it gets on?
    bool is_to_be_weighed(uint64_t bulk_bytes) const { return weigh_from_ > 0 && bulk_bytes >= weigh_from_; }
    // A part of the bulk has been written, and there was enough of it. `may_measure`: this process may open a further connection.
    void weigh(uint32_t peer, Route &route, int socket, bool may_measure);
    // What the connector has measured; and that it could not move the connection. `is_needed`: it is not closed as it is quiet.
    void measured(uint32_t peer, Route &route, const AddressChoice::Found &found, bool is_needed);
    void not_moved(uint32_t peer, Route &route, bool is_needed);
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
