// Manages links: opens and closes connections, does what is due for a link at a certain time, and detects
// failed peers.
//
// A process may have only a limited number of connections. The connections that have been idle longest are
// therefore closed although nothing is wrong with them. On such a connection, all envelopes that this side
// sent are acknowledged, and no frame is half read or half written here. This side states the close in its
// last frame (idle_close) and then closes. The other side may have sent something meanwhile. If it was an
// envelope, the other side finds its log not empty. If it was bulk, which is not in the log, the other side
// has sent more bulk than the idle_close states. In both cases the other side connects again, as after any
// loss, and what was lost is sent again. Otherwise, it leaves the connection closed until one of the two
// sides needs it.
// Both sides may close the same connection at once, and then neither reads what the other one states. To make
// room for another connection, a side therefore closes only one on which nothing is under way: the other host
// has acknowledged everything, and nothing that has arrived here is unread. (Bulk can be lost without notice
// only if it arrives at one side just between this look and the close, while the other side closes too.)
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/sim/silence_test.cc.
#pragma once

#include "path/tcp/link_writer.h"

namespace lanyard {

class LinkKeeper final : public Connector::User {
public:
    LinkKeeper(Links &links, Connector &connector, Routes &routes, LinkWriter &writer)
        : links_(links), connector_(connector), routes_(routes), writer_(writer) {}

    // Does what is due. Must be called inside poll(), when Links::due_at_ns() has passed. Failed peers are
    // added to Links::reports.
    void tend(uint64_t now_ns);
    // close_idle(): closes all connections that are idle. close_all(): closes every connection, at the end.
    void close_idle();
    void close_all();

private:
    LetGo let_go(uint32_t peer) override;
    void connected(uint32_t peer, int socket, uint64_t peer_expects) override;
    Error addresses(uint32_t peer, std::vector<Address> &list, size_t &first) override;
    void alive(uint32_t peer) override;
    bool make_room() override;
    void unfit(uint32_t peer, const char *why) override;
    void measured(uint32_t peer, const AddressChoice::Found &found) override;
    void not_moved(uint32_t peer) override;

    void tend_one(Link &link, uint64_t now_ns);
    void check_silence(Link &link, uint64_t now_ns);
    void part(Link &link);
    bool is_idle_here(const Link &link) const;
    bool is_idle_there(const Link &link) const;
    bool close_idle(Link &link);
    void tell_waiting(Link &link);
    void time_out(Link &link);
    void lose(Link &link, const std::string &why);

    Links &links_;
    Connector &connector_;
    Routes &routes_;
    LinkWriter &writer_;
};

}  // namespace lanyard
