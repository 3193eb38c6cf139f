// The node area is memory that all ranks of a team share if they are on one node. Each rank has slots of its
// own, which only this rank writes and all ranks read. exchange_run.h uses the area.
//
//   area:  counts | copy rates (copy_rates.h) | rank 0: header, calls, lent piece, slots, payloads | ...
//   slot:  generation (the use it belongs to), done_through, bytes or kind of the payload, number of the
//          collective, its check word (coll/agreement.h), a short payload
//
// The slots of a rank lie close together, so that a processor which reads one slot also fetches the next
// ones. Longer payloads lie behind all slots of the rank. The memory is zero before the first use.
// Thread rule: the owner of the engine, in each rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/fetch.h"
#include "coll/shm/copy_rates.h"
#include "coll/team.h"

namespace lanyard {

// The number of bytes that the area of a team of `size` ranks on one node needs; 0 if the team needs no area.
size_t node_area_bytes(int size);
// The most bytes that one rank can post in its slot: one block for all ranks, or
// (node_slot_capacity_for_each) a block of this size for each rank. -1: the team has no area, or too many
// ranks.
int64_t node_slot_capacity(const Team &team);
int64_t node_slot_capacity_for_each(const Team &team);
// The most bytes of a slot's payload in teams with few and with many ranks; the cost model uses these too.
constexpr int64_t usual_slot_capacity = 8192, smallest_slot_capacity = 1024;

// Returns a rank that has begun the next use of the area, in the collective with this number, with a check
// word that does not agree with `word`. `other_word` is then that check word. The calling rank has not begun
// that use. -1: there is no such rank.
int called_by_another(const Team &team, uint32_t number, uint32_t word, uint32_t &other_word);

// ---- Layout, shared with other processes.

// Where the block for one rank is. A slot may contain a table with a SlotPlace for each rank, instead of one
// payload for all.
struct SlotPlace {
    // If this bit is set in `bytes`, `where` is an offset in the payload. Otherwise `where` is an address, or
    // describes a place in the stage (stage.h).
    static constexpr uint64_t here = uint64_t{1} << 63;
    uint64_t where, bytes;
};

// The call that a rank makes in a use: the low bits of the collective's number (Slot::most_numbers), and the
// check word.
struct CollectiveCall {
    uint32_t number, word;
};

struct Slot {
    // Values in place of a number of bytes. at_address: the slot contains one SlotPlace. for_each: the long
    // payload contains a table with a SlotPlace for each rank. for_each_short: the short payload contains
    // such a table.
    static constexpr uint32_t length_bits = 14;
    static constexpr uint32_t at_address = (1u << length_bits) - 1, for_each = at_address - 1,
                              for_each_short = at_address - 2;
    static constexpr uint32_t most_bytes = at_address - 3, most_numbers = (1u << (32 - length_bits)) - 1;

    // The use to which the content belongs. While the slot is being written, it has a value that no use of
    // this slot has, so that a rank which reads the slot late can notice the change.
    std::atomic<uint32_t> generation;
    std::atomic<uint32_t> done_through;  // the rank's done_through at the time of the post
    std::atomic<uint32_t> bytes_and_number;
    std::atomic<uint32_t> check_word;

