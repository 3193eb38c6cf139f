// A ring carries an ordered stream of frames from one process to another, in memory that both map, without
// locks. A short lane (short_lane.h) has one ring in each direction between two processes. A frame takes one
// line (64 bytes), and further lines if its payload does not fit beside the envelope.
//
//   line 0 of the ring   `consumed`, written by the reader a few times per lap (once around the ring)
//   other lines          | word (8) | 56 bytes |
//
// The low half of the word is the line's running number + 1. The high half describes the frame: kind (2 bits)
// and number of payload bytes. Every line carries its number, also a line that only continues a frame. A line
// left from the previous lap therefore never looks new. The writer stores the first line's word last
// (release), so a reader that sees the word sees the whole frame. Only the first line of a frame is polled.
// Invariant: written - consumed <= lines. The reader reports `consumed` at least every quarter lap, and a
// frame takes at most `most_lines` < three quarters of a lap. A writer that lacks room therefore always
// learns of new room.
// Thread rule: one writer and one reader, each the owner of its engine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/fetch.h"
#include "base/sleep_word.h"
#include "path/envelope.h"

namespace lanyard {

constexpr size_t line_bytes = 64;
constexpr size_t ring_bytes = 8192;

// No kind is 0. No frame's word is therefore 0, not even that of an empty frame whose number has wrapped to
// 0.
enum class RingFrame : uint32_t { inlined = 1, in_cell = 2, bulk = 3 };

constexpr uint32_t ring_lines = ring_bytes / line_bytes - 1;
constexpr size_t first_line_room = inline_payload;
constexpr size_t next_line_room = line_bytes - 8;
constexpr uint32_t most_lines = 12;
constexpr size_t most_inlined = first_line_room + (most_lines - 1) * next_line_room;

struct alignas(64) RingLine {
    std::atomic<uint64_t> word;
    std::byte bytes[56];
};
static_assert(sizeof(RingLine) == line_bytes && sizeof(Envelope) + inline_payload == sizeof(RingLine::bytes));
static_assert(offsetof(RingLine, bytes) % alignof(Envelope) == 0,
              "an envelope is written and read in its line");

struct Ring {
    alignas(64) std::atomic<uint32_t> consumed;
    alignas(64) RingLine line[ring_lines];

    // The line that is `lines` lines after `one`. The last line is followed by the first line.
    RingLine *behind(const RingLine &one, uint32_t lines) {
        RingLine *place = line + (&one - line) + lines;
        return place >= line + ring_lines ? place - ring_lines : place;
    }
};
static_assert(sizeof(Ring) == ring_bytes);

constexpr uint64_t frame_word(uint32_t number, RingFrame kind, size_t payload) {
    return static_cast<uint64_t>(static_cast<uint32_t>(kind) << 30 | static_cast<uint32_t>(payload)) << 32 |
           (number + 1);
}

constexpr RingFrame frame_kind(uint64_t word) { return static_cast<RingFrame>(word >> 62); }
constexpr size_t frame_payload(uint64_t word) { return word >> 32 & 0x3fffffff; }

inline uint32_t lines_for(size_t payload) {
    return payload <= first_line_room
               ? 1
               : 1 + static_cast<uint32_t>((payload - first_line_room + next_line_room - 1) / next_line_room);
}

// Rings begin at different lines, so that the lines polled while idle spread over the cache's sets.
inline uint32_t first_line(uint32_t writer) { return writer * 5 % ring_lines; }

class RingWriter {
public:
    // `sleep`: the sleep word of the reader.
    explicit RingWriter(SleepWord &sleep) : sleep_(&sleep) {}
    // Both ends start counting the lines at `number`.
    void open(Ring &ring, uint32_t writer, uint32_t number = 0) {
        ring_ = &ring;
        next_ = &ring.line[first_line(writer)];
        number_ = consumed_ = number;
    }
    bool is_open() const { return ring_ != nullptr; }
    // Forgets the ring. From then on, surely_has_room() is false, as before open().
    void close() { *this = RingWriter(*sleep_); }

