// See bulk_writer.h.
#include "path/tcp/bulk_writer.h"

namespace lanyard {

namespace {
// While a bulk frame is half written, nothing else can be written, so a short frame delays other messages
// less. For long frames the receiver needs fewer calls, and each call copies more while the sender writes on.
// As a compromise, a frame is as long as what the connection takes in a time between these two.
constexpr uint64_t quick_frame_ns = 250'000, slow_frame_ns = 1'000'000;
}  // namespace

void BulkWriter::open(const FrameForm &form, const FrameHeader &header, const BulkHeader &bulk,
                      Payload &payload, uint64_t token, uint64_t now_ns) {
    size_t size = payload.size;
    head_.frame = {header, bulk};
    head_bytes_ = form.head_bytes(FrameKind::bulk);
    payload_.hold(payload, token);
    if (form.is_checked())
        head_.check = form.check_of(head_.frame.header, std::as_bytes(std::span(&head_.frame.bulk, 1)),
                                    {payload_.data(), size}, {});
    written_ = 0;
    begun_ns_ = now_ns;
    open_ = true;
}

int BulkWriter::pieces(iovec *parts) const {
    int count = 0;
    if (written_ < head_bytes_)
        parts[count++] = {const_cast<std::byte *>(reinterpret_cast<const std::byte *>(&head_)) + written_,
                          head_bytes_ - written_};
    size_t done = written_ > head_bytes_ ? written_ - head_bytes_ : 0, size = head_.frame.header.size;
    if (done < size) parts[count++] = {const_cast<std::byte *>(payload_.data()) + done, size - done};
    return count;
}

// Only a frame of the present maximum length shows what the connection can take.
void BulkWriter::fit_to_pace(uint64_t now_ns) {
    if (head_.frame.header.size < most_) return;
    uint64_t took_ns = now_ns - begun_ns_;
    if (took_ns < quick_frame_ns) most_ = std::min(most_ * 2, most_bulk);
    else if (took_ns > slow_frame_ns) most_ = std::max(most_ / 2, max_bulk_frame);
}

}  // namespace lanyard
