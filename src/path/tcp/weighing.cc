// By which of a peer's addresses its connection goes: what path/tcp/address_choice.h decides, done.
#include <algorithm>

#include "base/log.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

// The address that the latest connection went by comes first.
Error TcpPath::addresses(uint32_t peer, std::vector<Address> &list, size_t &first) {
    Link &link = this->link(peer);
    if (link.addresses.empty())
        if (Error error = find_(peer, link.addresses)) return error;
    list = link.addresses;
    auto last = std::find_if(list.begin(), list.end(), [&](const Address &each) { return same_host(each, link.last_address); });
    first = last == list.end() ? 0 : 1;
    if (first) std::rotate(list.begin(), last, last + 1);
    return {};
}

// A part of the bulk has been written, and there was enough of it to ask how it gets on.
void TcpPath::weigh(Link &link) {
    if (!link.choice) {
        std::vector<Address> list;
        size_t first = 0;
        if (Error error = addresses(link.peer, list, first)) error.discard();  // with no address there is no choice
        link.choice = std::make_unique<AddressChoice>(list, bytes_between_samples());
        link.choice->connected(link.last_address, sockets_.bound(link.socket));
    }
    if (!link.choice->samples_wanted() || !link.choice->several()) return;
    if (open_ >= limits_.most_open || !connector_.may_measure()) return;  // later perhaps
    link.choice->sample(sockets_.traffic(link.socket));
    follow_choice(link);
}

void TcpPath::measured(uint32_t peer, const AddressChoice::Found &found) {
    Link &link = this->link(peer);
    if (!link.choice || link.lost) return;
    link.choice->measured(found);
    follow_choice(link);
}

void TcpPath::not_moved(uint32_t peer) {
    Link &link = this->link(peer);
    if (!link.choice) return;
    link.choice->not_moved();
    follow_choice(link);
}

void TcpPath::follow_choice(Link &link) {
    for (const Address &address : link.choice->to_measure()) connector_.measure(link.peer, address, limits_.measure_ns, bytes_between_samples());
    if (std::optional<Address> address = link.choice->to_move_to()) {
        if (link.resting) link.last_address = *address;  // it goes by that when it is needed again
        else connector_.move(link.peer, *address);
    }
    if (link.choice->to_report()) tell_choice(link);
}

void TcpPath::tell_choice(Link &link) {
    if (!link.choice || link.choice->reported() || !link.choice->several()) return;
    std::string text = link.choice->report(log_enabled(LogLevel::info) ? interfaces() : std::vector<Interface>());
    log(LogLevel::info, "tcp", "peer %u: %s", link.peer, text.c_str());
}

}  // namespace lanyard
