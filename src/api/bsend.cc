// See bsend.h.
#include "api/bsend.h"

#include <algorithm>
#include <list>
#include <memory>
#include <string>

#include "api/generated/core.h"
#include "api/request.h"
#include "base/no_memory.h"
#include "comm/universe.h"
#include "datatype/cursor.h"
#include "datatype/predefined.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

// Manages the memory that the program has attached to a communicator, a session or the process, and the
// messages in that memory. Only the engine's owner may use it.
class SendBuffer {
public:
    Error attach(void *buffer, int64_t size);
    void detach(void **buffer, int64_t *size);  // call this only when the buffer is empty
    bool attached() const { return base_ || automatic_; }
    bool empty() const { return messages_.empty(); }
    uint64_t oldest() const;  // number of the oldest message in the buffer, or next_number() if it is empty
    uint64_t next_number() const { return next_number_; }  // the number of the next message
    Error send(Messenger &messenger, uint32_t peer, const MatchKey &key, const Buffer &buffer);
    // `request` (of kind `other`) completes once all messages that are in the buffer now are sent.
    void tell_when_sent(Request &request);

private:
    struct Message {
        SendBuffer *buffer;
        uint64_t number;  // in the order of sending
        std::byte *at;
        size_t bytes;
        FallibleArray<std::byte> own;  // for MPI_BUFFER_AUTOMATIC: the memory of this message
        SendOperation send;
    };
    struct Flush {
        uint64_t before;  // the request completes when all messages with smaller numbers are sent
        Request *request;
    };

    std::byte *find_gap(size_t bytes, std::list<Message>::iterator &behind);
    Error no_room(size_t bytes) const;
    static void message_left(Completion &completion);
    void end_flushes();

    std::byte *base_ = nullptr;  // the aligned beginning of the attached memory
    int64_t size_ = 0;
    void *given_ = nullptr;  // the address that the program passed
    int64_t given_size_ = 0;
    bool automatic_ = false;       // MPI_BUFFER_AUTOMATIC: the library allocates memory for each message
    std::list<Message> messages_;  // ordered by address, unless automatic_
    std::list<Flush> flushes_;
    uint64_t next_number_ = 0;
};

