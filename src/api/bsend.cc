#include "api/bsend.h"

#include <algorithm>
#include <list>
#include <memory>
#include <new>
#include <string>

#include "api/generated/core.h"
#include "api/request.h"
#include "api/runtime.h"
#include "datatype/cursor.h"
#include "datatype/predefined.h"

namespace lanyard {

namespace {

// One message in the attached buffer.
struct Buffered {
    std::byte *at;
    size_t bytes;
    std::unique_ptr<std::byte[]> own;  // where the library finds the room
    Transfer transfer;
};

struct AttachedBuffer {
    std::byte *base = nullptr;  // aligned, within what the program attached
    int64_t size = 0;
    void *given = nullptr;  // as the program attached it
    int64_t given_size = 0;
    bool automatic = false;  // MPI_BUFFER_AUTOMATIC: the library finds the room
    std::list<Buffered> messages;  // by address
};

AttachedBuffer attached;  // guarded by the engine

constexpr size_t alignment = 16;
size_t rounded(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// The place of a gap of `bytes`: the message behind it, and its address; nullptr when there is none.
std::byte *find_gap(size_t bytes, std::list<Buffered>::iterator &behind) {
    std::byte *from = attached.base;
    for (behind = attached.messages.begin(); behind != attached.messages.end(); ++behind) {
        if (static_cast<size_t>(behind->at - from) >= bytes) return from;
        from = behind->at + behind->bytes;
    }
    return static_cast<size_t>(attached.base + attached.size - from) >= bytes ? from : nullptr;
}

void message_left(Completion &completion) {
    auto *left = static_cast<Buffered *>(completion.context);
    left->transfer.error.discard();
    attached.messages.remove_if([&](const Buffered &message) { return &message == left; });
}

Error no_room(size_t bytes) {
    return Error(ErrorClass::buffer, "the attached buffer of " + std::to_string(attached.size) + " bytes has no room for " + std::to_string(bytes) +
                                         " more: " + std::to_string(attached.messages.size()) + " earlier messages are still in it");
}

bool nothing_buffered(const void *) { return attached.messages.empty(); }

void flush_attached(const char *call) {
    Engine &engine = *runtime()->engine;
    EngineGuard guard(engine);
    if (attached.messages.empty()) return;
    Waiting waiting(call, nullptr, abi::undefined, abi::any_tag);
    engine.wait_owned(Condition{nothing_buffered, nullptr});
}

}  // namespace

Datatype &packed_datatype() { return *predefined_datatype(abi::type_packed); }

Error send_buffered(Messenger &messenger, uint32_t peer, const MatchKey &key, const Buffer &buffer) {
    auto bytes = static_cast<size_t>(buffer.bytes());
    if (!attached.base && !attached.automatic)
        return Error(ErrorClass::buffer, "no buffer is attached: call MPI_Buffer_attach before buffered sends");
    auto behind = attached.messages.end();
    size_t needed = rounded(std::max<size_t>(bytes, 1));
    std::byte *at = nullptr;
    if (!attached.automatic) {
        at = find_gap(needed, behind);
        if (!at) messenger.engine().step();  // what has left meanwhile makes room
        if (!at && !(at = find_gap(needed, behind))) return no_room(bytes);
    }
    if (messenger.send_now(peer, key, buffer)) return {};
    std::unique_ptr<std::byte[]> own(attached.automatic ? new (std::nothrow) std::byte[needed] : nullptr);
    if (attached.automatic && !(at = own.get()))
        return Error(ErrorClass::no_mem, "there is no memory left to buffer " + std::to_string(bytes) + " bytes");
    Buffered &message = *attached.messages.emplace(behind);
    message.at = at;
    message.bytes = needed;
    message.own = std::move(own);
    Cursor(buffer).pack(at, bytes);
    Transfer &transfer = message.transfer;
    static_cast<MatchKey &>(transfer) = key;
    transfer.peer = peer;
    transfer.buffer = {at, static_cast<int64_t>(bytes), &packed_datatype()};
    transfer.completion.then = message_left;
    transfer.completion.context = &message;
    messenger.send(transfer);
    return {};
}

extern "C" {

Error lanyard_buffer_attach(void *buffer, int64_t size) {
    EngineGuard guard(*runtime()->engine);
    if (attached.base)
        return Error(ErrorClass::buffer, "a buffer of " + std::to_string(attached.size) + " bytes is attached already; detach it first");
    attached.automatic = reinterpret_cast<uintptr_t>(buffer) == abi::buffer_automatic;
    if (attached.automatic) {
        attached.given = buffer;  // the size is ignored
        return {};
    }
    if (size < 0) return Error(ErrorClass::buffer, "the size " + std::to_string(size) + " of the buffer is negative");
    auto address = reinterpret_cast<uintptr_t>(buffer);
    size_t skipped = rounded(address) - address;
    attached.base = static_cast<std::byte *>(buffer) + skipped;
    attached.size = std::max<int64_t>(size - static_cast<int64_t>(skipped), 0);
    attached.given = buffer;
    attached.given_size = size;
    return {};
}

Error lanyard_buffer_detach(void **buffer_addr, int64_t *size) {
    flush_attached("MPI_Buffer_detach");
    EngineGuard guard(*runtime()->engine);
    *buffer_addr = attached.given;
    *size = attached.given_size;
    attached.base = nullptr;
    attached.automatic = false;
    attached.given = nullptr;
    attached.size = attached.given_size = 0;
    return {};
}

Error lanyard_buffer_flush() {
    flush_attached("MPI_Buffer_flush");
    return {};
}

}  // extern "C"

}  // namespace lanyard
