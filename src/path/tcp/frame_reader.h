// A FrameReader extracts frames from the bytes of one connection, which arrive in portions of any size. It
// collects the head of a frame. Payload that lies completely in the buffer is used in the buffer. Payload
// that arrives in parts is assembled (path/assembly.h): what is missing is read straight to the place where
// the payload is assembled.
// Rule: a frame is reported as complete exactly once: when its last byte has arrived and its checksums are
// right.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/connection_test.cc, tests/fuzz/frames.cc.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "path/assembly.h"
#include "path/tcp/frame_form.h"

namespace lanyard {

class Connection;

// Holds what was read from one connection and has not been processed yet. One buffer serves all connections
// of a process, because the buffer is filled again only when it is empty.
class ReadBuffer {
public:
    static constexpr size_t room = 64 * KiB;

    // The connection to which the unprocessed bytes belong; nullptr: there are none.
    Connection *owner() const { return owner_; }
    std::byte *begin() {
        if (!bytes_) bytes_ = std::make_unique_for_overwrite<std::byte[]>(room);
        return bytes_.get();
    }
    void filled(Connection &owner, size_t bytes) {
        owner_ = &owner;
        begin_ = 0;
        end_ = bytes;
    }
    const std::byte *at() const { return bytes_.get() + begin_; }
    size_t left() const { return end_ - begin_; }
    void take(size_t bytes) { begin_ += bytes; }
    void drop() { owner_ = nullptr; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    size_t begin_ = 0, end_ = 0;
    Connection *owner_ = nullptr;
};

class FrameReader {
public:
    enum class Fault { unknown_form, damaged };

    // Has a part of a frame arrived?
    bool in_frame() const { return head_received_ > 0 || in_payload(); }
    bool in_payload() const { return payload_.is_open(); }
    size_t missing() const { return payload_.missing(); }
    // If a payload arrives in parts, begun_ns() is the time at which its first part was processed, and
    // received_since_begun() is the number of its bytes that have arrived since then.
    size_t received_since_begun() const {
        return payload_.received() - std::min(payload_.received(), at_once_);
    }
    uint64_t begun_ns() const { return begun_ns_; }

    // States where to read next: first to the missing part of a payload, then to the buffer. Returns the
    // number of parts; `bytes` is their total length.
    int room(ReadBuffer &buffer, iovec (&parts)[2], size_t &bytes) {
        int count = 0;
        size_t missing = this->missing(),
               behind = missing || was_long_ ? bytes_behind_payload : ReadBuffer::room;
        if (missing) parts[count++] = {payload_.next(), missing};
        parts[count++] = {buffer.begin(), behind};
        bytes = missing + behind;
        return count;
    }
    // Called when `bytes` bytes were read to the places that room() returned, for the connection `owner`.
    // Returns the number of frames completed, including one that is refused or whose payload is damaged.
    // Calls:
    //   user.complete(head, payload)      the whole frame is here during the call; returns false to refuse it
    //   user.begin(head, payload, received, assembly)
    //                                     the first `received` bytes of the payload are here, and more
    //                                     follow: begins the assembly; returns false to refuse the frame. Of
    //                                     an envelope with checksums, only verified bytes count, perhaps none
    //   user.fault(fault)                 what arrived is no frame, or a damaged one
    //   user.has_enough(frames)           shall the rest be left in the buffer, after so many frames?
    // After a refused frame or a fault, read() processes nothing more; the connection must be closed.
    template <class User>
    int read(const FrameForm &form, ReadBuffer &buffer, Connection &owner, size_t bytes, uint64_t now_ns,
             User &&user) {
        size_t missing = this->missing(), direct = std::min(bytes, missing);
        payload_.arrived(direct);
        buffer.filled(owner, bytes - direct);
        int frames = direct && direct == missing ? complete(form, buffer, payload_.payload(), user) : 0;
        return buffer.owner() ? take_apart(form, buffer, now_ns, user, frames) : frames;
    }
    // Processes what was left in the buffer, with the same calls of `user`. The buffer must belong to this
    // connection. Returns the number of frames completed, `frames` of them before the call.
    template <class User>
    int take_apart(const FrameForm &form, ReadBuffer &buffer, uint64_t now_ns, User &&user, int frames = 0);

