// See routes.h.
#include "path/tcp/routes.h"

#include <algorithm>

#include "base/log.h"

namespace lanyard {

Error Routes::addresses(uint32_t peer, Route &route, std::vector<Address> &list, size_t &first) {
    if (route.addresses.empty())
        if (Error error = find_(peer, route.addresses)) return error;
    list = route.addresses;
    auto last = std::find_if(list.begin(), list.end(),
                             [&](const Address &each) { return same_host(each, route.last); });
    first = last == list.end() ? 0 : 1;
    if (first) std::rotate(list.begin(), last, last + 1);
    return {};
}

void Routes::connected(Route &route, int socket) {
    route.last = sockets_.other_end(socket);
    if (route.choice) route.choice->connected(route.last, sockets_.bound(socket));
}

void Routes::weigh(uint32_t peer, Route &route, int socket, bool may_measure) {
    if (!route.choice) {
        std::vector<Address> list;
        size_t first = 0;
        // If the addresses cannot be found, there is nothing to choose from.
        if (Error error = addresses(peer, route, list, first)) error.discard();
        route.choice = std::make_unique<AddressChoice>(list, bytes_between_samples());
        route.choice->connected(route.last, sockets_.bound(socket));
    }
    if (!route.choice->samples_wanted() || !route.choice->several()) return;
    if (!may_measure || !connector_.may_measure()) return;  // perhaps later
    route.choice->sample(sockets_.delivery(socket));
    follow_choice(peer, route, true);
}

void Routes::measured(uint32_t peer, Route &route, const AddressChoice::Found &found, bool is_needed) {
    if (!route.choice) return;
    route.choice->measured(found);
    follow_choice(peer, route, is_needed);
}

void Routes::not_moved(uint32_t peer, Route &route, bool is_needed) {
    if (!route.choice) return;
    route.choice->not_moved();
    follow_choice(peer, route, is_needed);
}

void Routes::follow_choice(uint32_t peer, Route &route, bool is_needed) {
    if (!route.choice) return;
    for (const Address &address : route.choice->to_measure())
        connector_.measure(peer, address, measure_ns_, bytes_between_samples());
    if (std::optional<Address> address = route.choice->to_move_to()) {
        if (is_needed) connector_.move(peer, *address);
        else route.last = *address;  // the connection uses that address when it is needed again
    }
    if (route.choice->to_report()) tell_choice(peer, route);
}

void Routes::tell_choice(uint32_t peer, Route &route) {
    if (!route.choice || route.choice->reported() || !route.choice->several()) return;
    std::string text =
        route.choice->report(log_enabled(LogLevel::info) ? interfaces() : std::vector<Interface>());
    log(LogLevel::info, "tcp", "peer %u: %s", peer, text.c_str());
}

}  // namespace lanyard
