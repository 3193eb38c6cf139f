// Calls operations that need no other rank. Compares groups with lists of ranks, info objects with a map, and
// packing with a plain copy. Also makes calls that must fail.
#include <algorithm>
#include <numeric>

#include "world.h"

namespace random_calls {

namespace {

using Ranks = std::vector<int>;

bool holds(const Ranks &ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// A group, and its members as ranks in MPI_COMM_WORLD.
struct Group {
    MPI_Group handle;
    Ranks members;
};

class Groups {
public:
    explicit Groups(World &world) : world_(world) {
        Group all{MPI_GROUP_NULL, Ranks(static_cast<size_t>(world.size))};
        MPI_Comm_group(MPI_COMM_WORLD, &all.handle);
        std::iota(all.members.begin(), all.members.end(), 0);
        groups_.push_back(all);
    }
    ~Groups() {
        for (Group &group : groups_)
            if (group.handle != MPI_GROUP_EMPTY) MPI_Group_free(&group.handle);
    }
    void step() {
        const Group a = world_.own.pick(groups_), b = world_.own.pick(groups_);
        Group made{MPI_GROUP_NULL, {}};
        switch (world_.own.below(5)) {
        case 0:
            MPI_Group_union(a.handle, b.handle, &made.handle);
            made.members = a.members;
            for (int rank : b.members)
                if (!holds(a.members, rank)) made.members.push_back(rank);
            break;
        case 1:
            MPI_Group_intersection(a.handle, b.handle, &made.handle);
            for (int rank : a.members)
                if (holds(b.members, rank)) made.members.push_back(rank);
            break;
        case 2:
            MPI_Group_difference(a.handle, b.handle, &made.handle);
            for (int rank : a.members)
                if (!holds(b.members, rank)) made.members.push_back(rank);
            break;
        case 3: some(a, made); break;
        default: ranges(a, made);
        }
        groups_.push_back(made);
        check_group(made, a);
    }

private:
    // Makes a group of some members in any order (MPI_Group_incl), or of all members except these
    // (MPI_Group_excl).
    void some(const Group &old, Group &made) {
        Ranks places(old.members.size());
        std::iota(places.begin(), places.end(), 0);
        for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[world_.own.below(i)]);
        places.resize(world_.own.below(places.size() + 1));
        bool without = world_.own.chance(50);
        int count = static_cast<int>(places.size());
        if (without) MPI_Group_excl(old.handle, count, places.data(), &made.handle);
        else MPI_Group_incl(old.handle, count, places.data(), &made.handle);
        for (int place : places)
            if (!without) made.members.push_back(old.members[static_cast<size_t>(place)]);
        for (int i = 0; without && i < static_cast<int>(old.members.size()); ++i)
            if (!holds(places, i)) made.members.push_back(old.members[static_cast<size_t>(i)]);
    }
    // Takes a range of members, all or one in two of them, upwards or downwards (MPI_Group_range_incl). Or
    // takes all members except these (MPI_Group_range_excl).
    void ranges(const Group &old, Group &made) {
        int size = static_cast<int>(old.members.size()), triple[1][3] = {{0, 0, 1}};
        bool without = world_.own.chance(50);
        Ranks places;
        if (size > 0) {
            int first = below(world_.own, size), last = below(world_.own, size);
            int step = between(world_.own, 1, 2) * (last < first ? -1 : 1);
            triple[0][0] = first, triple[0][1] = last, triple[0][2] = step;
            for (int place = first; step > 0 ? place <= last : place >= last; place += step)
                places.push_back(place);
        }
        if (without) MPI_Group_range_excl(old.handle, size > 0, triple, &made.handle);
        else MPI_Group_range_incl(old.handle, size > 0, triple, &made.handle);
        if (without) {
            for (int i = 0; i < size; ++i)
                if (!holds(places, i)) made.members.push_back(old.members[static_cast<size_t>(i)]);
        } else {
            for (int place : places) made.members.push_back(old.members[static_cast<size_t>(place)]);
        }
    }
    void check_group(const Group &made, const Group &other) {
        int size = -1, rank = -1, result = -1;
        MPI_Group_size(made.handle, &size);
        MPI_Group_rank(made.handle, &rank);
        auto place = std::find(made.members.begin(), made.members.end(), world_.rank);
        check(size == static_cast<int>(made.members.size()), "a group has a wrong size");
        check(rank == (place == made.members.end() ? MPI_UNDEFINED : place - made.members.begin()),
              "a group has a wrong rank");
        Ranks places(made.members.size()), there(made.members.size()), wanted;
        std::iota(places.begin(), places.end(), 0);
        MPI_Group_translate_ranks(made.handle, size, places.data(), other.handle, there.data());
        for (int member : made.members) {
            auto found = std::find(other.members.begin(), other.members.end(), member);
            wanted.push_back(found == other.members.end() ? MPI_UNDEFINED
                                                          : static_cast<int>(found - other.members.begin()));
        }
        check(there == wanted, "MPI_Group_translate_ranks gave wrong ranks");
        MPI_Group_compare(made.handle, other.handle, &result);
        bool similar = std::is_permutation(made.members.begin(), made.members.end(), other.members.begin(),
                                           other.members.end());
        check(result == (made.members == other.members ? MPI_IDENT
                         : similar                     ? MPI_SIMILAR
                                                       : MPI_UNEQUAL),
              "MPI_Group_compare is wrong");
    }

    World &world_;
    std::vector<Group> groups_;
};

void check_info(MPI_Info info, const std::map<std::string, std::string> &wanted) {
    int count = -1;
    MPI_Info_get_nkeys(info, &count);
    check(count == static_cast<int>(wanted.size()), "an info has a wrong number of keys");
    for (int i = 0; i < count; ++i) {
        char key[MPI_MAX_INFO_KEY + 1], value[64];
        int room = sizeof value, found = 0;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &room, value, &found);
        check(found && wanted.count(key) && wanted.at(key) == value, "an info has a wrong value");
        check(room == static_cast<int>(wanted.at(key).size()) + 1, "an info tells a wrong length");
    }
}

}  // namespace

