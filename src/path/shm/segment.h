// The memory that the processes of one node share: one file in LANYARD_SHM_DIR, made by the launcher (nameless, handed down as
// a descriptor) or by the first process of the node (named, unlinked as soon as all have opened it).
//
//   header | member 0 | member 1 | ... | room for further members | rings and node areas, appended as needed | blocks
//
// Further members may come while the node is at work (append_member()): the file has offsets for most_members, and each
// process has addresses; there is no memory behind either before somebody comes. So nothing moves. (Where files may not
// be long, ulimit -f, or addresses are scarce, ulimit -v, only the first members have a place.)
//
// A member's part: wait record, sleep word, inbox (where its peers put the offsets of the rings they opened to it), cells (buffers
// for payload that does not fit a ring line). Everything grows by fallocate before it is touched, so shortage is an error and
// never SIGBUS. Header and members are mapped at the start. Rings, areas and blocks begin with a page, and each process maps
// those that it uses, when it uses them: addresses may be scarce too (ulimit -v).
// Thread rule: any thread after attach(); what is appended is appended atomically between processes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/sleep_word.h"
#include "base/wait_record.h"
#include "path/direct_memory.h"
#include "path/short_ring.h"

namespace lanyard {

constexpr size_t cell_bytes = 16384;
constexpr uint32_t most_cells = 32;
constexpr uint32_t fewest_cells = 4;
constexpr uint32_t most_members = 1024;

struct alignas(64) SegmentHeader {
    SegmentLabel label;  // read by the launcher
    uint32_t cells;      // per member
    uint32_t ready;      // 1: geometry is written
    uint32_t capacity;   // so many members have a place
    uint64_t members_offset;
    uint64_t member_bytes;
    std::atomic<uint64_t> appended;  // end of what has been handed out
    std::atomic<uint32_t> rings;     // opened so far
    uint64_t limit;                  // of what may be appended
    std::atomic<uint64_t> blocks_end;  // of what has been handed out behind it
    std::atomic<uint64_t> idle_area_bytes;  // of areas that nobody uses, and that still have their memory
    uint64_t world_area;             // offset of the shared-memory collectives' area of MPI_COMM_WORLD, 0: none
    std::atomic<uint64_t> processors[16];  // bit by number: those that some member may run on
    std::atomic<uint32_t> reads_refused;     // how many members cannot read the memory of all others
    std::atomic<uint32_t> barriers_refused;  // how many cannot take part in base/barriers.h
    uint32_t processor_quota;              // how many of them may be used at a time; 0: all
};

struct MemberControl {
    WaitRecord wait;
    SleepWord sleep;
    struct alignas(64) {
        std::atomic<int32_t> process;        // id, for direct copies; 0 until attached
        std::atomic<uint64_t> probe_address;  // where the probe value lies in its memory, to try such a copy
        uint64_t probe_value;
    } reach;
    struct alignas(64) {
        std::atomic<uint32_t> arrivals;  // rings ever opened to this member
    } inbox;
    static constexpr uint64_t no_room = 1;          // instead of an offset
    std::atomic<uint64_t> ring_from[most_members];  // offset of the ring that member opened to this one, 0: none
    struct alignas(64) {
        std::atomic<uint32_t> used;
    } cell[most_cells];
    struct alignas(64) {
        std::atomic<uint64_t> value;
    } word[shared_words];
    struct alignas(64) {
        std::atomic<uint64_t> version;     // of the list of its blocks (shared_blocks.h): odd while it changes; 0: there have been none
        std::atomic<uint64_t> first_page;  // offset
    } blocks;
};

class Segment {
public:
    ~Segment();
    Segment() = default;
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    // What so many processes need at least, of which create() tells where there is less.
    static uint64_t least_bytes(uint32_t members);
    // The first member: sizes and fills the file behind `descriptor` for `members` processes. The error says how much is needed
    // and how much there is.
    Error create(int descriptor, uint32_t members);
    // Everyone, after create() has been done somewhere: maps it.
    Error attach(int descriptor);

    SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base_); }
    uint32_t members() const { return members_of(header().label).load(std::memory_order_acquire); }
    // So many can be reached from here.
    uint32_t places() const { return places_; }
    // A place for a further process, whose index it is, by any process that has attached. An error says what there is too little of.
    Error append_member(uint32_t &index);
    MemberControl &member(uint32_t index) const;
    std::byte *cell(uint32_t member_index, uint32_t cell_index) const;
    // New zeroed memory at the end; its offset, or 0 when the node's shared memory is used up. An area is refused where the
    // rings that may still be opened would no longer find room.
    uint64_t append_ring();
    uint64_t append_area(size_t bytes);
    // The same behind what may be appended, however long; 0 also where too little room would be left for the rings. Of what another kind of memory
    // would do for as well only a quarter of what is free is handed out, and never much: its pages are taken at once.
    enum class Need { convenience, necessity };
    uint64_t append_block(size_t bytes, Need need);
    // What was appended, by this member or another, as memory of this process; nullptr where it may have no more addresses.
    std::byte *map(uint64_t offset, size_t bytes) const;
    static void unmap(std::byte *memory, size_t bytes);
    // Gives the memory of what nobody uses back to the system; and has it anew, zeroed, unless there is none.
    void empty(uint64_t offset, size_t bytes);
    bool refill(uint64_t offset, size_t bytes);
    // Why append_ring() answered 0.
    Error no_room_for_ring() const;

private:
    uint64_t append(size_t bytes, uint64_t kept = 0);  // kept: bytes that must remain within the limit after it

    std::byte *base_ = nullptr;
    size_t mapped_ = 0;
    uint32_t places_ = 0;  // of members, that are mapped
    int descriptor_ = -1;
};

// Opens a new nameless file in `folder`, close-on-exec; the error says why not and what to do.
Error open_nameless(const std::string &folder, int &descriptor);
// The node's file by name, when no launcher made one: the first member creates it, the others open it, the first unlinks it.
Error open_named(const std::string &folder, const std::string &name, bool create, int &descriptor);
void unlink_named(const std::string &folder, const std::string &name);

}  // namespace lanyard
