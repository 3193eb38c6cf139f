// See universe.h.
#include "comm/universe.h"

#include "comm/attributes.h"
#include "comm/create.h"

namespace lanyard {

Universe::Universe(Messenger &m, const Settings &s, const Processes &p, uint32_t peer)
    : messenger(m), engine(m.engine()), settings(s), processes(p), own_peer(peer) {}

bool Universe::share_node(const Peers &peers) const {
    for (uint32_t peer : peers)
        if (processes.node(peer) != processes.node(peers[0])) return false;
    return true;
}

namespace {

Error no_memory() { return {ErrorClass::no_mem, "there is no memory for the predefined communicators"}; }

Comm *make_predefined_comm(Universe &universe, Peers peers, uint64_t context, int abi_value,
                           const char *name) {
    Group *group = make_group(universe, std::move(peers));
    Comm *comm = group ? make_comm(universe, group, errors_are_fatal()) : nullptr;
    if (!comm) return nullptr;
    // This cannot fail without an area.
    accept_birth(*comm, {context, no_node_offset, universe.processors}).discard();
    comm->abi_value = abi_value;
    comm->name.set(name);
    return comm;
}

}  // namespace

Error make_predefined(Universe &universe, Peers world, std::byte *world_area, size_t world_area_bytes) {
    universe.empty_group = make_group(universe, {});
    if (!universe.empty_group) return no_memory();
    universe.empty_group->abi_value = abi::group_empty;
    universe.predefined.wtime_is_global = universe.share_node(world);  // one node, one clock

    ProcessName creator = universe.processes.name(world[0]);
    universe.world = make_predefined_comm(universe, std::move(world), context_of(creator, world_counter),
                                          abi::comm_world, "MPI_COMM_WORLD");
    universe.self =
        make_predefined_comm(universe, {universe.own_peer}, context_of(universe.own_name(), self_counter),
                             abi::comm_self, "MPI_COMM_SELF");
    if (!universe.world || !universe.self) return no_memory();
    universe.world->team.node_area = world_area;
    universe.world->team.direct_reads = universe.direct_reads;
    universe.world->team.node_area_bytes = world_area_bytes;
    return {};
}

Error delete_predefined_attributes(Universe &universe) {
    if (Error error = delete_attributes(universe.self->attributes, universe.self)) return error;
    return delete_attributes(universe.world->attributes, universe.world);
}

void free_predefined(Universe &universe) {
    collect_areas(universe);
    replace_errhandler(universe.self->errhandler, errors_are_fatal());
    release_comm(universe.world);
    universe.world = nullptr;
}

}  // namespace lanyard
