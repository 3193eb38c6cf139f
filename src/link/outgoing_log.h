// The envelopes that a link has taken and its peer has not acknowledged, as the bytes that go over the connection: what is in
// here is written from here, and from here again when a connection was lost. Acknowledgements travel in it too, in order with the rest, but are
// not kept once written.
//
//     | acknowledged: gone | written: kept until acknowledged | unwritten |
//
// Memory: blocks of 4 KiB, or of one frame that is larger, given back as their last frame goes, to a pool that all logs share; an
// empty log has none.
// Thread rule: the owner of the engine.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "link/frame.h"

namespace lanyard {

struct SpareBlocks {
    std::vector<std::unique_ptr<std::byte[]>> list;
};

class OutgoingLog {
public:
    explicit OutgoingLog(SpareBlocks &spare) : spare_(spare) {}

    // Room for a whole frame of `bytes`, to be filled at once.
    std::byte *append(size_t bytes);
    bool empty() const { return bytes_ == 0; }
    // Bytes kept, and those of them that are not yet written.
    size_t bytes() const { return bytes_; }
    size_t unwritten() const { return unwritten_; }

    // The unwritten bytes, in order, as at most `most` pieces; how many.
    int pieces(iovec *parts, int most) const;
    // So many of them have been written.
    void written(size_t bytes);
    // Does the next unwritten byte begin a frame? (Or is there none.)
    bool between_frames() const { return begun_ == 0; }
    // The peer has all envelopes before this one.
    void acknowledged(uint64_t sequence);
    // The connection is a new one: all that is left is unwritten again.
    void rewind();
    // All is given up.
    void clear();

private:
    struct Block {
        std::unique_ptr<std::byte[]> bytes;
        size_t size = 0;
        size_t begin = 0;    // of the first frame kept
        size_t written = 0;  // up to here
        size_t end = 0;
    };

    static FrameHeader header_at(const Block &block, size_t offset);
    static size_t frame_bytes(const FrameHeader &header) { return sizeof header + body_bytes(header.kind) + header.size; }
    void trim();
    void give_back(Block &block);

    SpareBlocks &spare_;
    std::vector<Block> blocks_;  // oldest first
    uint64_t acknowledged_ = 0;
    size_t bytes_ = 0;
    size_t unwritten_ = 0;
    size_t begun_ = 0;  // bytes written of a frame that is not written to its end
};

}  // namespace lanyard
