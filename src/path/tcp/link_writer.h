// Sends for links: numbers envelopes, stores them in the link's log, and lets the connection write the log
// and the open bulk frame. Envelopes that are sent inside poll() are written together, at the end of poll()
// at the latest. Bulk and acknowledgements are written at once, and with them the envelopes before them. An
// envelope with long contiguous payload is written at once if nothing must be written before it.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/sim/answers_test.cc.
#pragma once

#include "path/tcp/links.h"

namespace lanyard {

class LinkWriter {
public:
    LinkWriter(Links &links, Connector &connector, Routes &routes)
        : links_(links), connector_(connector), routes_(routes) {}

    // As in Path, for a peer that has not failed. Without a connection, these functions request one; send()
    // and send_kept() then fill the log, and send_bulk() returns `full`.
    Sent send(Link &link, const Envelope &envelope, Payload &&payload);
    Sent send_kept(Link &link, const Envelope &envelope, const KeptPayload &payload);
    Sent send_bulk(Link &link, const BulkHeader &bulk, Payload &&payload, uint64_t token);

    // Is there a usable connection? If there is no connection, requests one. Counts as a use of the link.
    bool is_connected(Link &link) {
        link.sent_ns = links_.now_ns;
        if (!link.connection.is_open()) want(link);
        return link.connection.is_usable();
    }
    // Sends an acknowledgement in a frame of its own, with these FrameHeader::flags. There must be a
    // connection.
    void answer(Link &link, uint8_t flags = 0);
    // Writes the last frame of a connection that is idle on this side (frame.h, idle_close). Returns whether
    // the whole frame was written, so that the connection may be closed. The link's log must be empty.
    bool say_idle_close(Link &link);
    // Writes until nothing is left or the socket takes no more. If the connection fails, poll() closes it.
    // The caller must call Links::recount() afterwards.
    void write_out(Link &link);
    // Writes what was sent inside poll().
    void flush_all();
    // Called when the owner of the engine has nothing else to do. Copies kept payload that was written and is
    // not yet acknowledged, so that its sends are complete; but leaves links that keep more than
    // copy_kept_up_to.
    void copy_kept();
    // Does any log keep payload of the program?
    bool keeps_any() const { return !keeping_.empty(); }

private:
    void want(Link &link);
    FrameHeader header(Link &link, FrameKind kind, size_t size);
    size_t write_first(Link &link, const CheckedEnvelope &head, const Payload &payload);
    void sent(Link &link, bool connected);

    Links &links_;
    Connector &connector_;
    Routes &routes_;
    std::vector<Link *> to_flush_;
    std::vector<Link *> keeping_;  // links whose log keeps payload of the program
};

}  // namespace lanyard
