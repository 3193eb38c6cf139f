// Implements MPI_Comm_split_type (MPI-5.0 7.4.2). Processes that share a resource of the machine belong to
// one new communicator. All members exchange which instance of each type of resource contains their
// processors. Every member then finds the members of its own new communicator. A process that may run on
// several instances of a type, for example because it is not bound, belongs to no instance of this type.
// Members that pass MPI_UNDEFINED do not know which type the others request, so the messages contain all
// types.
// Tested by: tests/unit/comm/create_test.cc, tests/mpi/comm/create.cc.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "comm/create.h"
#include "comm/process_sets.h"

namespace lanyard {
namespace {

constexpr const char *resource_key = "mpi_hw_resource_type", *node_resource = "mpi_shared_memory";

// Level 0 is the node. The other levels are the types of resources within a node.
constexpr int levels = 1 + resources;

struct Member {
    Wish wish;
    int32_t split_type = abi::undefined;
    int32_t level = levels;              // of the requested resource; `levels`: unknown or none
    int32_t processes = abi::undefined;  // the color by the requested process set
    int32_t node = 0;                    // the first member of the parent's team on the same node
    int32_t instance[levels] = {};       // the instance of each resource; -1: not in a single instance
    int32_t unused = 0;

    bool wants() const { return split_type != abi::undefined; }
    bool within(int at) const { return wants() && instance[at] >= 0; }
    bool together_with(const Member &other, int at) const {
        return within(at) && other.within(at) && node == other.node && instance[at] == other.instance[at];
    }
};
static_assert(std::has_unique_object_representations_v<Member>);

const char *name_of_level(int level) {
    return level == 0 ? node_resource : name_of(static_cast<Resource>(level - 1));
}

// Returns `levels` if no resource has this name.
int level_called(std::string_view name) {
    if (name == node_resource) return 0;
    Resource resource = resource_called(name);
    return resource == Resource::count_of_them ? levels : 1 + static_cast<int>(resource);
}

std::string value_in(const Info *info, const char *key) {
    std::string value;
    bool found = false;
    if (info) info->get(key, value, found).discard();
    return value;
}

// The color of this process if the split is by a process set. Different sets have different colors, and so do
// the sets of different processes or nodes.
int32_t color_in(ProcessSet set, const Team &team, int32_t node) {
    switch (set) {
        case ProcessSet::world: return 0;
        case ProcessSet::self: return 1 + team.index;
        case ProcessSet::node: return 1 + team.size + node;
        case ProcessSet::none: break;
    }
    return abi::undefined;
}

Member own_member(const Comm &parent, int split_type, int key, const Info *info) {
    const Universe &universe = *parent.universe;
    Member own;
    own.wish = {abi::undefined, key, parent.universe->new_context(), universe.processors, 0};
    own.split_type = split_type;
    while (!universe.on_my_node(parent.team.peers[own.node])) ++own.node;
    if (split_type == abi::comm_type_shared) own.level = 0;
    if (split_type == abi::undefined || split_type == abi::comm_type_shared) return own;
    Locality locality = universe.locality(universe);
    for (int r = 0; r < resources; ++r) own.instance[1 + r] = std::max(locality.instance[r], -1);
    if (split_type != abi::comm_type_hw_unguided) own.level = level_called(value_in(info, resource_key));
    if (split_type != abi::comm_type_resource_guided) return own;
    own.processes = color_in(process_set_called(value_in(info, "mpi_pset_name")), parent.team, own.node);
    return own;
}

// The largest type of resource that divides the members: some members are in an instance of this type, but
// not all members are in the same instance. Returns `levels` if there is no such type.
int dividing_level(const std::vector<Member> &members) {
    auto wanting = std::find_if(members.begin(), members.end(), [](const Member &m) { return m.wants(); });
    for (int level = 0; level < levels; ++level) {
        bool some =
            std::any_of(members.begin(), members.end(), [&](const Member &m) { return m.within(level); });
        bool all = std::all_of(members.begin(), members.end(), [&](const Member &m) {
            return !m.wants() || m.together_with(*wanting, level);
        });
        if (some && !all) return level;
    }
    return levels;
}

// True if both members belong to the same new communicator.
bool share(const Member &first, const Member &second, int dividing) {
    auto level_of = [&](const Member &m) {
        return m.split_type == abi::comm_type_hw_unguided ? dividing : m.level;
    };
    if (level_of(first) < levels)
        return level_of(first) == level_of(second) && first.together_with(second, level_of(first));
    return first.processes != abi::undefined && first.processes == second.processes;
}

}  // namespace

Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made) {
    made = nullptr;
    switch (split_type) {
        case abi::undefined:
        case abi::comm_type_shared:
        case abi::comm_type_hw_unguided:
        case abi::comm_type_hw_guided:
        case abi::comm_type_resource_guided: break;
        default:
            return {ErrorClass::arg, std::to_string(split_type) + " is not one of the MPI_COMM_TYPE_ values"};
    }
    std::vector<Member> members(static_cast<size_t>(parent.team.size));
    members[static_cast<size_t>(parent.team.index)] = own_member(parent, split_type, key, info);
    if (Error error = tell_all(parent, CollectiveKind::comm_split_type, members.data(), sizeof(Member)))
        return error;
    int dividing = dividing_level(members);
    const Member &own = members[static_cast<size_t>(parent.team.index)];
    std::vector<Wish> wishes;  // one color suffices, because each member needs only its own group
    for (const Member &member : members) {
        wishes.push_back(member.wish);
        if (share(own, member, dividing)) wishes.back().color = 0;
    }
    Error error = make_part(parent, wishes, made);
    if (error || !made || !info) return error;
    error = set_hints(*made, info);
    if (!error && split_type == abi::comm_type_hw_unguided)
        error = info->set(resource_key, name_of_level(dividing));
    if (error) release_comm(std::exchange(made, nullptr));
    return error;
}

}  // namespace lanyard
