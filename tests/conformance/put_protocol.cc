// Implements the two sides of a put: the Put at the origin and the Landing at the target. See put_protocol.h.
#include "conformance/put_protocol.h"

#include <algorithm>
#include <cstring>

#include "base/abi_constants.h"
#include "datatype/predefined.h"

namespace lanyard::conformance {

PutProtocol::PutProtocol(Messenger &messenger) : messenger_(messenger) {
    messenger.dispatch().bind(kind_request, *this);
}

void PutProtocol::put(uint32_t peer, uint32_t window, uint64_t offset, const std::byte *data, size_t bytes,
                      std::function<void(bool)> done) {
    Endpoint &endpoint = messenger_.endpoint();
    Put &put = *puts_.emplace_back(std::make_unique<Put>(*this, peer, data, bytes, std::move(done)));
    Request request{window, static_cast<uint32_t>(bytes), offset};
    endpoint.reply(peer, kind_request, put.id(), 0, &request, sizeof request);
}

// Handles a request. If the place does not exist, the only answer is `done` with tag 0. Otherwise a later
// `done` has tag 1 and means that the bytes are in place.
void PutProtocol::envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    Request request;
    LANYARD_MUST(size == sizeof request);
    std::memcpy(&request, payload, sizeof request);
    bool exists = request.window < windows_.size() && request.bytes <= windows_[request.window].bytes &&
                  request.offset <= windows_[request.window].bytes - request.bytes;
    if (!exists) return messenger_.endpoint().reply(peer, kind_done, envelope.context, 0);
    std::byte *memory = windows_[request.window].memory + request.offset;
    Landing &landing = *landings_.emplace_back(
        std::make_unique<Landing>(*this, peer, envelope.context, memory, request.bytes));
    if (request.bytes == 0) landing.end_if_all();
    else landing.ask();
}

PutProtocol::Put::Put(PutProtocol &protocol, uint32_t peer, const std::byte *data, size_t bytes,
                      std::function<void(bool)> done)
    : protocol_(protocol),
      peer_(peer),
      data_{const_cast<std::byte *>(data), static_cast<int64_t>(bytes), predefined_datatype(abi::type_byte)},
      done_(std::move(done)),
      push_(protocol.messenger_.endpoint()) {
    protocol.messenger_.endpoint().targets.add(*this);
}

void PutProtocol::Put::answer(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t) {
    if (peer != peer_) return;
    if (envelope.kind == kind_done) return end(envelope.tag == 1);
    Go go;
    std::memcpy(&go, payload, sizeof go);
    push_.begin(peer, go.id, data_, go.from, static_cast<uint64_t>(data_.bytes()), true, id(), *this);
}

void PutProtocol::Put::end(bool in_place) {
    protocol_.messenger_.endpoint().targets.remove(*this);
    std::function<void(bool)> done = std::move(done_);
    std::erase_if(protocol_.puts_, [this](const auto &each) { return each.get() == this; });
    done(in_place);
}

PutProtocol::Landing::Landing(PutProtocol &protocol, uint32_t peer, uint64_t put, std::byte *memory,
                              size_t bytes)
    : protocol_(protocol), peer_(peer), put_(put), memory_(memory), bytes_(bytes) {
    protocol.messenger_.endpoint().targets.add(*this);
}

void PutProtocol::Landing::ask() {
    Go go{id(), arrived_.end()};
    protocol_.messenger_.endpoint().reply(peer_, kind_go, put_, 0, &go, sizeof go);
}

std::byte *PutProtocol::Landing::place(uint32_t peer, uint64_t offset, size_t size) {
    bool is_new = takes(peer, offset, size) && !arrived_.has_some(offset, offset + size);
    return is_new ? memory_ + offset : nullptr;
}

void PutProtocol::Landing::bulk(uint32_t peer, uint64_t offset, const std::byte *payload, size_t size) {
    if (!takes(peer, offset, size)) return;
    ++protocol_.frames_;
    if (payload != memory_ + offset) std::memcpy(memory_ + offset, payload, size);
    arrived_.add(offset, offset + size);
    end_if_all();
}

void PutProtocol::Landing::end_if_all() {
    if (arrived_.end() < bytes_) return;
    protocol_.messenger_.endpoint().reply(peer_, kind_done, put_, 1);
    end();
}

void PutProtocol::Landing::end() {
    protocol_.messenger_.endpoint().targets.remove(*this);
    std::erase_if(protocol_.landings_, [this](const auto &each) { return each.get() == this; });
}

}  // namespace lanyard::conformance
