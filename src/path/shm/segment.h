// The memory that the processes of one node share: one file in LANYARD_SHM_DIR. The launcher creates it
// (without a name, handed down as a descriptor), or the first process of the node does (with a name, unlinked
// as soon as all have opened it).
//
//   header | member 0 | member 1 | ... | room for further members | rings, node areas (appended) | blocks
//
// Members may be added while the node works (append_member()): the file has offsets for most_members, and
// each process has addresses for them. No memory lies behind either before the member exists. So nothing ever
// moves. (Where files may not be that long, ulimit -f, or addresses are scarce, ulimit -v, only the first
// members have a place.)
//
// A member's part consists of wait record, sleep word, inbox (where its peers store the offsets of the rings
// that they opened to it), and cells (buffers for payload that does not fit a ring). All memory is taken by
// fallocate before it is touched, so a shortage is an error and never SIGBUS. Header and members are mapped
// at the start. Rings, areas and blocks begin at a page boundary, and each process maps those that it uses
// when it first uses them, since addresses may be scarce too (ulimit -v).
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
    SegmentLabel label;  // read by the launcher
    uint32_t cells;      // per member
    uint32_t ready;      // 1: the geometry has been written
    uint32_t capacity;   // the number of members that have a place
    uint64_t members_offset;
    uint64_t member_bytes;
    std::atomic<uint64_t> appended;  // end of what has been handed out
    std::atomic<uint32_t> rings;     // opened so far
    uint64_t limit;                  // of what may be appended
    std::atomic<uint64_t> blocks_end;  // end of the blocks handed out, which lie after `limit`
    std::atomic<uint64_t> idle_area_bytes;  // of areas that are not in use but still have their memory
    uint64_t world_area;  // offset of the shared-memory collectives' area of MPI_COMM_WORLD, 0: none
    std::atomic<uint64_t> processors[16];  // bit by number: the processors on which some member may run
    std::atomic<uint32_t> reads_refused;  // the number of members that cannot read the memory of all others
    std::atomic<uint32_t> barriers_refused;  // the number of members that cannot take part in base/barriers.h
    uint32_t processor_quota;              // how many of the processors may be used at a time; 0: all
};

struct MemberControl {
    WaitRecord wait;
    SleepWord sleep;
    struct alignas(64) {
        std::atomic<int32_t> process;  // id, for direct copies; 0 until attached
        // Address of the probe value in its memory, with which such a copy is tried.
        std::atomic<uint64_t> probe_address;
        uint64_t probe_value;
    } reach;
    struct alignas(64) {
        std::atomic<uint32_t> arrivals;  // rings ever opened to this member
    } inbox;
    static constexpr uint64_t no_room = 1;  // instead of an offset
    // By member: offset of the ring that it opened to this one, 0: none.
    std::atomic<uint64_t> ring_from[most_members];
    struct alignas(64) {
        std::atomic<uint32_t> used;
    } cell[most_cells];
    struct alignas(64) {
        std::atomic<uint64_t> value;
    } word[shared_words];
    struct alignas(64) {
        // Of the list of its blocks (shared_blocks.h): odd while it changes; 0: there have been none.
        std::atomic<uint64_t> version;
        std::atomic<uint64_t> first_page;  // offset
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
    // By the first member: sizes and fills the file behind `descriptor` for `members` processes. The error
    // says how much is needed and how much is available.
    Error create(int descriptor, uint32_t members);
    // By every process, after create() has been done by one of them: maps the segment.
    Error attach(int descriptor);

    SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base_); }
    uint32_t members() const { return members_of(header().label).load(std::memory_order_acquire); }
    // The number of members that this process can reach.
    uint32_t places() const { return places_; }
    // By any process that has attached: makes a place for a further process, which gets `index`. The error
    // says what is scarce.
    Error append_member(uint32_t &index);
    MemberControl &member(uint32_t index) const;
    std::byte *cell(uint32_t member_index, uint32_t cell_index) const;
    // New zeroed memory at the end. Returns its offset, or 0 if the node's shared memory is used up. An area
    // is refused if the rings that may still be opened would no longer find room.
    uint64_t append_ring();
    uint64_t append_area(size_t bytes);
    // The same after the end of what may be appended, of any length. Returns 0 also if too little room would
    // be left for the rings. `convenience`: another kind of memory would do as well. Such blocks get at most
    // 256 MiB and at most a quarter of what is free, since their pages are taken at once.
    enum class Need { convenience, necessity };
    uint64_t append_block(size_t bytes, Need need);
    // Maps what was appended by this member or another. nullptr: the process may have no more addresses.
    std::byte *map(uint64_t offset, size_t bytes) const;
    static void unmap(std::byte *memory, size_t bytes);
    // empty() returns memory that is not in use to the system. refill() takes it again, zeroed; false: there
    // is none.
    void empty(uint64_t offset, size_t bytes);
    bool refill(uint64_t offset, size_t bytes);
    // The reason why append_ring() returned 0.
    Error no_room_for_ring() const;

private:
    // `kept`: bytes that must remain within the limit afterwards.
    uint64_t append(size_t bytes, uint64_t kept = 0);

    std::byte *base_ = nullptr;
    size_t mapped_ = 0;
    uint32_t places_ = 0;  // number of members that are mapped
    int descriptor_ = -1;
};

// Opens a new nameless file in `folder`, close-on-exec. The error says why this failed and what to do.
Error open_nameless(const std::string &folder, int &descriptor);
// The node's file by name, if no launcher created one: the first member creates it, the others open it, the
// first unlinks it.
Error open_named(const std::string &folder, const std::string &name, bool create, int &descriptor);
void unlink_named(const std::string &folder, const std::string &name);

}  // namespace lanyard