void compute_groups(World &world) {
    Groups groups(world);
    for (int i = 0; i < 12; ++i) groups.step();
}

void change_infos(World &world) {
    std::map<std::string, std::string> wanted;
    MPI_Info info, copy;
    MPI_Info_create(&info);
    for (int i = 0; i < 20; ++i) {
        std::string key = "key " + std::to_string(world.own.below(6));
        if (world.own.chance(30) && wanted.erase(key)) {
            MPI_Info_delete(info, key.c_str());
        } else {
            wanted[key] = std::string(1 + world.own.below(40), 'x') + std::to_string(i);
            MPI_Info_set(info, key.c_str(), wanted[key].c_str());
        }
        check_info(info, wanted);
    }
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    check_info(copy, wanted);
    MPI_Info_free(&copy);
}

// Packs elements from one layout in several calls, and unpacks them into another layout.
void pack_and_unpack(World &world) {
    Random &own = world.own;
    Signature signature = random_signature(own, 10);
    TypePointer from = random_type(own, signature), to = random_type(own, signature);
    int count = below(own, 30), parts = between(own, 1, 3), place = 0, bytes = 0;
    Content content{own.next()};
    std::vector<std::byte> packed;
    bool has_long = std::any_of(signature.begin(), signature.end(),
                                [](const Basic *basic) { return basic->handle == MPI_LONG; });
    bool external = !has_long && own.chance(50);  // MPI_LONG is shorter in external32 than in memory
    MPI_Aint external_bytes = 0, external_place = 0;
    MPI_Pack_size(count, from->handle, MPI_COMM_WORLD, &bytes);
    MPI_Pack_external_size("external32", count, from->handle, &external_bytes);
    packed.resize(static_cast<size_t>(parts) * static_cast<size_t>(external ? external_bytes : bytes) + 1);
    int room = static_cast<int>(packed.size());
    for (int i = 0; i < parts; ++i) {
        Area area(own, from, count);
        area.put(0, content, static_cast<size_t>(i) * area.elements(0));
        if (external)
            MPI_Pack_external("external32", area.address(), count, from->handle, packed.data(), room,
                              &external_place);
        else MPI_Pack(area.address(), count, from->handle, packed.data(), room, &place, MPI_COMM_WORLD);
        area.check_it("what is packed");
    }
    // By definition, external32 stores each number with the most significant byte first. Each number has the
    // same size there as in memory, because MPI_LONG is excluded.
    if (external) {
        std::vector<std::byte> wanted(packed.size());
        size_t element = 0, at = 0;
        for (int i = 0; i < parts * count; ++i)
            for (const Basic *basic : signature) {
                content.write(wanted.data() + at, element++, basic->bytes);
                size_t halves = basic->handle == MPI_C_DOUBLE_COMPLEX ? 2 : 1,
                       size = static_cast<size_t>(basic->bytes) / halves;
                for (size_t half = 0; half < halves; ++half, at += size)
                    std::reverse(&wanted[at], &wanted[at] + size);
            }
        check(
            external_place == static_cast<MPI_Aint>(at) && std::memcmp(packed.data(), wanted.data(), at) == 0,
            "external32 is not as it is defined");
    }
    Area area(own, to, parts * count);
    place = 0, external_place = 0;
    if (external)
        MPI_Unpack_external("external32", packed.data(), room, &external_place, area.address(), parts * count,
                            to->handle);
    else MPI_Unpack(packed.data(), room, &place, area.address(), parts * count, to->handle, MPI_COMM_WORLD);
    area.expect(0, content);
    area.check_it("what is unpacked");
}

