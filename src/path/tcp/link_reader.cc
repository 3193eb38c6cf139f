// See link_reader.h.
#include "path/tcp/link_reader.h"

#include "base/log.h"

namespace lanyard {

// The `user` of FrameReader for what arrives on one link's connection during one call.
class LinkReader::Frames {
public:
    Frames(LinkReader &reader, Link &link, int budget) : reader_(reader), link_(link), budget_(budget) {}

    int budget() const { return budget_; }
    void spend() { --budget_; }
    bool has_enough(int frames) const {
        return budget_ <= 0 || (frames > 0 && reader_.links_.sink->wait_is_over());
    }
    bool begin(const FrameHead &head, const std::byte *payload, size_t received, Assembly &assembly) {
        return reader_.begin(link_, head, payload, received, assembly);
    }
    bool complete(const FrameHead &head, const std::byte *payload) {
        --budget_;
        return reader_.take_frame(link_, head, payload);
    }
    void fault(FrameReader::Fault what) {
        if (what == FrameReader::Fault::damaged) reader_.damaged(link_);
        else reader_.garbled(link_, "a frame of no known form");
    }

private:
    LinkReader &reader_;
    Link &link_;
    int budget_;
};

// Called when frames were taken, or the connection has failed.
inline void LinkReader::finish(Link &link) {
    if (link.connection.has_failed()) links_.fail(link);
    else if (link.incoming.wants_answer(links_.limits.answer_after) && link.connection.is_open())
        writer_.answer(link);
    links_.recount(link);
}

int LinkReader::read_in(Link &link, int budget) {
    Frames frames(*this, link, budget);
    int work = link.connection.read_in(links_.sockets, links_.form, links_.buffer, links_.now_ns, frames);
    if (work > 0 || link.connection.has_failed()) finish(link);
    return work;
}

int LinkReader::take_rest(int budget) {
    Connection *connection = links_.buffer.owner();
    if (!connection) return 0;
    Link &link = *links_.find(connection->token());
    int work =
        connection->frames.take_apart(links_.form, links_.buffer, links_.now_ns, Frames(*this, link, budget));
    finish(link);
    return work;
}

// Begins a frame whose payload arrives in parts. `received` bytes of the payload are here. If frames carry
// checksums, those of an envelope have been verified.
bool LinkReader::begin(Link &link, const FrameHead &head, const std::byte *payload, size_t received,
                       Assembly &assembly) {
    if (head.header.kind == FrameKind::bulk) {
        assembly.begin(*links_.sink, link.peer, head.bulk.bulk, head.header.size);
        return true;
    }
    if (!link.incoming.is_next(head.header)) return garbled(link, "an envelope that is not the next");
    const Envelope envelope = head.envelope.envelope;
    assembly.begin(*links_.sink, link.peer, envelope, payload, received, head.header.size);
    // If the sink has just answered an offer, the answer leaves now, while the first bytes of the message
    // still arrive.
    if (link.to_flush && !link.connection.awaits_room()) writer_.write_out(link);
    return true;
}

bool LinkReader::take_frame(Link &link, const FrameHead &head, const std::byte *payload) {
    const FrameHeader header = head.header;
    uint64_t acknowledged = widened(header.acknowledged, link.next_number);
    if (acknowledged > link.next_number || !link.log.has_written(acknowledged))
        return garbled(link, "an acknowledgement of what was never sent");
    link.log.acknowledged(acknowledged);
    link.log.take_released(links_.reports.tokens());
    if (header.flags & answer_now) link.incoming.ask();
    if (header.kind == FrameKind::envelope)
        return take_envelope(link, header, head.envelope.envelope, payload);
    if (header.kind == FrameKind::bulk) {
        ++links_.counts.bulk_received;
        link.connection.note_bulk(links_.form.head_bytes(FrameKind::bulk) + header.size);
        links_.sink->bulk(link.peer, head.bulk.bulk, payload, header.size);
    } else if (header.flags & idle_close) {
        take_idle_close(link, header);
    }
    return true;
}

// The other side reads nothing more from this connection, so this side uses it no longer. If the other side
// has not received all bulk, the connection counts as broken.
void LinkReader::take_idle_close(Link &link, const FrameHeader &header) {
    const Connection &connection = link.connection;
    link.idle_closed =
        !connection.bulk.is_open() && static_cast<uint32_t>(connection.bulk_bytes()) == header.sequence;
    links_.fail(link);
}

bool LinkReader::take_envelope(Link &link, const FrameHeader &header, const Envelope &carried,
                               const std::byte *payload) {
    if (!link.incoming.is_next(header)) return garbled(link, "an envelope that is not the next");
    const Envelope envelope = carried;  // a copy, which no call of the sink can change
    ++links_.counts.envelopes_received;
    bool was_told = link.incoming.answer_due_ns() == no_deadline;
    link.incoming.take(sizeof(EnvelopeFrame) + header.size, links_.now_ns + links_.limits.answer_within_ns);
    if (was_told) links_.set_due(link, link.incoming.answer_due_ns());
    links_.sink->envelope(link.peer, envelope, payload, header.size);
    return true;
}

// Warns once: a user who has set LANYARD_CHECKSUM wants to know of damage. Apart from the new connection,
// damage has no consequences.
void LinkReader::damaged(Link &link) {
    ++links_.counts.damaged;
    log(links_.counts.damaged == 1 ? LogLevel::warn : LogLevel::info, "tcp",
        "peer %u: what arrived was damaged on its way (a checksum is wrong, %llu so far); it is sent again "
        "on a new connection",
        link.peer, static_cast<unsigned long long>(links_.counts.damaged));
    links_.fail(link);
}

// Ends the connection because of a frame that the rules do not permit. Returns false, so that nothing more is
// read from the connection.
bool LinkReader::garbled(Link &link, const char *what) {
    log(LogLevel::warn, "tcp", "peer %u: %s; the connection is made anew", link.peer, what);
    ++links_.counts.garbled;
    links_.fail(link);
    return false;
}

}  // namespace lanyard
