// See area.h.
#include "comm/area.h"

#include <algorithm>
#include <atomic>

#include "coll/shm/node_area.h"
#include "comm/universe.h"

namespace lanyard {
namespace {

struct AreaHeader {
    enum State : uint32_t { in_use, over, emptied };
    std::atomic<uint32_t> leaving;  // members that no longer use the area
    std::atomic<uint32_t> state;
};

constexpr size_t header_bytes = 64;  // a cache line of its own
static_assert(sizeof(AreaHeader) <= header_bytes);
constexpr size_t mapped_whole = 8;  // number of awaited areas that stay mapped completely

AreaHeader &header_in(std::byte *memory) { return *reinterpret_cast<AreaHeader *>(memory); }

// Unmaps all pages of an area except the first, which contains the header.
void shorten(NodeMemory &memory, AwaitedArea &area) {
    std::byte *header = memory.open(area.offset, header_bytes);
    if (!header) return;
    memory.close(area.offset, area.memory, area.mapped_bytes);
    area.memory = header;
    area.mapped_bytes = header_bytes;
}

// Counts a member that leaves. The last member to leave empties the area and marks it.
void leave(NodeMemory &memory, uint64_t offset, size_t bytes, std::byte *here, int members) {
    AreaHeader &header = header_in(here);
    if (header.leaving.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<uint32_t>(members)) return;
    bool emptied = memory.empty(offset, bytes);
    header.state.store(emptied ? AreaHeader::emptied : AreaHeader::over, std::memory_order_release);
}

}  // namespace

uint64_t allocate_area(Universe &universe, int size) {
    collect_areas(universe);
    size_t bytes = node_area_bytes(size);
    uint64_t offset = no_node_offset;
    if (bytes == 0 || !universe.node_memory->allocate(header_bytes + bytes, offset)) return no_node_offset;
    return offset;
}

Error join_area(Comm &comm, uint64_t offset, int allocator) {
    if (offset == no_node_offset) return {};
    size_t bytes = header_bytes + node_area_bytes(comm.team.size);
    std::byte *memory = comm.universe->node_memory->open(offset, bytes);
    if (!memory)
        return Error(ErrorClass::no_mem,
                     "the communicator needs " + std::to_string(bytes / 1024 + 1) +
                         " KiB of addresses, and this process may have no more (ulimit -v)");
    comm.area = offset;
    comm.area_allocator = allocator;
    comm.team.node_area = memory + header_bytes;
    comm.team.node_area_bytes = node_area_bytes(comm.team.size);
    comm.team.direct_reads = comm.universe->direct_reads;
    return {};
}

void leave_area(Comm &comm) {
    if (comm.area == no_node_offset) return;
    Universe &universe = *comm.universe;
    NodeMemory &memory = *universe.node_memory;
    std::byte *here = comm.team.node_area - header_bytes;
    size_t bytes = header_bytes + comm.team.node_area_bytes;
    leave(memory, comm.area, bytes, here, comm.team.size);
    if (comm.team.index != comm.area_allocator) return memory.close(comm.area, here, bytes);
    collect_areas(universe);
    AwaitedArea area{comm.area, bytes, here, bytes};
    SpinGuard guard(universe.awaited_areas.lock);
    if (universe.awaited_areas.list.size() >= mapped_whole) shorten(memory, area);
    universe.awaited_areas.list.push_back(area);
}

void collect_areas(Universe &universe) {
    auto &[lock, list] = universe.awaited_areas;
    if (!universe.node_memory) return;
    NodeMemory &memory = *universe.node_memory;
    SpinGuard guard(lock);
    auto over = [&](const AwaitedArea &area) {
        uint32_t state = header_in(area.memory).state.load(std::memory_order_acquire);
        if (state == AreaHeader::in_use) return false;
        memory.close(area.offset, area.memory, area.mapped_bytes);
        memory.release(area.offset, area.bytes, state == AreaHeader::emptied);
        return true;
    };
    list.erase(std::remove_if(list.begin(), list.end(), over), list.end());
}

}  // namespace lanyard
