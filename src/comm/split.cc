// MPI_Comm_split and MPI_Comm_split_type: one gather and one spread of everybody's wish; what follows is the same
// computation at every member. The id of a new communicator comes with its rank 0's wish; only teams that share a node
// exchange a second message, for their part of the node memory, which only their rank 0 can allocate.
#include <algorithm>
#include <numeric>

#include "comm/create.h"

namespace lanyard {
namespace {

struct Wish {
    int32_t color = abi::undefined;
    int32_t key = 0;
    uint64_t context = 0;  // in case this becomes rank 0
    int32_t processors = 0;
    int32_t unused = 0;
};

Meeting meeting_of_all(Comm &parent) {
    Meeting meeting{parent.context | creation_bit, 0, parent.group->peers, {}, parent.rank};
    meeting.tag = static_cast<int32_t>(parent.creations++ & INT32_MAX);
    meeting.names.resize(meeting.peers.size());
    std::iota(meeting.names.begin(), meeting.names.end(), 0);
    return meeting;
}

// After this every member has the wishes of all.
Error exchange_wishes(Comm &parent, std::vector<Wish> &wishes) {
    Universe &universe = *parent.universe;
    Meeting meeting = meeting_of_all(parent);
    Relay up(universe.messenger), down(universe.messenger);
    up.plan_gather(meeting, wishes.data(), sizeof(Wish));
    down.plan_spread(meeting, wishes.data(), sizeof(Wish) * wishes.size());
    if (Error error = run(up, universe.engine)) return error;
    return run(down, universe.engine);
}

// The ranks in the parent of those with my color, in the order of the new communicator.
std::vector<int> members_with(int color, const std::vector<Wish> &wishes) {
    std::vector<int> ranks;
    for (size_t rank = 0; rank < wishes.size(); ++rank)
        if (wishes[rank].color == color) ranks.push_back(static_cast<int>(rank));
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
        return wishes[static_cast<size_t>(a)].key < wishes[static_cast<size_t>(b)].key;
    });
    return ranks;
}

// The node memory for a team that has its id already: its rank 0 allocates and tells.
Error share_area(Universe &universe, const Meeting &meeting, Birth &birth) {
    uint64_t context = birth.context;
    if (meeting.own == 0) birth = give_birth(universe, meeting.peers);
    birth.context = context;
    Relay relay(universe.messenger);
    relay.plan_spread(meeting, &birth, sizeof birth);
    return run(relay, universe.engine);
}

}  // namespace

Error split_comm(Comm &parent, int color, int key, Comm *&made) {
    Universe &universe = *parent.universe;
    made = nullptr;
    std::vector<Wish> wishes(static_cast<size_t>(parent.size));
    wishes[static_cast<size_t>(parent.rank)] = {color, key, universe.new_context(), universe.processors, 0};
    if (Error error = exchange_wishes(parent, wishes)) return error;
    Meeting meeting{parent.context | creation_bit, 0, {}, {}, 0};
    meeting.tag = static_cast<int32_t>(parent.creations++ & INT32_MAX);  // at all members, though not all need it
    if (color == abi::undefined) return {};

    meeting.names = members_with(color, wishes);
    for (int rank : meeting.names) meeting.peers.push_back(parent.group->peers[static_cast<size_t>(rank)]);
    Group *group = make_group(universe, meeting.peers);
    made = group ? make_comm(universe, group, *parent.errhandler) : nullptr;
    if (!made) {
        release_group(group);
        return {ErrorClass::no_mem, "there is no memory left for another communicator"};
    }
    meeting.own = group->rank;
    const Wish &first = wishes[static_cast<size_t>(meeting.names[0])];
    Birth birth{first.context, no_node_offset, first.processors};
    Error error;
    if (universe.node_memory && made->size > 1 && universe.share_node(meeting.peers)) error = share_area(universe, meeting, birth);
    accept_birth(*made, birth);
    if (error) {
        release_comm(made);
        made = nullptr;
    }
    return error;
}

namespace {

constexpr const char *resource_key = "mpi_hw_resource_type", *node_resource = "mpi_shared_memory";

// The color that stands for "those on my node": the smallest rank of the parent among them.
int color_of_node(const Comm &parent) {
    for (int rank = 0; rank < parent.size; ++rank)
        if (parent.universe->on_my_node(parent.peers[rank])) return rank;
    return abi::undefined;
}

// MPI_COMM_TYPE_HW_GUIDED and RESOURCE_GUIDED: by what the info asks for. What is not known gives no communicator.
int color_of_resource(const Comm &parent, int split_type, const Info *info) {
    std::string value;
    bool found = false;
    if (!info) return abi::undefined;
    info->get(resource_key, value, found).discard();
    if (found) return value == node_resource ? color_of_node(parent) : abi::undefined;
    if (split_type != abi::comm_type_resource_guided) return abi::undefined;
    info->get("mpi_pset_name", value, found).discard();
    if (found && value == "mpi://WORLD") return 0;
    if (found && value == "mpi://SELF") return parent.rank;
    return abi::undefined;
}

}  // namespace

Error split_comm_by_type(Comm &parent, int split_type, int key, Info *info, Comm *&made) {
    const Universe &universe = *parent.universe;
    int color = abi::undefined;
    switch (split_type) {
        case abi::undefined: break;
        case abi::comm_type_shared: color = color_of_node(parent); break;
        case abi::comm_type_hw_unguided:
            // A strict subset is asked for; below the node the library knows no further level.
            if (!universe.share_node(parent.group->peers)) color = color_of_node(parent);
            break;
        case abi::comm_type_hw_guided:
        case abi::comm_type_resource_guided: color = color_of_resource(parent, split_type, info); break;
        default: return {ErrorClass::arg, std::to_string(split_type) + " is not one of the MPI_COMM_TYPE_ values"};
    }
    Error error = split_comm(parent, color, key, made);
    if (!error && made && info && split_type == abi::comm_type_hw_unguided) error = info->set(resource_key, node_resource);
    return error;
}

}  // namespace lanyard
