// Links owns all links of this process, indexed by peer, and has totals over all links. It also has what the
// parts of the TCP path (LinkWriter, LinkReader, LinkKeeper) share.
// Rule: code that changes what is unwritten, unread or unacknowledged on a link calls recount() before poll()
// ends.
// Thread rule: the owner of the engine.
#pragma once

#include <memory>
#include <vector>

#include "path/reliable/reports.h"
#include "path/tcp/link.h"
#include "path/tcp/tcp_limits.h"

namespace lanyard {

class Links {
public:
    Links(Sockets &kernels, uint32_t peers, const TcpLimits &limit, Crc32c crc)
        : sockets(kernels), limits(limit), form(limit.max_eager, crc), table_(peers) {}

    size_t peers() const { return table_.size(); }
    // Permits links to peers below this number, which is not less than before.
    void grow(uint32_t peers) { table_.resize(peers); }
    // Creates the link at first contact. This object owns the link and never moves it. Requires peer <
    // peers().
    Link &at(uint32_t peer) {
        Link *link = find(peer);
        return link ? *link : make(peer);
    }
    // nullptr: there has been no contact yet.
    Link *find(uint32_t peer) const { return table_[peer].get(); }
    template <class Visit>
    void for_each(Visit visit) {
        for (auto &link : table_)
            if (link) visit(*link);
    }

    // Must be called after anything was written, read or acknowledged.
    void recount(Link &link) {
        const Connection &connection = link.connection;
        Counted now{link.log.unwritten() > 0 || connection.is_busy(), !link.log.empty(),
                    connection.is_slow()};
        if (now != link.counted) count(link, now);
        if (link.connection.silence.begin(now.unacknowledged, connection.bulk_bytes(), now_ns))
            set_due(link, connection.silence.due_ns());
    }
    // The numbers of links with unwritten bytes or half-read payload (busy), with a log that is not empty
    // (unacknowledged), and with slow arrivals (slow).
    uint32_t busy() const { return busy_; }
    uint32_t unacknowledged() const { return unacknowledged_; }
    uint32_t slow() const { return slow_; }

    // States that LinkKeeper must do something for this link, at `when_ns` or later.
    void set_due(Link &link, uint64_t when_ns) {
        due_at_ns_ = std::min(due_at_ns_, when_ns);
        if (!link.due) list_due(link);
    }
    // The earliest of the times passed to set_due() since take_due().
    uint64_t due_at_ns() const { return due_at_ns_; }
    // Returns the links for which set_due() was called, and empties the list. The caller must call set_due()
    // again for links whose time has not come.
    std::vector<Link *> take_due();
    // Marks the connection as unusable. poll() closes it, since closing may involve calls to other code.
    void fail(Link &link) {
        link.connection.fail();
        set_due(link, 0);
    }
    // Notes that a needed connection has been missing since `since_ns`.
    void miss(Link &link, uint64_t since_ns) {
        link.parted_ns = since_ns;
        set_due(link, since_ns + patience_ns(link));
    }
    // How long a connection may be missing until something must be reported or done.
    uint64_t patience_ns(const Link &link) const {
        return link.was_connected || link.told_waiting
                   ? limits.peer_timeout_ns
                   : std::min(limits.peer_timeout_ns, tell_waiting_after_ns);
    }
    static constexpr uint64_t tell_waiting_after_ns = 5'000'000'000;

    Sockets &sockets;
    const TcpLimits limits;
    const FrameForm form;
    TcpCounts counts;
    Reports reports;
    ReadBuffer buffer;
    Sink *sink = nullptr;  // set while poll() runs
    uint64_t now_ns = 0;   // the time passed to the latest poll()
    Tally<uint32_t> open;  // the number of open connections
    bool leaving = false;

private:
    Link &make(uint32_t peer);
    void count(Link &link, Counted now);
    void list_due(Link &link);

    SpareBlocks spare_;
    std::vector<std::unique_ptr<Link>> table_;
    std::vector<Link *> due_;
    uint64_t due_at_ns_ = no_deadline;
    uint32_t busy_ = 0, unacknowledged_ = 0, slow_ = 0;
};

}  // namespace lanyard