    // Called when the connection has ended. Drops a frame that has arrived in part.
    void clear() {
        payload_.drop();
        head_received_ = 0;
    }

private:
    // How many bytes to read into the buffer if a payload arrives in parts or the latest one did. The number
    // is small, because the next payload will probably arrive in parts too. Those of its bytes that are read
    // into the buffer must be copied to the payload's place.
    static constexpr size_t bytes_behind_payload = 4096;

    template <class User>
    int fault(ReadBuffer &buffer, Fault what, User &user) {
        buffer.drop();
        user.fault(what);
        return 1;
    }
    template <class User>
    int complete(const FrameForm &form, ReadBuffer &buffer, const std::byte *payload, User &user) {
        std::unique_ptr<std::byte[]> room = payload_.end();  // keeps the memory in which the payload may lie
        head_received_ = 0;
        if (form.is_checked() &&
            !form.is_payload_sum(head_, form.sum(payload + summed_, head_.header.size - summed_, sum_)))
            return fault(buffer, Fault::damaged, user);
        if (!user.complete(head_, payload)) buffer.drop();
        return 1;
    }
    // Begins a payload that arrives in parts.
    template <class User>
    void begin_payload(const FrameForm &form, ReadBuffer &buffer, uint64_t now_ns, User &user) {
        size_t at_once = buffer.left();
        ssize_t believed = static_cast<ssize_t>(at_once);
        if (form.is_checked() && head_.header.kind == FrameKind::envelope)
            believed = form.believed(head_, buffer.at(), at_once);
        if (believed < 0) {
            fault(buffer, Fault::damaged, user);
            return;
        }
        if (!user.begin(head_, buffer.at(), static_cast<size_t>(believed), payload_)) return buffer.drop();
        summed_ = payload_.received();
        if (form.is_checked()) sum_ = form.sum(buffer.at(), summed_);
        was_long_ = true;
        at_once_ = at_once;
        begun_ns_ = now_ns;
        buffer.take(summed_);
    }

    FrameHead head_;
    size_t head_received_ = 0;
    bool was_long_ = false;  // the latest payload arrived in parts, so the next may too
    Assembly payload_;       // open: the head is complete, and the payload arrives in parts
    size_t at_once_ = 0;     // bytes of the payload that arrived together with the head
    uint64_t begun_ns_ = 0;  // when the bytes counted in at_once_ were processed
    uint32_t sum_ = 0;       // checksum of the first `summed_` bytes, which the sink has taken (assembly.h)
    size_t summed_ = 0;
};

template <class User>
int FrameReader::take_apart(const FrameForm &form, ReadBuffer &buffer, uint64_t now_ns, User &&user,
                            int frames) {
    const Connection *owner = buffer.owner();
    while (buffer.owner() == owner && buffer.left() > 0) {
        if (user.has_enough(frames)) return frames;
        size_t left = buffer.left();
        if (in_payload()) {
            size_t part = std::min(left, missing());
            payload_.add(buffer.at(), part);
            buffer.take(part);
            if (missing() == 0) frames += complete(form, buffer, payload_.payload(), user);
            continue;
        }
        size_t head_bytes = sizeof(FrameHeader);
        bool knows_kind = head_received_ >= head_bytes;
        // Usually the header arrives as a whole. The kind is then known, and the whole head is taken at once.
        if (head_received_ == 0 && left >= head_bytes) {
            std::memcpy(head_.bytes, buffer.at(), head_bytes);
            knows_kind = true;
        }
        if (knows_kind) head_bytes = form.head_bytes(head_.header.kind);
        size_t part = std::min(left, head_bytes - head_received_);
        std::memcpy(head_.bytes + head_received_, buffer.at(), part);
        head_received_ += part;
        buffer.take(part);
        if (head_received_ < sizeof(FrameHeader)) continue;
        const FrameHeader &header = head_.header;
        if (!form.is_sensible(header)) {
            fault(buffer, form.is_checked() ? Fault::damaged : Fault::unknown_form, user);
            break;
        }
        if (head_received_ < form.head_bytes(header.kind)) continue;
        if (form.is_checked() && !form.is_right(head_)) {
            fault(buffer, Fault::damaged, user);
            break;
        }
        sum_ = 0;
        summed_ = 0;
        if (buffer.left() >= header.size) {
            const std::byte *payload = buffer.at();
            buffer.take(header.size);
            if (header.size) was_long_ = false;
            frames += complete(form, buffer, payload, user);
        } else {
            begin_payload(form, buffer, now_ns, user);
        }
    }
    if (buffer.owner() == owner) buffer.drop();
    return frames;
}

}  // namespace lanyard
