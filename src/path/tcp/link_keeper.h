// The life of links: connections that come and go, what is due for a link when, peers that are lost.
//
// Connections are closed though nothing is wrong with them, too, as a process may have only so many: those that have been quiet longest.
// Nothing is under way on such a one: all that this side sent is acknowledged, no frame is half read or half written. It says so with
// its last frame (idle_close), and then closes. The other side may have sent something meanwhile; then it finds its log not empty,
// connects again and sends it again, as after any loss. Otherwise it leaves the connection closed until one of the two needs it.
// Thread rule: the owner of the engine.
#pragma once

#include "path/tcp/link_writer.h"

namespace lanyard {

class LinkKeeper final : public Connector::User {
public:
    LinkKeeper(Links &links, Connector &connector, Routes &routes, LinkWriter &writer)
        : links_(links), connector_(connector), routes_(routes), writer_(writer) {}

    // Does what is due.
    void tend(uint64_t now_ns);
    // Closes connections that are quiet, all of them; and, at the end, every one.
    void close_quiet();
    void close_all();

private:
    uint64_t let_go(uint32_t peer) override;
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
    bool is_quiet(const Link &link) const;
    bool close_quiet(Link &link);
    void tell_waiting(Link &link);
    void time_out(Link &link);
    void lose(Link &link, const std::string &why);

    Links &links_;
    Connector &connector_;
    Routes &routes_;
    LinkWriter &writer_;
};

}  // namespace lanyard