    // Is there room for `lines` more lines? Reads `consumed` from the ring only if its last known value does
    // not suffice.
    bool room(uint32_t lines) {
        if (number_ - consumed_ + lines <= ring_lines) return true;
        consumed_ = ring_->consumed.load(std::memory_order_acquire);
        return number_ - consumed_ + lines <= ring_lines;
    }
    // Is there room for one line, according to the last known value of `consumed`? False unless the ring is
    // open.
    bool surely_has_room() const { return number_ - consumed_ < ring_lines; }

    // The line to be filled next, and the line `ahead` lines after it.
    RingLine &line() { return *next_; }
    RingLine &line(uint32_t ahead) { return *ring_->behind(*next_, ahead); }
    // Writes the running number of a line that continues a frame into that line. Must be called before
    // publish().
    void number_line(uint32_t ahead) {
        line(ahead).word.store(static_cast<uint64_t>(number_ + ahead + 1u), std::memory_order_relaxed);
    }
    void publish(RingFrame kind, size_t payload, uint32_t lines) {
        next_->word.store(frame_word(number_, kind, payload), std::memory_order_release);
        number_ += lines;
        next_ = ring_->behind(*next_, lines);
    }
    // Fetches the next lines into this processor's cache, to be written. The reader's processor has them
    // since the last lap. Without this, each line of the next frame would have to be waited for in turn.
    void fetch_next(uint32_t lines) {
        for (uint32_t ahead = 0; ahead < lines; ++ahead) fetch_to_write(&line(ahead));
    }
    void wake_reader() const { wake_if_asleep(*sleep_); }
    bool reader_seems_asleep() const { return seems_asleep(*sleep_); }

    // begin_line() and end_line() write a whole frame of one line, for which there must be room. The caller
    // writes the payload to the address that begin_line() returns, and then calls end_line().
    std::byte *begin_line(const Envelope &envelope) {
        new (next_->bytes) Envelope(envelope);
        return next_->bytes + sizeof(Envelope);
    }
    void end_line(size_t payload) {
        publish(RingFrame::inlined, payload, 1);
        wake_reader();
    }

private:
    Ring *ring_ = nullptr;
    RingLine *next_ = nullptr;
    uint32_t number_ = ring_lines;  // the running number of the next line to write
    uint32_t consumed_ = 0;         // the ring's `consumed`, as last read
    SleepWord *sleep_;
};

class RingReader {
public:
    void open(Ring &ring, uint32_t writer, uint32_t number = 0) {
        ring_ = &ring;
        next_ = &ring.line[first_line(writer)];
        number_ = reported_ = number;
    }
    // The word to poll for the next frame, and the value that its low half will have.
    const std::atomic<uint64_t> *awaited_word() const { return &next_->word; }
    uint32_t awaited_number() const { return number_ + 1; }
    // The word of the next frame if it has arrived, else 0.
    uint64_t peek() const {
        uint64_t word = next_->word.load(std::memory_order_acquire);
        return static_cast<uint32_t>(word) == number_ + 1 ? word : 0;
    }
    const std::byte *first() const { return next_->bytes; }
    const Envelope &envelope() const { return *reinterpret_cast<const Envelope *>(next_->bytes); }
    // Copies the whole payload of a frame out, also the bytes in its continuation lines.
    void copy_out(std::byte *to, size_t bytes) const {
        const RingLine *line = next_;
        size_t part = bytes < first_line_room ? bytes : first_line_room;
        std::memcpy(to, next_->bytes + sizeof(Envelope), part);
        for (size_t done = part; done < bytes; done += part) {
            line = ring_->behind(*line, 1);
            part = bytes - done < next_line_room ? bytes - done : next_line_room;
            std::memcpy(to + done, line->bytes, part);
        }
    }
    // Skips the `lines` lines of the current frame. Returns true if pass() reported room to the writer.
    bool pass(uint32_t lines) {
        number_ += lines;
        next_ = ring_->behind(*next_, lines);
        if (number_ - reported_ < ring_lines / 4) return false;
        ring_->consumed.store(number_, std::memory_order_release);
        reported_ = number_;
        return true;
    }

private:
    const RingLine *next_ = nullptr;
    uint32_t number_ = 0;
    uint32_t reported_ = 0;
    Ring *ring_ = nullptr;
};

}  // namespace lanyard
