// Passes frames on (dispatch.h).
#include "p2p/dispatch.h"

#include <set>
#include <string>
#include <utility>

#include "base/log.h"

namespace lanyard {

void Dispatch::bind(EnvelopeKind kind, Handler &handler) {
    Handler *&place = handlers_.at(static_cast<size_t>(kind));
    LANYARD_MUST(!place);
    place = &handler;
}

void Dispatch::unbind(const Handler &handler) {
    for (Handler *&place : handlers_)
        if (place == &handler) place = nullptr;
}

void Dispatch::envelope(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t size) {
    Peer &peer = endpoint_.peers[number];
    Channels::returned(peer, envelope.credit);
    if (envelope.kind <= EnvelopeKind::rendezvous) receiver_.message(peer, envelope, payload, size);
    else hand_on(number, envelope, payload, size);
}

// Passes an envelope that is no message to its handler or target. Drops an envelope that only returns credit,
// one whose kind is not below kinds_of_envelopes, and one whose target has ended.
void Dispatch::hand_on(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    auto kind = static_cast<size_t>(envelope.kind);
    if (envelope.kind == EnvelopeKind::credit || kind >= handlers_.size()) return;
    if (Handler *handler = handlers_[kind]) handler->envelope(peer, envelope, payload, size);
    else if (Target *target = endpoint_.targets.find(envelope.context))
        target->answer(peer, envelope, payload, size);
}

std::byte *Dispatch::place(uint32_t peer, const BulkHeader &header, size_t size) {
    Target *target = endpoint_.targets.find(header.receive_id);
    return target ? target->place(peer, header.offset, size) : nullptr;
}

void Dispatch::bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) {
    if (Target *target = endpoint_.targets.find(header.receive_id))
        target->bulk(peer, header.offset, payload, size);
}

void Dispatch::sent(uint64_t token) {
    if (Target *target = endpoint_.targets.find(token)) target->sent();
}

void Dispatch::renewed(uint32_t peer) {
    endpoint_.targets.each([&](Target &target) { target.renewed(peer); });
}

// Only eager messages count as lost, since their sends were complete. Envelopes of other kinds belong to
// operations that are still open here or at the peer and fail there, or carry no data of the program.
void Dispatch::undelivered(uint32_t peer, const Envelope &envelope) {
    if (envelope.kind == EnvelopeKind::eager) endpoint_.losses.add(peer, envelope.length);
}

void Dispatch::lost(uint32_t peer, Error reason) {
    std::string why = reason.take().sentence;
    log(LogLevel::info, "p2p", "peer %u is lost: %s", peer, why.c_str());
    endpoint_.losses.lose(peer, std::move(why));
    endpoint_.channels.close(endpoint_.peers[peer]);
    std::set<Handler *> told;
    for (Handler *handler : handlers_)
        if (handler && told.insert(handler).second) handler->lost(peer);
    endpoint_.targets.each([&](Target &target) { target.lost(peer); });
}

}  // namespace lanyard
