// See waiting.h.
#include "runtime/waiting.h"

#include <algorithm>
#include <cstring>

#include "base/abi_constants.h"
#include "base/clock.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

void copy_text(char *to, size_t room, const char *text) {
    size_t length = std::min(std::strlen(text), room - 1);
    std::memcpy(to, text, length);
    to[length] = 0;
}

// The main reason for a wait for several operations: a receive, if one of the described operations is a
// receive; otherwise the first operation.
tool::WaitFor most_of(const WaitParts &parts) {
    if (parts.requests == 0) return tool::WaitFor::receiver;
    WaitPart::Kind kind = parts.part[0].kind;
    for (uint32_t i = 1; i < std::min(parts.requests, most_wait_parts); ++i)
        if (parts.part[i].kind == WaitPart::receive) kind = WaitPart::receive;
    return kind == WaitPart::receive ? tool::WaitFor::message
           : kind == WaitPart::send  ? tool::WaitFor::receiver
                                     : tool::WaitFor::ranks;
}

}  // namespace

Waiting::Waiting(const char *call, tool::WaitFor what, const Comm *comm, int peer, int tag, uint64_t sequence)
    : call_(call), comm_(comm), peer_(peer), tag_(tag), sequence_(sequence), others_(runtime()->waits),
      what_(what) {
    show();
}

Waiting::Waiting(const char *call, const Comm *comm, const WaitParts &parts)
    : call_(call), comm_(comm), peer_(abi::undefined), tag_(abi::undefined), sequence_(0), parts_(&parts),
      others_(runtime()->waits), what_(most_of(parts)) {
    show();
}

void Waiting::count() const {
    if (!runtime()->profile) return;  // MPI_Finalize has ended it, and a session goes on
    uint64_t moved = runtime()->profile->moved_ns() - moved_ns_;
    runtime()->profile->count_wait(what_, clock_ns() - began_ns_, moved);
}

void Waiting::show() {
    if (others_) others_->since_ns_ = runtime()->record->since_ns;
    runtime()->waits = this;
    if (runtime()->profile) {
        began_ns_ = clock_ns();
        moved_ns_ = runtime()->profile->moved_ns();
    }
    publish();
}

Waiting::~Waiting() {
    Waiting *&shown = runtime()->waits;
    if (began_ns_) count();
    if (shown == this) {
        shown = others_;
        if (others_) others_->publish();
        else runtime()->record->waiting.store(0, std::memory_order_release);
        return;
    }
    Waiting *newer = shown;  // a wait of another thread
    while (newer->others_ != this) newer = newer->others_;
    newer->others_ = others_;
}

void Waiting::publish() const {
    WaitRecord &record = *runtime()->record;
    copy_text(record.call, sizeof record.call, call_);
    record.communicator[0] = 0;
    if (comm_)
        comm_->name.look([&](const std::string &name) {
            copy_text(record.communicator, sizeof record.communicator, name.c_str());
        });
    record.peer = peer_;
    record.tag = tag_;
    record.context = comm_ ? comm_->context : 0;
    record.sequence = sequence_;
    if (parts_) record.parts = *parts_;
    else record.parts.requests = 0;
    record.since_ns = since_ns_;
    const MessageCounts &counts = runtime()->messenger->counts();
    record.sent.store(counts.sent, std::memory_order_relaxed);
    record.matched.store(counts.matched, std::memory_order_relaxed);
    record.waiting.store(1, std::memory_order_release);
}

}  // namespace lanyard
