// See peer_memory.h.
#include "coll/shm/peer_memory.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace lanyard {

namespace {

// Requests the memory piece by piece and waits for the answers, because this use cannot continue without
// them. Serves requests of others meanwhile, because the owner may be waiting for memory of this rank.
void ask_for(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes) {
    RankHeader &own = task.area.header(task.team.index);
    task.area.asking().fetch_add(1, std::memory_order_seq_cst);
    for (int64_t done = 0; done < bytes;) {
        int64_t piece = std::min(bytes - done, int64_t{NodeArea::lent_bytes});
        std::atomic_thread_fence(std::memory_order_release);
        own.owner.store(rank, std::memory_order_relaxed);
        own.address.store(address + static_cast<uint64_t>(done), std::memory_order_relaxed);
        own.bytes.store(static_cast<uint64_t>(piece), std::memory_order_relaxed);
        uint32_t number = own.asked.load(std::memory_order_relaxed) + 1;
        own.asked.store(number, std::memory_order_seq_cst);
        while (own.answered.load(std::memory_order_acquire) != number) {
            task.wake(rank);
            answer_askers(task.area, task.team);
            task.answer_elsewhere(task.owner);
            sched_yield();
        }
        std::memcpy(to + done, task.area.lent_piece(task.team.index), static_cast<size_t>(piece));
        done += piece;
    }
    task.area.asking().fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

void read_memory(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes) {
    NodeUse &use = task.team.node_use;
    if (rank == task.team.index) {
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), static_cast<size_t>(bytes));
        return;
    }
    if (!use.reads_refused) {
        Error refused = task.reach->read(task.team.peers[rank], address, to, static_cast<size_t>(bytes));
        if (!refused) return;
        log(LogLevel::info, "coll", "rank %d: %s; copying through shared buffers instead", rank,
            refused.sentence().c_str());
        refused.discard();
        use.reads_refused = true;
    }
    ask_for(task, rank, address, to, bytes);
}

void answer_all_askers(const NodeArea &area, const Team &team) {
    for (int rank = 0; rank < team.size; ++rank) {
        RankHeader &header = area.header(rank);
        uint32_t number = header.asked.load(std::memory_order_acquire);
        int32_t owner = header.owner.load(std::memory_order_relaxed);
        uint64_t address = header.address.load(std::memory_order_relaxed),
                 bytes = header.bytes.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (number == header.answered.load(std::memory_order_relaxed) || owner != team.index) continue;
        std::memcpy(area.lent_piece(rank), reinterpret_cast<const std::byte *>(address),
                    static_cast<size_t>(bytes));
        header.answered.store(number, std::memory_order_release);
    }
}

}  // namespace lanyard
