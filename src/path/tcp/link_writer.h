// What a link sends: numbers envelopes, stores them in the link's log, and has the connection write the log
// and the open bulk frame. What is sent inside poll() is written together at its end.
// Thread rule: the owner of the engine.
#pragma once

#include "path/tcp/links.h"

namespace lanyard {

class LinkWriter {
public:
    LinkWriter(Links &links, Connector &connector, Routes &routes)
        : links_(links), connector_(connector), routes_(routes) {}

    // As in Path, to a peer that has not failed.
    Sent send(Link &link, const Envelope &envelope, Payload &&payload);
    Sent send_kept(Link &link, const Envelope &envelope, const KeptPayload &payload);
    Sent send_bulk(Link &link, const BulkHeader &bulk, Payload &&payload, uint64_t token);

    // Is there a connection? If not, one is wanted from now on.
    bool is_connected(Link &link) {
        link.sent_ns = links_.now_ns;
        if (!link.connection.is_open()) want(link);
        return link.connection.is_usable();
    }
    // Sends an acknowledgement in a frame of its own. There must be a connection.
    void answer(Link &link, uint8_t flags = 0);
    // Writes until nothing is left or the socket takes no more.
    void write_out(Link &link);
    // Writes what was sent inside poll().
    void flush_all();
    // For when the owner has nothing better to do: copies payload that was written and is not yet
    // acknowledged, so that its send is complete.
    void copy_kept();
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
