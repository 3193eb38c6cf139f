// An Assembly collects the payload of one envelope or bulk frame that arrives in parts. The parts are written
// to the place that the sink names or, if the sink names none, to memory of the assembly. When the payload is
// complete, the path delivers it as a whole.
//
// - Call begin(). Then call add(), or next() and arrived(), until missing() is 0. Then call deliver() or
//   end(). If the rest will not arrive, call drop().
// - The sink may have read the first bytes of an envelope's payload in Sink::begin() and need only the bytes
//   after them. These first bytes count as received, and nothing is written to their place.
// - A path that checks frames (rule 7 of tcp/tcp_path.h) passes to begin() only bytes that it has verified,
//   perhaps none.
// - While no payload is being assembled, an assembly takes only four machine words of memory.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/copy.h"
#include "base/error.h"
#include "path/sink.h"

namespace lanyard {

class Assembly {
public:
    // Begins an envelope with `size` bytes of payload, of which the first `received` are at `payload`.
    // Returns how many of the received bytes the sink has taken already. The caller then adds the remaining
    // received bytes.
    size_t begin(Sink &sink, uint32_t peer, const Envelope &envelope, const std::byte *payload,
                 size_t received, size_t size) {
        size_t from = 0;
        std::byte *place = sink.begin(peer, envelope, payload, received, size, from);
        if (!place) from = 0;
        LANYARD_MUST(from <= received);
        open_at(place, size);
        received_ = from;
        return from;
    }
    // Begins a bulk frame with `size` bytes of payload.
    void begin(Sink &sink, uint32_t peer, const BulkHeader &header, size_t size) {
        open_at(sink.place(peer, header, size), size);
    }

    bool is_open() const { return place_ != nullptr; }
    size_t received() const { return received_; }
    size_t missing() const { return size_ - received_; }
    void add(const std::byte *part, size_t bytes) {
        LANYARD_MUST(bytes <= missing());
        copy_bytes(next(), part, bytes);
        received_ += bytes;
    }
    // The address for the next bytes. A caller may read them from a socket straight to this address; it then
    // calls arrived().
    std::byte *next() { return place_ + received_; }
    void arrived(size_t bytes) { received_ += bytes; }

    // payload() returns the address of the payload until end() is called. end() closes the assembly. If the
    // payload lies in memory of the assembly, end() passes this memory to the caller, and the payload stays
    // there as long as the caller keeps it.
    const std::byte *payload() const { return place_; }
    std::unique_ptr<std::byte[]> end() {
        place_ = nullptr;
        size_ = received_ = 0;
        return std::move(own_);
    }
    void drop() { end(); }
    // Delivers an envelope of which nothing is missing. During the call the sink may send, and the path may
    // begin another assembly here.
    void deliver(Sink &sink, uint32_t peer, const Envelope &envelope) {
        const std::byte *payload = place_;
        size_t size = size_;
        std::unique_ptr<std::byte[]> room = end();
        sink.envelope(peer, envelope, payload, size);
    }

private:
    void open_at(std::byte *place, size_t size) {
        if (!place) {
            own_ = std::make_unique_for_overwrite<std::byte[]>(size);
            place = own_.get();
        }
        place_ = place;
        size_ = size;
        received_ = 0;
    }

    std::byte *place_ = nullptr;
    size_t size_ = 0, received_ = 0;
    std::unique_ptr<std::byte[]> own_;
};

}  // namespace lanyard
