// See self_path.h.
#include "path/self/self_path.h"

#include "base/copy.h"

namespace lanyard {

Sent SelfPath::send(uint32_t, const Envelope &envelope, Payload payload) {
    Frame &frame = frames_.emplace_back(Frame{false, envelope, {}, std::vector<std::byte>(payload.size)});
    payload.copy(frame.payload.data(), frame.payload.size());
    return Sent::done;
}

Sent SelfPath::send_bulk(uint32_t, const BulkHeader &header, Payload payload, uint64_t) {
    Frame &frame = frames_.emplace_back(Frame{true, {}, header, std::vector<std::byte>(payload.size)});
    payload.copy(frame.payload.data(), frame.payload.size());
    return Sent::done;
}

Error SelfPath::get(uint32_t, const iovec *local, int runs, uint64_t remote_address, size_t) {
    auto *from = reinterpret_cast<const std::byte *>(remote_address);
    for (int i = 0; i < runs; ++i) {
        copy_bytes(local[i].iov_base, from, local[i].iov_len);
        from += local[i].iov_len;
    }
    return {};
}

int SelfPath::poll(Sink &sink, int budget, uint64_t) {
    int frames = 0;
    for (; frames < budget && !frames_.empty(); ++frames) {
        Frame frame = std::move(frames_.front());
        frames_.pop_front();
        if (frame.bulk) sink.bulk(own_peer_, frame.header, frame.payload.data(), frame.payload.size());
        else sink.envelope(own_peer_, frame.envelope, frame.payload.data(), frame.payload.size());
    }
    return frames;
}

}  // namespace lanyard