namespace {

constexpr size_t alignment = 16;
size_t rounded(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

SendBuffer &process_buffer() {
    // never destroyed, because destructors of static objects may still use it
    static SendBuffer *buffer = new SendBuffer;
    return *buffer;
}

// The communicator's buffer, created at first use.
SendBuffer &buffer_of(Comm &comm) {
    if (!comm.send_buffer) comm.send_buffer = std::make_shared<SendBuffer>();
    return *comm.send_buffer;
}

// The nearest buffer that is attached: the communicator's, that of its session, or the process's. If none is
// attached, the process's.
SendBuffer &buffer_for(const Comm &comm) {
    if (comm.send_buffer && comm.send_buffer->attached()) return *comm.send_buffer;
    const SessionTraits *session = comm.group->session.get();
    return session && session->send_buffer->attached() ? *session->send_buffer : process_buffer();
}

// Waits until the messages that are in the buffer now are sent. Messages that other threads add meanwhile are
// not waited for. The caller owns the engine.
void flush(const SendBuffer &buffer, const char *call, const Comm *comm) {
    struct Awaited {
        const SendBuffer &buffer;
        uint64_t before;
    } awaited{buffer, buffer.next_number()};
    auto sent = [](const void *subject) {
        auto &all = *static_cast<const Awaited *>(subject);
        return all.buffer.oldest() >= all.before;
    };
    if (sent(&awaited)) return;
    Waiting waiting(call, tool::WaitFor::receiver, comm, abi::undefined, abi::any_tag);
    runtime()->engine->wait_owned(Condition{sent, &awaited});
}

// Waits until the buffer is empty, including messages that other threads add meanwhile, and
// detaches it.
void detach(SendBuffer &buffer, const char *call, const Comm *comm, void **address, int64_t *size) {
    EngineGuard guard(*runtime()->engine);
    while (!buffer.empty()) flush(buffer, call, comm);
    buffer.detach(address, size);
}

Request *start_flush(SendBuffer &buffer, Comm *comm) {
    Request *request = new_request(comm);
    request->other.name = "the flush of a buffer";
    EngineGuard guard(*runtime()->engine);
    buffer.tell_when_sent(*request);
    return request;
}

}  // namespace

// Returns the address of a gap of `bytes`, or nullptr if there is none. `behind` becomes the message after
// the gap.
std::byte *SendBuffer::find_gap(size_t bytes, std::list<Message>::iterator &behind) {
    std::byte *from = base_;
    for (behind = messages_.begin(); behind != messages_.end(); ++behind) {
        if (static_cast<size_t>(behind->at - from) >= bytes) return from;
        from = behind->at + behind->bytes;
    }
    return static_cast<size_t>(base_ + size_ - from) >= bytes ? from : nullptr;
}

void SendBuffer::message_left(Completion &completion) {
    auto *left = static_cast<Message *>(completion.context);
    SendBuffer &buffer = *left->buffer;
    if (left->send.error) runtime()->messenger->unasked(left->send, true);
    buffer.messages_.remove_if([&](const Message &message) { return &message == left; });
    buffer.end_flushes();
}

uint64_t SendBuffer::oldest() const {
    uint64_t oldest = next_number_;
    for (const Message &message : messages_) oldest = std::min(oldest, message.number);
    return oldest;
}

void SendBuffer::end_flushes() {
    if (flushes_.empty()) return;
    uint64_t first = oldest();
    while (!flushes_.empty() && flushes_.front().before <= first) {
        Request *request = flushes_.front().request;
        flushes_.pop_front();
        request->completion().finish();
        release_request(request);
    }
}

void SendBuffer::tell_when_sent(Request &request) {
    request.hold();
    flushes_.push_back({next_number_, &request});
    end_flushes();
}

Error SendBuffer::no_room(size_t bytes) const {
    return Error(ErrorClass::buffer, "the attached buffer of " + std::to_string(size_) +
                                         " bytes has no room for " + std::to_string(bytes) +
                                         " more: " + std::to_string(messages_.size()) +
                                         " earlier messages are still in it");
}

Error SendBuffer::send(Messenger &messenger, uint32_t peer, const MatchKey &key, const Buffer &buffer) {
    auto bytes = static_cast<size_t>(buffer.bytes());
    auto behind = messages_.end();
    size_t needed = rounded(std::max<size_t>(bytes, 1));
    std::byte *at = nullptr;
    if (!automatic_) {
        at = find_gap(needed, behind);
        if (!at) messenger.engine().make_turn();  // progress may complete sends and so free space
        if (!at && !(at = find_gap(needed, behind))) return no_room(bytes);
    }
    if (messenger.send_now(peer, key, buffer)) return {};
    FallibleArray<std::byte> own;
    if (automatic_) own = array_or_null<std::byte>(needed);
    if (automatic_ && !(at = own.get()))
        return Error(ErrorClass::no_mem,
                     "there is no memory left to buffer " + std::to_string(bytes) + " bytes");
    Message &message = *messages_.emplace(behind);
    message.buffer = this;
    message.number = next_number_++;
    message.at = at;
    message.bytes = needed;
    message.own = std::move(own);
    Cursor(buffer).pack(at, bytes);
    SendOperation &send = message.send;
    static_cast<MatchKey &>(send) = key;
    send.peer = peer;
    send.buffer = {at, static_cast<int64_t>(bytes), &packed_datatype()};
    send.completion.then = message_left;
    send.completion.context = &message;
    messenger.send(send);
    return {};
}

Error SendBuffer::attach(void *buffer, int64_t size) {
    if (attached())
        return Error(ErrorClass::buffer, automatic_
                                             ? "MPI_BUFFER_AUTOMATIC is attached already; detach it first"
                                             : "a buffer of " + std::to_string(given_size_) +
                                                   " bytes is attached already; detach it first");
    bool automatic = reinterpret_cast<uintptr_t>(buffer) == abi::buffer_automatic;
    if (!automatic && size < 0)
        return Error(ErrorClass::buffer, "the size " + std::to_string(size) + " of the buffer is negative");
    given_ = buffer;
    automatic_ = automatic;
    if (automatic) return {};  // the size is ignored
    auto address = reinterpret_cast<uintptr_t>(buffer);
    size_t skipped = rounded(address) - address;
    base_ = static_cast<std::byte *>(buffer) + skipped;
    size_ = std::max<int64_t>(size - static_cast<int64_t>(skipped), 0);
    given_size_ = size;
    return {};
}

void SendBuffer::detach(void **buffer, int64_t *size) {
    *buffer = given_;
    *size = given_size_;
    base_ = nullptr;
    given_ = nullptr;
    automatic_ = false;
    size_ = given_size_ = 0;
}

Datatype &packed_datatype() { return *predefined_datatype(abi::type_packed); }

Error send_buffered(Comm &comm, uint32_t peer, const MatchKey &key, const Buffer &buffer) {
    SendBuffer &used = buffer_for(comm);
    if (!used.attached())
        return Error(
            ErrorClass::buffer,
            "no buffer is attached: call MPI_Buffer_attach or MPI_Comm_attach_buffer before buffered sends");
    return used.send(comm.universe->messenger, peer, key, buffer);
}

std::shared_ptr<SendBuffer> make_send_buffer() { return std::make_shared<SendBuffer>(); }

void flush_buffer_of(Session &session, const char *call) {
    EngineGuard guard(*runtime()->engine);
    flush(*session.traits->send_buffer, call, nullptr);
}

void flush_buffer_of(Comm &comm, const char *call) {
    EngineGuard guard(*runtime()->engine);
    if (comm.send_buffer) flush(*comm.send_buffer, call, &comm);
}

extern "C" {

Error lanyard_buffer_attach(void *buffer, int64_t size) {
    EngineGuard guard(*runtime()->engine);
    return process_buffer().attach(buffer, size);
}

Error lanyard_buffer_detach(void **buffer_addr, int64_t *size) {
    detach(process_buffer(), "MPI_Buffer_detach", nullptr, buffer_addr, size);
    return {};
}

Error lanyard_buffer_flush() {
    EngineGuard guard(*runtime()->engine);
    flush(process_buffer(), "MPI_Buffer_flush", nullptr);
    return {};
}

Error lanyard_buffer_iflush(Request **request) {
    *request = start_flush(process_buffer(), nullptr);
    return {};
}

Error lanyard_comm_attach_buffer(Comm &comm, void *buffer, int64_t size) {
    EngineGuard guard(*runtime()->engine);
    return buffer_of(comm).attach(buffer, size);
}

Error lanyard_comm_detach_buffer(Comm &comm, void **buffer_addr, int64_t *size) {
    SendBuffer *buffer = nullptr;
    {
        EngineGuard guard(*runtime()->engine);
        buffer = &buffer_of(comm);
    }
    detach(*buffer, "MPI_Comm_detach_buffer", &comm, buffer_addr, size);
    return {};
}

Error lanyard_comm_flush_buffer(Comm &comm) {
    flush_buffer_of(comm, "MPI_Comm_flush_buffer");
    return {};
}

Error lanyard_comm_iflush_buffer(Comm &comm, Request **request) {
    SendBuffer *buffer = nullptr;
    {
        EngineGuard guard(*runtime()->engine);
        buffer = &buffer_of(comm);
    }
    *request = start_flush(*buffer, &comm);
    return {};
}

Error lanyard_session_attach_buffer(Session &session, void *buffer, int64_t size) {
    EngineGuard guard(*runtime()->engine);
    return session.traits->send_buffer->attach(buffer, size);
}

Error lanyard_session_detach_buffer(Session &session, void **buffer_addr, int64_t *size) {
    detach(*session.traits->send_buffer, "MPI_Session_detach_buffer", nullptr, buffer_addr, size);
    return {};
}

Error lanyard_session_flush_buffer(Session &session) {
    flush_buffer_of(session, "MPI_Session_flush_buffer");
    return {};
}

Error lanyard_session_iflush_buffer(Session &session, Request **request) {
    *request = start_flush(*session.traits->send_buffer, nullptr);
    return {};
}

}  // extern "C"

}  // namespace lanyard
