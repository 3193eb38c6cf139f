// See outgoing_log.h.
#include "path/tcp/outgoing_log.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lanyard {

namespace {
constexpr size_t usual_block = 4096;
constexpr size_t most_spare = 64;
}  // namespace

FrameHeader OutgoingLog::header_at(const Block &block, size_t offset) {
    FrameHeader header;  // a frame may lie at an unaligned address
    std::memcpy(&header, block.bytes + offset, sizeof header);
    return header;
}

OutgoingLog::Block &OutgoingLog::add_block(size_t size) {
    Block made;
    made.size = size;
    if (size > usual_block) {
        made.own = long_block(size);
    } else if (!spare_.list.empty()) {
        made.own.reset(spare_.list.back().release());
        spare_.list.pop_back();
    } else {
        made.own.reset(new std::byte[size]);
    }
    made.bytes = made.own.get();
    blocks_.push_back(std::move(made));
    return blocks_.back();
}

std::byte *OutgoingLog::append(size_t bytes) {
    bool room = !blocks_.empty() && blocks_.back().own && blocks_.back().size - blocks_.back().end >= bytes;
    Block &block = room ? blocks_.back() : add_block(std::max(usual_block, bytes));
    std::byte *place = block.own.get() + block.end;
    block.end += bytes;
    bytes_ += bytes;
    unwritten_ += bytes;
    return place;
}

std::byte *OutgoingLog::append_kept(size_t bytes, const std::byte *kept, size_t kept_size, uint64_t token,
                                    uint64_t name) {
    std::byte *place = append(bytes - kept_size);
    Block made;
    made.bytes = kept;
    made.continues = true;
    made.token = token;
    made.name = name;
    made.size = made.end = kept_size;
    blocks_.push_back(std::move(made));
    kept_bytes_ += kept_size;
    if (token) awaited_bytes_ += kept_size;
    unwritten_ += kept_size;
    return place;
}

void OutgoingLog::kept_moved(uint64_t name, const std::byte *kept) {
    for (Block &block : blocks_)
        if (block.continues && block.token == 0 && block.name == name) block.bytes = kept;
}

// Called when the kept bytes are no longer needed where they are.
void OutgoingLog::release(Block &block) {
    kept_bytes_ -= block.size;
    if (!block.token) return;
    awaited_bytes_ -= block.size;
    released_.push_back(block.token);
}

void OutgoingLog::copy_kept() {
    if (awaited_bytes_ == 0) return;
    for (Block &block : blocks_) {
        if (!block.token || block.own) continue;
        block.own = long_block(block.size);
        std::memcpy(block.own.get(), block.bytes, block.size);
        block.bytes = block.own.get();
        bytes_ += block.size;
        release(block);
    }
}

void OutgoingLog::move_released(std::vector<uint64_t> &tokens) {
    tokens.insert(tokens.end(), released_.begin(), released_.end());
    released_.clear();
}

int OutgoingLog::pieces(iovec *parts, int most) const {
    int count = 0;
    for (size_t i = next_; i < blocks_.size() && count < most; ++i) {
        const Block &block = blocks_[i];
        if (block.written == block.end) continue;
        parts[count++] = {const_cast<std::byte *>(block.bytes) + block.written, block.end - block.written};
    }
    return count;
}

void OutgoingLog::written(size_t bytes) {
    LANYARD_MUST(bytes <= unwritten_);
    unwritten_ -= bytes;
    while (bytes > 0) {
        Block &block = blocks_[next_];
        size_t part = std::min(bytes, block.end - block.written);
        block.written += part;
        bytes -= part;
        if (block.written == block.end && next_ + 1 < blocks_.size()) ++next_;
    }
    trim();
}

bool OutgoingLog::has_written(uint64_t sequence) const {
    if (sequence <= acknowledged_ || unwritten_ == 0) return true;
    // Searches for the first block that is not completely written, and in this block for the frame being
    // written. Begins at the end of the log, since usually little is unwritten. If the block found is kept
    // payload, the frame begins in the preceding block.
    size_t first = blocks_.size() - 1;
    while (first > 0 && blocks_[first - 1].written < blocks_[first - 1].end) --first;
    bool kept_goes_on = blocks_[first].continues;
    const Block &block = blocks_[kept_goes_on ? first - 1 : first];
    size_t at = block.begin;
    for (size_t next = at; next < block.end && (kept_goes_on || next <= block.written);) {
        at = next;
        next += frame_bytes(header_at(block, at));
    }
    return widened(header_at(block, at).sequence, sequence) >= sequence;
}

std::vector<Envelope> OutgoingLog::copied() const {
    std::vector<Envelope> found;
    for (size_t i = 0; i < blocks_.size(); ++i) {
        const Block &block = blocks_[i];
        for (size_t at = block.begin, next; at < block.end && !block.continues; at = next) {
            EnvelopeFrame frame;
            frame.header = header_at(block, at);
            next = at + frame_bytes(frame.header);
            bool kept = next > block.end && !blocks_[i + 1].own;
            if (frame.header.kind != FrameKind::envelope || kept) continue;
            std::memcpy(&frame, block.bytes + at, sizeof frame);
            found.push_back(frame.envelope);
        }
    }
    return found;
}

void OutgoingLog::acknowledged(uint64_t sequence) {
    if (sequence <= acknowledged_) return;
    acknowledged_ = sequence;
    trim();
}

// Returns memory that is no longer needed.
void OutgoingLog::trim() {
    size_t gone = 0;
    auto drop = [this](Block &block, size_t bytes) {
        block.begin += bytes;
        if (block.own) bytes_ -= bytes;
        else release(block);
        if (block.written >= block.begin) return;
        unwritten_ -= block.begin - block.written;
        block.written = block.begin;
    };
    for (size_t i = 0; i < blocks_.size(); ++i, ++gone) {
        Block &block = blocks_[i];
        while (block.begin < block.end) {
            FrameHeader header = header_at(block, block.begin);
            size_t whole = frame_bytes(header), here = std::min(whole, block.end - block.begin);
            Block *rest = whole > here ? &blocks_[i + 1] : nullptr;
            bool is_written = block.begin + here <= block.written && (!rest || rest->written == rest->end);
            // An acknowledgement has the number of the envelope after it, and is not kept once written.
            bool acknowledged = widened(header.sequence, acknowledged_) < acknowledged_;
            if (!acknowledged && !(is_written && header.kind == FrameKind::acknowledge)) break;
            drop(block, here);
            if (rest) drop(*rest, rest->end);
        }
        if (block.begin < block.end) break;
    }
    for (size_t i = 0; i < gone; ++i) give_back(blocks_[i]);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(gone));
    next_ -= std::min(next_, gone);
}

void OutgoingLog::give_back(Block &block) {
    if (block.own && !block.own.get_deleter().pool && spare_.list.size() < most_spare)
        spare_.list.emplace_back(block.own.release());
}

void OutgoingLog::clear() {
    for (Block &block : blocks_) give_back(block);
    blocks_.clear();
    next_ = 0;
    released_.clear();
    bytes_ = kept_bytes_ = awaited_bytes_ = unwritten_ = 0;
}

void OutgoingLog::rewind() {
    for (Block &block : blocks_) block.written = block.begin;
    next_ = 0;
    unwritten_ = bytes_ + kept_bytes_;
}

}  // namespace lanyard