    uint32_t bytes() const { return bytes_and_number.load(std::memory_order_relaxed) & at_address; }
    uint32_t number() const { return bytes_and_number.load(std::memory_order_relaxed) >> length_bits; }
    uint32_t check() const { return check_word.load(std::memory_order_relaxed); }
    CollectiveCall call() const { return {number(), check()}; }
    // begin() must be called before the first line of the slot is written, and end() when all is written.
    // end() also fetches the line behind, where the next use usually begins.
    void begin(uint32_t use, uint32_t number, uint32_t check, uint32_t through, uint32_t bytes) {
        generation.store(use - 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bytes_and_number.store(number << length_bits | bytes, std::memory_order_relaxed);
        check_word.store(check, std::memory_order_relaxed);
        done_through.store(through, std::memory_order_relaxed);
    }
    void end(uint32_t use) {
        generation.store(use, std::memory_order_release);
        fetch_to_write(this + 1);
    }
    // The kind of a payload that is a table of so many bytes.
    static constexpr uint32_t table(size_t bytes) {
        return bytes <= sizeof(Slot::short_payload) ? for_each_short : for_each;
    }

    alignas(16) std::byte short_payload[112];
    // So much of the short payload lies in the line that other ranks poll. The rest, and a longer payload, is
    // written before begin(). Otherwise another rank would take the line away between begin() and the end of
    // the post, and this rank would have to fetch it once more.
    static constexpr uint16_t in_first_line = 48;
};
static_assert(sizeof(Slot) == 128 && offsetof(Slot, short_payload) + Slot::in_first_line == 64 &&
              std::atomic<uint32_t>::is_always_lock_free);

struct alignas(64) RankHeader {
    std::atomic<uint32_t> done_through;  // this rank is done with all uses up to this one
    // A rank that can no longer read the memory of other ranks directly requests pieces of it here. The owner
    // of the memory copies the requested piece into the requesting rank's lent piece. `asked` and `answered`
    // are the numbers of the latest request and answer; the other fields say which memory is requested. An
    // owner that reads a request late may see fields of the next request. It therefore reads `answered` after
    // the fields. The answer to a request is stored before the next request is written, so the owner notices
    // that the request has been answered: `answered` has reached its number, or already a later one.
    std::atomic<uint32_t> asked, answered;
    std::atomic<int32_t> owner;
    std::atomic<uint64_t> address, bytes;
};

// A rank's record of its calls in its latest uses, which other ranks read later if they have not waited for
// this rank. The record has one word for each use. A cache line holds several of these words, so that reading
// many of them moves little data between processors.
class CallLog {
public:
    // The word that tell() stores for this use and call.
    static uint64_t word_of(uint32_t generation, const CollectiveCall &call) {
        return uint64_t{generation} << (32 + number_bits) | uint64_t{call.number & Slot::most_numbers} << 32 |
               call.word;
    }
    void tell(uint32_t generation, const CollectiveCall &call) {
        calls_[generation % kept].store(word_of(generation, call), std::memory_order_release);
    }
    // The word stored in the entry for this use. The word may belong to an earlier or later use, which has
    // the same entry. If two ranks have the same word there, both made the same call.
    uint64_t told(uint32_t generation) const {
        return calls_[generation % kept].load(std::memory_order_acquire);
    }
    static CollectiveCall call_in(uint64_t told) {
        return {static_cast<uint32_t>(told >> 32) & Slot::most_numbers, static_cast<uint32_t>(told)};
    }
    // Finds the call of this use. False: the use is not recorded yet, or no longer.
    bool find(uint32_t generation, CollectiveCall &call) const {
        uint64_t told = this->told(generation);
        call = call_in(told);
        return told != 0 && told >> (32 + number_bits) ==
                                (uint64_t{generation} << (32 + number_bits)) >> (32 + number_bits);
    }

private:
    static constexpr uint32_t kept = 32, number_bits = 32 - Slot::length_bits;
    std::atomic<uint64_t> calls_[kept];
};

class NodeArea {
public:
    NodeArea() = default;
    // In teams with many ranks, each rank has less memory, because every rank reads the memory of all ranks.
    // The numbers of slots and payloads are powers of two, so that they are still used in turn when
    // generations wrap around.
    explicit NodeArea(const Team &team) : base_(team.node_area) {
        bool small = team.size <= small_team;
        slot_mask_ = (small ? 32 : 8) - 1;
        payload_mask_ = (team.size <= few ? 8 : 4) - 1;
        payload_bytes_ = small ? payload_small : payload_large;
        rank_bytes_ = static_cast<uint32_t>(before_slots + (slot_mask_ + 1) * sizeof(Slot)) +
                      (payload_mask_ + 1) * payload_bytes_;
    }

    // The number of ranks that wait for others to be done with a use (uses_done.h).
    std::atomic<uint32_t> &awaited() const { return *reinterpret_cast<std::atomic<uint32_t> *>(base_); }
    // The number of ranks that request pieces of other ranks' memory (RankHeader).
    std::atomic<uint32_t> &asking() const { return *(reinterpret_cast<std::atomic<uint32_t> *>(base_) + 1); }
    CopyRates &copy_rates() const { return *reinterpret_cast<CopyRates *>(base_ + line); }
    RankHeader &header(int rank) const { return *reinterpret_cast<RankHeader *>(of(rank)); }
    CallLog &calls(int rank) const { return *reinterpret_cast<CallLog *>(of(rank) + sizeof(RankHeader)); }
    std::byte *lent_piece(int rank) const { return of(rank) + sizeof(RankHeader) + sizeof(CallLog); }
    Slot &slot(int rank, uint32_t generation) const {
        return *reinterpret_cast<Slot *>(of(rank) + before_slots + (generation & slot_mask_) * sizeof(Slot));
    }
    bool has_posted(int rank, uint32_t generation) const {
        return slot(rank, generation).generation.load(std::memory_order_acquire) == generation;
    }
    // The place for a payload of this number of bytes, aligned for every datatype.
    std::byte *payload(int rank, uint32_t generation, size_t bytes) const {
        if (bytes <= sizeof(Slot::short_payload)) return slot(rank, generation).short_payload;
        return of(rank) + before_slots + (slot_mask_ + 1) * sizeof(Slot) +
               size_t{generation & payload_mask_} * payload_bytes_;
    }
    // The number of uses after which a payload of this number of bytes is stored in the same place again.
    uint32_t uses_apart(size_t bytes) const {
        return (bytes <= sizeof(Slot::short_payload) ? slot_mask_ : payload_mask_) + 1;
    }
    uint32_t payload_bytes() const { return payload_bytes_; }

    static constexpr size_t lent_bytes = 1024 - sizeof(RankHeader) - sizeof(CallLog);

    static size_t bytes(int size) {
        Team team;
        team.size = size;
        return before_ranks + static_cast<size_t>(size) * NodeArea(team).rank_bytes_;
    }

private:
    static constexpr size_t line = 64, before_ranks = line + (sizeof(CopyRates) + line - 1) / line * line;
    static constexpr size_t before_slots = sizeof(RankHeader) + sizeof(CallLog) + lent_bytes;
    static constexpr int few = 8, small_team = 16;
    static constexpr uint32_t payload_small = usual_slot_capacity, payload_large = smallest_slot_capacity;
    std::byte *of(int rank) const { return base_ + before_ranks + static_cast<size_t>(rank) * rank_bytes_; }

    std::byte *base_ = nullptr;
    uint32_t slot_mask_ = 0, payload_mask_ = 0, payload_bytes_ = 0, rank_bytes_ = 0;
};

// Is generation b equal to a or later? Generations wrap around.
inline bool reached(uint32_t a, uint32_t b) { return static_cast<int32_t>(b - a) >= 0; }

}  // namespace lanyard
