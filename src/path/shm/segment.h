// A segment is the memory that the processes of one node share. It is one file in LANYARD_SHM_DIR. The
// launcher creates this file without a name, and the processes inherit its descriptor. If no launcher does
// so, the first process of the node creates it with a name, and unlinks it as soon as all have opened it.
//
//   header | member 0 | member 1 | ... | room for further members | rings, node areas (appended) | blocks
//
// A member is one process of the node. Members may be added while the job runs (append_member()). For this,
// the file has offsets for most_members members from the start, and each process reserves addresses for all
// of them. So nothing ever moves. A member takes no memory before it exists. (If files may not be that long
// (ulimit -f), or if addresses are scarce (ulimit -v), there is room only for the members that exist at the
// start.)
//
// A member's part begins with a MemberControl: wait record, sleep word, inbox (where the member's peers store
// the offsets of the rings that they opened to it), shared words and others. The member's cells follow. They
// are buffers for bulk and for other payload that does not fit a ring. All memory is taken by fallocate
// before it is touched, so a shortage is reported as an error and never causes SIGBUS.
// Header and members are mapped at the start. Rings, areas and blocks take whole pages of the system, and a
// process maps each of them only when it first uses it, since addresses may be scarce too (ulimit -v). All
// processes of a node have pages of the same size: 4 KiB, or 16 or 64 KiB on some kernels for 64-bit Arm.
// Thread rule: any thread after attach(). Processes append atomically.
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
    SegmentLabel label;  // the launcher reads it too
    uint32_t cells;      // number of cells of each member
    uint32_t ready;      // 1: create() has written this header
    uint32_t capacity;   // the number of members for which there is a place
    uint64_t members_offset;
    uint64_t member_bytes;
    std::atomic<uint64_t> appended;  // end of the members and of what was appended after them
    std::atomic<uint32_t> rings;     // number of rings appended so far
    uint64_t limit;                  // upper bound of `appended`
    std::atomic<uint64_t> blocks_end;  // end of the blocks handed out, which lie after `limit`
    std::atomic<uint64_t> idle_area_bytes;  // bytes of unused areas that still have memory
    uint64_t world_area;  // offset of the shared-memory collectives' area of MPI_COMM_WORLD, 0: none
    std::atomic<uint64_t> processors[16];  // bit N: some member may run on processor N
    std::atomic<uint32_t> reads_refused;  // members that cannot read the memory of some other member
    // The number of members in which other processes cannot cause a memory fence (base/barriers.h).
    std::atomic<uint32_t> barriers_refused;
    uint32_t processor_quota;              // how many of the processors may be used at a time; 0: all
};

struct MemberControl {
    WaitRecord wait;
    SleepWord sleep;
    struct alignas(64) {
        std::atomic<int32_t> process;  // process id, for direct copies; 0 before DirectCopies exists
        // The address of probe_value in this member's memory. A direct copy of this value shows whether such
        // copies work.
        std::atomic<uint64_t> probe_address;
        uint64_t probe_value;
    } reach;
    struct alignas(64) {
        std::atomic<uint32_t> arrivals;  // changes of ring_from, plus partings by this member
    } inbox;
    // Marks that may be added to an offset in ring_from. Each says that the member which sends has parted the
    // two processes (ring_offers.h). no_room, no_addresses: the reason. unread: it will never read the ring
    // in the other direction.
    static constexpr uint64_t no_room = 1, no_addresses = 2, unread = 4, marks = 7;
    // Indexed by the member that sends, which alone changes the element: the offset of the ring that it
    // opened to this member (0: there is no ring), and its marks.
    std::atomic<uint64_t> ring_from[most_members];
    struct alignas(64) {
        std::atomic<uint32_t> used;
    } cell[most_cells];
    struct alignas(64) {
        std::atomic<uint64_t> value;
    } word[shared_words];
    struct alignas(64) {
        // The version of the list of this member's blocks (shared_blocks.h). It is odd while the list
        // changes, and 0 before the first block.
        std::atomic<uint64_t> version;
        std::atomic<uint64_t> first_page;  // offset of the list's first page; 0: none
    } blocks;
};

class Segment {
public:
    ~Segment();
    Segment() = default;
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    // The least memory that `members` processes need. create() fails if there is less.
    static uint64_t least_bytes(uint32_t members);
    // The memory that a ring takes.
    static uint64_t ring_room();
    // Called by the process that creates the file: sizes and fills the file behind `descriptor` for `members`
    // processes. The error says how much is needed and how much is available.
    Error create(int descriptor, uint32_t members);
    // Called by every process after one of them has called create(). Maps the segment. After success, the
    // descriptor belongs to this object, which closes it.
    Error attach(int descriptor);

    SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base_); }
    uint32_t members() const { return members_of(header().label).load(std::memory_order_acquire); }
    // The number of members for which this process has addresses.
    uint32_t places() const { return places_; }
    // Called by any process that has attached. Adds a member for a further process and returns its number in
    // `index`. The error says what is scarce.
    Error append_member(uint32_t &index);
    MemberControl &member(uint32_t index) const;
    std::byte *cell(uint32_t member_index, uint32_t cell_index) const;
    // Both functions append new zeroed memory and return its offset, or 0 if the node's shared memory is used
    // up; no memory is taken then. append_area() also returns 0 if too little room would remain for the rings
    // that may still be opened.
    uint64_t append_ring();
    uint64_t append_area(size_t bytes);
    // Hands out a block of zeroed memory of any length, beyond `limit`. Returns its offset, or 0 if there is
    // too little memory or too little would remain for the rings. `convenience`: the caller could use another
    // kind of memory as well. Such a block is refused if it is longer than 256 MiB or than a quarter of the
    // free memory, since its pages are taken at once.
    enum class Need { convenience, necessity };
    uint64_t append_block(size_t bytes, Need need);
    // Maps memory that any member has appended, until the caller calls unmap(). Returns nullptr if this
    // process may have no more addresses.
    std::byte *map(uint64_t offset, size_t bytes) const;
    static void unmap(std::byte *memory, size_t bytes);
    // empty() gives unused memory back to the system. refill() takes this memory again, zeroed, and returns
    // false if the system has no memory.
    void empty(uint64_t offset, size_t bytes);
    bool refill(uint64_t offset, size_t bytes);
    // The reason why append_ring() returned 0.
    Error no_room_for_ring() const;
    // The memory that the whole file has at present, in bytes.
    uint64_t used_bytes() const;

private:
    // `bytes`: whole pages. `kept`: bytes that must still be free below `limit` afterwards.
    uint64_t append(size_t bytes, uint64_t kept = 0);

    std::byte *base_ = nullptr;
    size_t mapped_ = 0;
    uint32_t places_ = 0;  // number of members that are mapped
    int descriptor_ = -1;
};

// Creates and opens a nameless file in `folder`. The descriptor is close-on-exec and belongs to the caller.
// The error says why this failed and what to do.
Error open_nameless(const std::string &folder, int &descriptor);
// Open and unlink the node's file by name, if no launcher has created a file. The first member creates the
// file (`create`; it must not exist yet), the other members open it, and the first member then unlinks it.
Error open_named(const std::string &folder, const std::string &name, bool create, int &descriptor);
void unlink_named(const std::string &folder, const std::string &name);

}  // namespace lanyard
