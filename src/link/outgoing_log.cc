#include "link/outgoing_log.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lanyard {

namespace {
constexpr size_t usual_block = 4096;
constexpr size_t most_spare = 64;
}  // namespace

FrameHeader OutgoingLog::header_at(const Block &block, size_t offset) {
    FrameHeader header;  // frames lie at any address
    std::memcpy(&header, block.bytes.get() + offset, sizeof header);
    return header;
}

std::byte *OutgoingLog::append(size_t bytes) {
    if (blocks_.empty() || blocks_.back().size - blocks_.back().end < bytes) {
        Block made;
        made.size = std::max(usual_block, bytes);
        if (made.size == usual_block && !spare_.list.empty()) {
            made.bytes = std::move(spare_.list.back());
            spare_.list.pop_back();
        } else {
            made.bytes = std::make_unique_for_overwrite<std::byte[]>(made.size);
        }
        blocks_.push_back(std::move(made));
    }
    Block &block = blocks_.back();
    std::byte *place = block.bytes.get() + block.end;
    block.end += bytes;
    bytes_ += bytes;
    unwritten_ += bytes;
    return place;
}

int OutgoingLog::pieces(iovec *parts, int most) const {
    int count = 0;
    for (const Block &block : blocks_) {
        if (block.written == block.end) continue;
        if (count == most) break;
        parts[count++] = {block.bytes.get() + block.written, block.end - block.written};
    }
    return count;
}

void OutgoingLog::written(size_t bytes) {
    LANYARD_MUST(bytes <= unwritten_);
    unwritten_ -= bytes;
    for (Block &block : blocks_) {
        size_t part = std::min(bytes, block.end - block.written);
        bytes -= part;
        size_t frame = block.written - begun_;  // where the frame begins that goes on here
        block.written += part;
        while (part > 0 && frame < block.written) {
            size_t whole = frame_bytes(header_at(block, frame));
            begun_ = block.written - frame;
            if (begun_ < whole) break;
            begun_ = 0;
            frame += whole;
        }
        if (bytes == 0) break;
    }
    trim();
}

void OutgoingLog::acknowledged(uint64_t sequence) {
    if (sequence <= acknowledged_) return;
    acknowledged_ = sequence;
    trim();
}

// Gives back what nobody needs any more.
void OutgoingLog::trim() {
    size_t gone = 0;
    for (Block &block : blocks_) {
        while (block.begin < block.end) {
            FrameHeader header = header_at(block, block.begin);
            size_t bytes = frame_bytes(header);
            bool is_written = block.begin + bytes <= block.written;
            // An acknowledgement has the number of the envelope after it, and is not kept once written.
            bool acknowledged = widened(header.sequence, acknowledged_) < acknowledged_;
            if (!acknowledged && !(is_written && header.kind == FrameKind::acknowledge)) break;
            block.begin += bytes;
            bytes_ -= bytes;
            if (is_written) continue;
            unwritten_ -= block.begin - block.written;
            block.written = block.begin;
        }
        if (block.begin < block.end) break;
        ++gone;
    }
    for (size_t i = 0; i < gone; ++i) give_back(blocks_[i]);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(gone));
}

void OutgoingLog::give_back(Block &block) {
    if (block.size == usual_block && spare_.list.size() < most_spare) spare_.list.push_back(std::move(block.bytes));
}

void OutgoingLog::clear() {
    for (Block &block : blocks_) give_back(block);
    blocks_.clear();
    bytes_ = unwritten_ = begun_ = 0;
}

void OutgoingLog::rewind() {
    begun_ = 0;
    for (Block &block : blocks_) block.written = block.begin;
    unwritten_ = bytes_;
}

}  // namespace lanyard
