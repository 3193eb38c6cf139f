// See peer_memory.h.
#include "coll/shm/peer_memory.h"

#include <sched.h>

#include <algorithm>

#include "base/copy.h"
#include "base/log.h"

namespace lanyard {

namespace {

// Requests the piece that begins at this address. The answers to all earlier requests have been taken.
void ask_for(const ExchangeTask &task, int rank, uint64_t address, int64_t bytes) {
    RankHeader &own = task.area.header(task.team.index);
    task.area.asking().fetch_add(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_release);
    own.owner.store(rank, std::memory_order_relaxed);
    own.address.store(address, std::memory_order_relaxed);
    own.bytes.store(static_cast<uint64_t>(std::min(bytes, int64_t{NodeArea::lent_bytes})),
                    std::memory_order_relaxed);
    own.asked.store(own.asked.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    task.wake(rank);
}

// Is this rank's request answered? Looks for a moment, because a piece is short and its owner usually answers
// soon. Serves requests of others meanwhile, because the owner may look for memory of this rank.
bool is_answered(const ExchangeTask &task) {
    constexpr int looks = 20;
    const RankHeader &own = task.area.header(task.team.index);
    for (int look = 0; look < looks; ++look) {
        if (own.answered.load(std::memory_order_acquire) == own.asked.load(std::memory_order_relaxed))
            return true;
        answer_askers(task);
        sched_yield();
    }
    return false;
}

}  // namespace

int64_t read_memory(const ExchangeTask &task, const void *reader, int rank, uint64_t address, std::byte *to,
                    int64_t bytes) {
    NodeUse &use = task.team.node_use;
    if (rank == task.team.index) {
        copy_bytes(to, reinterpret_cast<const std::byte *>(address), static_cast<size_t>(bytes));
        return bytes;
    }
    if (!use.reads_refused) {
        Error refused = task.reach->read(task.team.peers[rank], address, to, static_cast<size_t>(bytes));
        if (!refused) return bytes;
        log(LogLevel::info, "coll", "rank %d: %s; copying through shared buffers instead", rank,
            refused.sentence().c_str());
        refused.discard();
        use.reads_refused = true;
    }
    const RankHeader &own = task.area.header(task.team.index);
    if (!use.asker) {
        ask_for(task, rank, address, bytes);
        use.asker = reader;
    }
    if (use.asker != reader || own.owner.load(std::memory_order_relaxed) != rank ||
        own.address.load(std::memory_order_relaxed) != address || !is_answered(task))
        return 0;
    int64_t piece = std::min(bytes, static_cast<int64_t>(own.bytes.load(std::memory_order_relaxed)));
    copy_bytes(to, task.area.lent_piece(task.team.index), static_cast<size_t>(piece));
    use.asker = nullptr;
    task.area.asking().fetch_sub(1, std::memory_order_relaxed);
    return piece;
}

void withdraw_request(const AreaTeam &place, const void *reader) {
    NodeUse &use = place.team.node_use;
    if (use.asker != reader) return;
    place.area.header(place.team.index).owner.store(-1, std::memory_order_relaxed);
    place.area.asking().fetch_sub(1, std::memory_order_relaxed);
    use.asker = &use;  // no reader, so that no other reader can take its place
}

void answer_all_askers(const AreaTeam &place) {
    const NodeArea &area = place.area;
    for (int rank = 0; rank < place.team.size; ++rank) {
        RankHeader &header = area.header(rank);
        uint32_t number = header.asked.load(std::memory_order_acquire);
        int32_t owner = header.owner.load(std::memory_order_relaxed);
        uint64_t address = header.address.load(std::memory_order_relaxed),
                 bytes = header.bytes.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (owner != place.team.index || reached(number, header.answered.load(std::memory_order_relaxed)))
            continue;
        copy_bytes(area.lent_piece(rank), reinterpret_cast<const std::byte *>(address),
                   static_cast<size_t>(bytes));
        header.answered.store(number, std::memory_order_release);
        place.wake(rank);
    }
}

}  // namespace lanyard
