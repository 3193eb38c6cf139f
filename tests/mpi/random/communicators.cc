// Creates, duplicates, splits and frees communicators, and sets and deletes their attributes. Each
// communicator has a list of its members (world.h), with which the results are compared.
#include <algorithm>
#include <numeric>

#include "world.h"

namespace random_calls {

namespace {

constexpr size_t most_comms = 12;
// The number of attribute values on communicators of this thread, as counted by the callbacks.
thread_local long living_attributes = 0;

int add_one(MPI_Comm, int, void *, void *value, void *copy, int *flag) {
    *static_cast<void **>(copy) = reinterpret_cast<void *>(reinterpret_cast<long>(value) + 1);
    *flag = 1;
    ++living_attributes;
    return MPI_SUCCESS;
}

int count_deleted(MPI_Comm, int, void *, void *) {
    --living_attributes;
    return MPI_SUCCESS;
}

void check_attributes(const World &world, const Comm &comm) {
    for (size_t key = 0; key < world.keys.size(); ++key) {
        void *value = nullptr;
        int found = 0;
        MPI_Comm_get_attr(comm.handle, world.keys[key], &value, &found);
        auto wanted = comm.attributes.find(key);
        check(found == (wanted != comm.attributes.end()), "an attribute is there, or not, as it must not be");
        if (found) check(reinterpret_cast<long>(value) == wanted->second, "an attribute has a wrong value");
    }
}

// Checks that the size, rank and group of the communicator agree with the list of its members.
void check_members(const World &world, const Comm &comm) {
    int place = world.place_in(comm);
    check((comm.handle != MPI_COMM_NULL) == (place >= 0), "a communicator has another member than it must");
    if (place < 0) return;
    check(rank_in(comm.handle) == place && size_of(comm.handle) == comm.size(),
          "a communicator has a wrong rank or size");
    MPI_Group all, group;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm.handle, &group);
    std::vector<int> places(comm.members.size()), members(comm.members.size());
    std::iota(places.begin(), places.end(), 0);
    MPI_Group_translate_ranks(group, comm.size(), places.data(), all, members.data());
    check(members == comm.members, "a communicator's members are in a wrong order");
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    check_attributes(world, comm);
}

void keep(World &world, Comm comm) {
    if (comm.members.empty()) return;
    if (comm.handle != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm.handle, world.handler);
    check_members(world, comm);
    world.comms.push_back(std::move(comm));
}

Comm duplicate(World &world, const Comm &parent) {
    Comm made{parent.members, MPI_COMM_NULL, {}};
    for (auto [key, value] : parent.attributes)
        if (key > 0) made.attributes[key] = value + (key == 2);
    int how = below(world.script, 3);
    if (parent.handle == MPI_COMM_NULL) return made;
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 0) MPI_Comm_dup(parent.handle, &made.handle);
    if (how == 1) MPI_Comm_dup_with_info(parent.handle, MPI_INFO_NULL, &made.handle);
    if (how == 2) MPI_Comm_idup(parent.handle, &made.handle, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return made;
}

void split(World &world, const Comm &parent) {
    struct Member {
        int color, key, rank;
    };
    std::vector<Member> members;
    for (int rank : parent.members)
        members.push_back({world.script.chance(15) ? MPI_UNDEFINED : below(world.script, 3),
                           between(world.script, -2, 2), rank});
    MPI_Comm mine = MPI_COMM_NULL;
    int place = world.place_in(parent), my_color = MPI_UNDEFINED;
    if (place >= 0) {
        my_color = members[static_cast<size_t>(place)].color;
        MPI_Comm_split(parent.handle, my_color, members[static_cast<size_t>(place)].key, &mine);
        check((mine == MPI_COMM_NULL) == (my_color == MPI_UNDEFINED),
              "MPI_Comm_split gave a communicator to a rank without a color");
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const Member &a, const Member &b) { return a.key < b.key; });
    for (int color = 0; color < 3; ++color) {
        Comm made;
        for (const Member &member : members)
            if (member.color == color) made.members.push_back(member.rank);
        if (my_color == color) made.handle = mine;
        keep(world, made);
    }
}