void make_errors(World &world) {
    Comm &comm = world.comms[0];
    int value = 0, size = comm.size();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype raw;
    MPI_Type_contiguous(3, MPI_INT, &raw);
    MPI_Comm_set_errhandler(comm.handle, MPI_ERRORS_RETURN);
    switch (world.own.below(9)) {
    case 0: check_class(MPI_Send(&value, 1, MPI_INT, size, 0, comm.handle), MPI_ERR_RANK); break;
    case 1: check_class(MPI_Isend(&value, -1, MPI_INT, 0, 0, comm.handle, &request), MPI_ERR_COUNT); break;
    case 2: check_class(MPI_Irecv(&value, 1, MPI_INT, 0, -7, comm.handle, &request), MPI_ERR_TAG); break;
    case 3: check_class(MPI_Bcast(&value, 1, MPI_INT, size + 3, comm.handle), MPI_ERR_ROOT); break;
    case 4: check_class(MPI_Send(&value, 1, raw, 0, 0, comm.handle), MPI_ERR_TYPE); break;
    case 5:
        check_class(MPI_Allreduce(&value, &size, 1, MPI_DATATYPE_NULL, MPI_SUM, comm.handle), MPI_ERR_TYPE);
        break;
    case 6:
        check_class(MPI_Iallreduce(&value, &size, 1, MPI_INT, MPI_OP_NULL, comm.handle, &request),
                    MPI_ERR_OP);
        break;
    case 7:
        check_class(MPI_Recv_init(&value, 1, MPI_INT, size, 0, comm.handle, &request), MPI_ERR_RANK);
        break;
    default: check_class(MPI_Comm_get_attr(comm.handle, MPI_KEYVAL_INVALID, &value, &size), MPI_ERR_KEYVAL);
    }
    MPI_Comm_set_errhandler(comm.handle, world.handler);
    MPI_Type_free(&raw);
    check(request == MPI_REQUEST_NULL, "a call that failed left a request");
}

}  // namespace random_calls
