// Stores the envelopes that a link has taken and its peer has not acknowledged. They are stored as the bytes
// that the connection writes. After a loss, a new connection writes these bytes again. Frames that only
// acknowledge are in the log too, in order with the envelopes. Such a frame is dropped when it has been
// written and no unacknowledged envelope precedes it.
//
//     | acknowledged: dropped | written: here until acknowledged | unwritten |
//
// Long payload may stay in the program's memory ("kept") until it is acknowledged, or be copied after all.
//
// Memory: frames lie in blocks of 4 KiB, and a longer frame has a block of its own. When the last frame in a
// block is dropped, the block returns to a pool that all logs share. An empty log has no blocks. If long
// blocks returned to the heap, the heap would return them to the system, and each message of 64 KiB would
// cost 16 page faults.
// Thread rule: the owner of the engine.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_pool.h"
#include "path/tcp/frame.h"

namespace lanyard {

struct SpareBlocks {
    std::vector<std::unique_ptr<std::byte[]>> list;  // of 4 KiB
    BytePool longer;
};

class OutgoingLog {
public:
    // `check_bytes`: the length of each frame's check, which the `size` in the header does not include.
    explicit OutgoingLog(SpareBlocks &spare, size_t check_bytes = 0)
        : spare_(spare), check_bytes_(check_bytes) {}

    // Returns room for a whole frame of `bytes` bytes. The caller fills it at once.
    std::byte *append(size_t bytes);
    // The same for a frame whose last `kept_size` bytes are at `kept` and stay there until take_released()
    // returns the token or, with token 0, until the frame is dropped. Returns room for the frame's other
    // bytes.
    std::byte *append_kept(size_t bytes, const std::byte *kept, size_t kept_size, uint64_t token,
                           uint64_t name = 0);
    // The kept payload with this name and token 0, if it is still here, is now at `kept`.
    void kept_moved(uint64_t name, const std::byte *kept);
    bool empty() const { return blocks_.empty(); }
    // bytes(): how many bytes are copied here. awaited_bytes(): how many bytes are kept elsewhere and have a
    // token. unwritten(): how many bytes, here or elsewhere, are not written yet.
    size_t bytes() const { return bytes_; }
    size_t awaited_bytes() const { return awaited_bytes_; }
    size_t unwritten() const { return unwritten_; }
    // Copies payload that is kept elsewhere and has a token.
    void copy_kept();
    // Appends to `tokens` the tokens of the kept payload that was acknowledged or copied since the last call.
    // Token 0 is not reported (path.h).
    void take_released(std::vector<uint64_t> &tokens) {
        if (!released_.empty()) move_released(tokens);
    }

    // The unwritten bytes, in order, as at most `most` pieces. Returns the number of pieces.
    int pieces(iovec *parts, int most) const;
    // Called when this number of bytes has been written.
    void written(size_t bytes);
    // Called when the peer has all envelopes before this one. Those that were sent on the present connection
    // must have been written completely.
    void acknowledged(uint64_t sequence);
    // Are all envelopes before this one acknowledged or completely written?
    bool has_written(uint64_t sequence) const;
    // Returns the unacknowledged envelopes whose whole payload is copied here. The program no longer waits
    // for the sends of these envelopes.
    std::vector<Envelope> copied() const;
    // Called for a new connection: everything that is left counts as unwritten again.
    void rewind();
    // Gives everything up. The tokens of kept payload are not reported.
    void clear();

private:
    // Returns a long block to its pool, and any other block to the heap.
    struct Giver {
        void operator()(std::byte *block) const {
            if (pool) pool->give(block, bytes);
            else delete[] block;
        }
        BytePool *pool;  // unique_ptr initialises it to nullptr
        size_t bytes;
    };
    // The last frame of a block may continue in the next block. The next block then consists only of that
    // frame's kept payload.
    struct Block {
        std::unique_ptr<std::byte[], Giver> own;
        const std::byte *bytes = nullptr;  // `own`, or kept payload
        uint64_t token = 0, name = 0;
        bool continues = false;  // this block is the end of the preceding block's last frame
        size_t size = 0;
        size_t begin = 0;    // offset of the first frame that is still here
        size_t written = 0;  // the bytes before this offset have been written
        size_t end = 0;
    };

    static FrameHeader header_at(const Block &block, size_t offset);
    size_t frame_bytes(const FrameHeader &header) const {
        return sizeof header + body_bytes(header.kind) + check_bytes_ + header.size;
    }
    std::unique_ptr<std::byte[], Giver> long_block(size_t size) {
        return {spare_.longer.take(size), {&spare_.longer, size}};
    }
    Block &add_block(size_t size);
    void release(Block &block);
    void move_released(std::vector<uint64_t> &tokens);
    void trim();
    void give_back(Block &block);

    SpareBlocks &spare_;
    const size_t check_bytes_;
    std::vector<Block> blocks_;  // oldest first
    size_t next_ = 0;            // all blocks before this one are completely written
    uint64_t acknowledged_ = 0;
    size_t bytes_ = 0, kept_bytes_ = 0, awaited_bytes_ = 0;
    size_t unwritten_ = 0;
    std::vector<uint64_t> released_;
};

}  // namespace lanyard