// Creates a communicator of some members in any order with MPI_Comm_create or MPI_Comm_create_group. The
// other members do not take part in MPI_Comm_create_group.
Comm create(World &world, const Comm &parent) {
    std::vector<int> places(parent.members.size());
    std::iota(places.begin(), places.end(), 0);
    for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[world.script.below(i)]);
    places.resize(world.script.below(places.size()) + 1);
    bool by_group = world.script.chance(50);
    Comm made;
    for (int place : places) made.members.push_back(parent.members[static_cast<size_t>(place)]);
    if (parent.handle == MPI_COMM_NULL || (by_group && world.place_in(made) < 0)) return made;
    MPI_Group all, some;
    MPI_Comm_group(parent.handle, &all);
    MPI_Group_incl(all, static_cast<int>(places.size()), places.data(), &some);
    if (by_group) MPI_Comm_create_group(parent.handle, some, 5, &made.handle);
    else MPI_Comm_create(parent.handle, some, &made.handle);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return made;
}

// Arranges the first members, in their order, as a grid that is a ring in the first dimension and a line in
// the second.
Comm arrange(World &world, const Comm &parent) {
    int rows = between(world.script, 1, parent.size()),
        columns = between(world.script, 1, parent.size() / rows);
    int sizes[] = {rows, columns}, rings[] = {1, 0};
    Comm made{{parent.members.begin(), parent.members.begin() + rows * columns}, MPI_COMM_NULL, {}};
    if (parent.handle != MPI_COMM_NULL) MPI_Cart_create(parent.handle, 2, sizes, rings, 0, &made.handle);
    return made;
}

}  // namespace

World::World(uint64_t seed_, MPI_Comm parent, MPI_Errhandler handler_)
    : seed(seed_), rank(rank_in(MPI_COMM_WORLD)), size(size_of(MPI_COMM_WORLD)), script(seed_),
      own(seed_ * 1000003 + static_cast<uint64_t>(rank) + 1), keys(3), handler(handler_) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[0], nullptr);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keys[1], nullptr);
    MPI_Comm_create_keyval(add_one, count_deleted, &keys[2], nullptr);
    Comm all;
    all.members.resize(static_cast<size_t>(size));
    std::iota(all.members.begin(), all.members.end(), 0);
    MPI_Comm_dup(parent, &all.handle);
    keep(*this, all);
}

World::~World() {
    finish_all(*this);
    while (!comms.empty()) free_communicator(*this, comms.size() - 1);
    check(living_attributes == 0, "an attribute was not deleted with its communicator");
    for (int &key : keys) MPI_Comm_free_keyval(&key);
}

int World::place_in(const Comm &comm) const {
    auto place = std::find(comm.members.begin(), comm.members.end(), rank);
    return place == comm.members.end() ? -1 : static_cast<int>(place - comm.members.begin());
}

void make_communicator(World &world) {
    if (world.comms.size() >= most_comms)
        return free_communicator(world, 1 + world.script.below(world.comms.size() - 1));
    const Comm parent = world.any_comm();
    switch (world.script.below(4)) {
    case 0: return keep(world, duplicate(world, parent));
    case 1: return split(world, parent);
    case 2: return keep(world, create(world, parent));
    default: return keep(world, arrange(world, parent));
    }
}

void free_communicator(World &world, size_t number) {
    Comm &comm = world.comms[number];
    if (comm.handle != MPI_COMM_NULL) {
        check_attributes(world, comm);
        // Operations may still be under way on the communicator. MPI_Comm_free then perhaps deletes the
        // attributes only when these operations end. So that they can be counted, the test deletes them
        // first.
        for (auto [key, value] : comm.attributes) MPI_Comm_delete_attr(comm.handle, world.keys[key]);
        MPI_Comm_free(&comm.handle);
        check(comm.handle == MPI_COMM_NULL, "MPI_Comm_free left a handle");
    }
    world.comms.erase(world.comms.begin() + static_cast<long>(number));
}

void change_attribute(World &world) {
    Comm &comm = world.any_comm();
    size_t key = world.script.below(world.keys.size());
    bool remove = comm.attributes.count(key) && world.script.chance(40);
    long value = static_cast<long>(world.script.below(1000));
    bool was_there = comm.attributes.count(key) > 0;
    if (remove) comm.attributes.erase(key);
    else comm.attributes[key] = value;
    if (comm.handle == MPI_COMM_NULL) return;
    long before = living_attributes;
    if (remove) MPI_Comm_delete_attr(comm.handle, world.keys[key]);
    else MPI_Comm_set_attr(comm.handle, world.keys[key], reinterpret_cast<void *>(value));
    // If a value is replaced, the old value is deleted as by MPI_Comm_delete_attr.
    if (key == 2)
        check(living_attributes == before - was_there,
              "the callback that deletes was not called just when it must");
    if (key == 2 && !remove) ++living_attributes;
    check_attributes(world, comm);
}

}  // namespace random_calls
