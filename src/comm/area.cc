#include "comm/area.h"

#include <algorithm>
#include <atomic>

#include "coll/node_area.h"
#include "comm/universe.h"

namespace lanyard {
namespace {

constexpr size_t header_bytes = 64;  // the count of those who left, on a line of its own

std::atomic<uint32_t> &left_of(std::byte *header) { return *reinterpret_cast<std::atomic<uint32_t> *>(header); }

}  // namespace

uint64_t allocate_area(Universe &universe, int size) {
    collect_areas(universe);
    size_t bytes = node_area_bytes(size);
    uint64_t offset = no_node_offset;
    if (bytes == 0 || !universe.node_memory->allocate(header_bytes + bytes, offset)) return no_node_offset;
    return offset;
}

void join_area(Comm &comm, uint64_t offset) {
    if (offset == no_node_offset) return;
    comm.area = offset;
    comm.team.node_area = comm.universe->node_memory->at(offset) + header_bytes;
    comm.team.node_area_bytes = node_area_bytes(comm.team.size);
    comm.team.direct_reads = comm.universe->direct_reads;
}

void leave_area(Comm &comm) {
    if (comm.area == no_node_offset) return;
    Universe &universe = *comm.universe;
    left_of(comm.team.node_area - header_bytes).fetch_add(1, std::memory_order_acq_rel);
    if (comm.team.index != 0) return;
    {
        SpinGuard guard(universe.awaited_areas.lock);
        universe.awaited_areas.list.push_back({comm.area, header_bytes + comm.team.node_area_bytes, static_cast<uint32_t>(comm.team.size)});
    }
    collect_areas(universe);
}

void collect_areas(Universe &universe) {
    auto &[lock, list] = universe.awaited_areas;
    SpinGuard guard(lock);
    auto over = [&](const AwaitedArea &area) {
        bool all_left = left_of(universe.node_memory->at(area.offset)).load(std::memory_order_acquire) == area.members;
        if (all_left) universe.node_memory->release(area.offset, area.bytes);
        return all_left;
    };
    list.erase(std::remove_if(list.begin(), list.end(), over), list.end());
}

}  // namespace lanyard
