// Tests intercommunicators: they are created in each way, from groups of any sizes, used for messages,
// copied, split, merged and compared. Wrong calls are tested too.
#include "check.h"

#include <algorithm>
#include <vector>

namespace {

int rank, size;

int remote_size(MPI_Comm comm) {
    int remote = -1;
    check_equal(MPI_Comm_remote_size(comm, &remote), MPI_SUCCESS);
    return remote;
}

// Returns the members of a group as ranks in MPI_COMM_WORLD.
std::vector<int> members(MPI_Group group) {
    int count = 0;
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &count);
    std::vector<int> ranks(static_cast<size_t>(count)), in_world(ranks);
    for (int i = 0; i < count; ++i) ranks[static_cast<size_t>(i)] = i;
    MPI_Group_translate_ranks(group, count, ranks.data(), world, in_world.data());
    MPI_Group_free(&world);
    return in_world;
}

std::vector<int> local_members(MPI_Comm comm) {
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    std::vector<int> ranks = members(group);
    MPI_Group_free(&group);
    return ranks;
}

std::vector<int> remote_members(MPI_Comm comm) {
    MPI_Group group;
    check_equal(MPI_Comm_remote_group(comm, &group), MPI_SUCCESS);
    std::vector<int> ranks = members(group);
    MPI_Group_free(&group);
    return ranks;
}

// Checks that the communicator connects these two groups, and that each rank of one group can send a message
// to each rank of the other.
void check_inter(MPI_Comm comm, const std::vector<int> &own, const std::vector<int> &other,
                 const std::source_location &where = std::source_location::current()) {
    int inter = -1;
    MPI_Comm_test_inter(comm, &inter);
    check_equal(inter, 1, where);
    check(local_members(comm) == own, "another local group", where);
    check(remote_members(comm) == other, "another remote group", where);
    check_equal(size_of(comm), static_cast<int>(own.size()), where);
    check_equal(remote_size(comm), static_cast<int>(other.size()), where);
    check_equal(own[static_cast<size_t>(rank_in(comm))], rank, where);

    std::vector<MPI_Request> requests;
    std::vector<int> heard(other.size(), -1);
    for (size_t i = 0; i < other.size(); ++i) {
        MPI_Irecv(&heard[i], 1, MPI_INT, static_cast<int>(i), 3, comm, &requests.emplace_back());
        MPI_Isend(&rank, 1, MPI_INT, static_cast<int>(i), 3, comm, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    check(heard == other, "messages arrived from others", where);

    // With MPI_ANY_SOURCE, the source in the status is a rank of the remote group.
    for (int i = 0; i < static_cast<int>(other.size()); ++i)
        MPI_Isend(&rank, 1, MPI_INT, i, 4, comm, &requests[static_cast<size_t>(i)]);
    std::vector<bool> seen(other.size(), false);
    for (size_t i = 0; i < other.size(); ++i) {
        MPI_Status status;
        int number = -1;
        MPI_Probe(MPI_ANY_SOURCE, 4, comm, &status);
        MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, 4, comm, MPI_STATUS_IGNORE);
        auto source = static_cast<size_t>(status.MPI_SOURCE);
        check(source < other.size() && other[source] == number && !seen[source], "another source", where);
        seen[source] = true;
    }
    MPI_Waitall(static_cast<int>(other.size()), requests.data(), MPI_STATUSES_IGNORE);
}

std::vector<int> all_ranks(int begin, int end, int step = 1) {
    std::vector<int> ranks;
    for (int r = begin; step > 0 ? r < end : r > end; r += step) ranks.push_back(r);
    return ranks;
}

// An intercommunicator between the first `low` ranks of MPI_COMM_WORLD and the other ranks in reverse order.
// The leader of a group is its last rank if `last_leads`, otherwise its first rank.
struct Halves {
    std::vector<int> own, other;
    MPI_Comm local = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    bool in_low;

    Halves(int low, bool last_leads) : in_low(rank < low) {
        own = all_ranks(0, low);
        other = all_ranks(size - 1, low - 1, -1);
        if (!in_low) std::swap(own, other);
        MPI_Comm_split(MPI_COMM_WORLD, in_low, in_low ? rank : -rank, &local);
        int leader = last_leads ? size_of(local) - 1 : 0;
        int remote_leader = last_leads ? other.back() : other.front();
        bool leads = rank_in(local) == leader;
        check_equal(MPI_Intercomm_create(local, leader, leads ? MPI_COMM_WORLD : MPI_COMM_NULL,
                                         leads ? remote_leader : -1, 11, &inter),
                    MPI_SUCCESS);
    }
    ~Halves() {
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    Halves(const Halves &) = delete;
    Halves &operator=(const Halves &) = delete;
};

void made_of_two() {
    for (int low = 1; low < size; ++low)
        for (bool last_leads : {false, true}) {
            Halves halves(low, last_leads);
            check_inter(halves.inter, halves.own, halves.other);
        }
}

// Creating an intercommunicator must not receive a message of the program that has the same tag.
void beside_messages() {
    int number = -1;
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 11, MPI_COMM_WORLD, &request);
    {
        Halves halves(1, false);
        check_inter(halves.inter, halves.own, halves.other);
    }
    MPI_Recv(&number, 1, MPI_INT, (rank + size - 1) % size, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_equal(number, (rank + size - 1) % size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Creates a ring of three groups, as in the standard's example. Each group is connected with the next and the
// previous group. Group 0 begins with the next group, and the other two groups begin with the previous group.
void ring_of_three() {
    if (size < 3) return;
    int color = rank % 3;
    MPI_Comm local, with[2];
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &local);
    int below = (color + 2) % 3, above = (color + 1) % 3;
    auto join = [&](int other, int tag, MPI_Comm *made) {
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other, tag, made);
    };
    // Groups 0 and 1 are connected first, then groups 1 and 2, and last groups 2 and 0.
    if (color == 0) {
        join(above, 1, &with[1]);
        join(below, 3, &with[0]);
    } else if (color == 1) {
        join(below, 1, &with[0]);
        join(above, 2, &with[1]);
    } else {
        join(below, 2, &with[0]);
        join(above, 3, &with[1]);
    }
    std::vector<int> own = all_ranks(color, size, 3);
    // Uses one pair of groups after the other, because in check_inter() a rank waits for messages from the
    // other group.
    auto use_pair = [&](int first) {
        if (color == first) check_inter(with[1], own, all_ranks(above, size, 3));
        if (color == (first + 1) % 3) check_inter(with[0], own, all_ranks(below, size, 3));
    };
    for (int first = 0; first < 3; ++first) use_pair(first);
    for (MPI_Comm *comm : {&with[0], &with[1], &local}) MPI_Comm_free(comm);
}

void made_of_groups() {
    MPI_Group world, group, other_group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> own = all_ranks(rank % 2, size, 2), other = all_ranks(1 - rank % 2, size, 2);
    MPI_Group_incl(world, static_cast<int>(own.size()), own.data(), &group);
    MPI_Group_incl(world, static_cast<int>(other.size()), other.data(), &other_group);
    int leader = static_cast<int>(own.size()) - 1, remote_leader = static_cast<int>(other.size()) - 1;
    bool leads = rank == own.back();
    MPI_Comm inter;
    for (int turn = 0; turn < 3; ++turn) {
        check_equal(MPI_Intercomm_create_from_groups(group, leader, leads ? other_group : MPI_GROUP_NULL,
                                                     leads ? remote_leader : -1, "org.example.inter",
                                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                    MPI_SUCCESS);
        check_inter(inter, own, other);
        // This error is returned, which shows that the communicator has the error handler passed above.
        check_class(MPI_Send(nullptr, 0, MPI_INT, remote_size(inter), 0, inter), MPI_ERR_RANK);
        MPI_Comm_free(&inter);
    }
    for (MPI_Group *each : {&group, &other_group, &world}) MPI_Group_free(each);
}

void copied() {
    Halves halves(size / 2, false);
    MPI_Comm_set_errhandler(halves.inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_name(halves.inter, "both");
    MPI_Comm copies[3];
    MPI_Request request;
    MPI_Comm_idup(halves.inter, &copies[0], &request);
    check_equal(MPI_Comm_dup(halves.inter, &copies[1]), MPI_SUCCESS);
    check_equal(MPI_Comm_dup_with_info(halves.inter, MPI_INFO_NULL, &copies[2]), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (MPI_Comm &copy : copies) {
        check_inter(copy, halves.own, halves.other);
        int same = -1;
        MPI_Comm_compare(copy, halves.inter, &same);
        check_equal(same, MPI_CONGRUENT);
        MPI_Comm_compare(copy, halves.local, &same);
        check_equal(same, MPI_UNEQUAL);
        // This error is returned, which shows that the copy has the error handler of the original.
        check_class(MPI_Send(nullptr, 0, MPI_INT, remote_size(copy), 0, copy), MPI_ERR_RANK);
        char name[MPI_MAX_OBJECT_NAME];
        int length = -1;
        MPI_Comm_get_name(copy, name, &length);
        check_equal(length, 0);
        MPI_Comm_free(&copy);
    }
    int same = -1;
    MPI_Comm_compare(halves.inter, halves.inter, &same);
    check_equal(same, MPI_IDENT);
}

void divided() {
    Halves halves(size / 2, true);
    const std::vector<int> &own = halves.own, &other = halves.other;
    MPI_Comm part;
    // Splits by the parity of the rank. A rank gets no communicator if no rank of the other group has its
    // parity.
    int place = rank_in(halves.inter);
    check_equal(MPI_Comm_split(halves.inter, place % 2, -place, &part), MPI_SUCCESS);
    auto those = [&](const std::vector<int> &group) {
        std::vector<int> some;
        for (int i = static_cast<int>(group.size()) - 1; i >= 0; --i)
            if (i % 2 == place % 2) some.push_back(group[static_cast<size_t>(i)]);
        return some;
    };
    check_equal(part == MPI_COMM_NULL, those(other).empty());
    if (part != MPI_COMM_NULL) {
        check_inter(part, those(own), those(other));
        MPI_Comm_free(&part);
    }
    check_equal(MPI_Comm_split(halves.inter, halves.in_low ? 0 : 1, 0, &part), MPI_SUCCESS);
    check(part == MPI_COMM_NULL, "a part with one group");
    check_equal(MPI_Comm_split(halves.inter, place == 0 ? 0 : MPI_UNDEFINED, 0, &part), MPI_SUCCESS);
    check_equal(part == MPI_COMM_NULL, place != 0);
    if (place == 0) {
        check_inter(part, {own[0]}, {other[0]});
        MPI_Comm_free(&part);
    }

    // If all ranks are on one node, both groups remain as they are.
    check_equal(MPI_Comm_split_type(halves.inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part),
                MPI_SUCCESS);
    if (part != MPI_COMM_NULL) {
        int same = -1;
        MPI_Comm_compare(part, halves.inter, &same);
        check(same == MPI_CONGRUENT || same == MPI_UNEQUAL);
        MPI_Comm_free(&part);
    }

    // Creates a communicator that contains only the last rank of each group.
    MPI_Group group, last;
    MPI_Comm_group(halves.inter, &group);
    int last_rank = static_cast<int>(own.size()) - 1;
    MPI_Group_incl(group, 1, &last_rank, &last);
    check_equal(MPI_Comm_create(halves.inter, last, &part), MPI_SUCCESS);
    check_equal(part == MPI_COMM_NULL, place != last_rank);
    if (part != MPI_COMM_NULL) {
        check_inter(part, {own.back()}, {other.back()});
        MPI_Comm_free(&part);
    }
    check_equal(MPI_Comm_create(halves.inter, halves.in_low ? group : MPI_GROUP_EMPTY, &part), MPI_SUCCESS);
    check(part == MPI_COMM_NULL, "made with an empty group");
    MPI_Group_free(&group);
    MPI_Group_free(&last);
}

void merged() {
    for (int low = 1; low < size; ++low) {
        Halves halves(low, false);
        MPI_Comm one;
        for (int high : {0, 1, 2, 3}) {
            bool own_high = halves.in_low ? high & 1 : high & 2,
                 other_high = halves.in_low ? high & 2 : high & 1;
            check_equal(MPI_Intercomm_merge(halves.inter, own_high, &one), MPI_SUCCESS);
            int inter = -1;
            MPI_Comm_test_inter(one, &inter);
            check_equal(inter, 0);
            std::vector<int> is = local_members(one), own_first = halves.own, other_first = halves.other;
            own_first.insert(own_first.end(), halves.other.begin(), halves.other.end());
            other_first.insert(other_first.end(), halves.own.begin(), halves.own.end());
            if (own_high == other_high) check(is == own_first || is == other_first, "another order");
            else check(is == (own_high ? other_first : own_first), "another order");
            use(one);
            MPI_Comm_free(&one);
        }
    }
}

void errors() {
    MPI_Comm comm, made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int number = 0;
    MPI_Group group;
    check_class(MPI_Comm_remote_size(comm, &number), MPI_ERR_COMM);
    check_class(MPI_Comm_remote_group(comm, &group), MPI_ERR_COMM);
    check_class(MPI_Intercomm_merge(comm, 0, &made), MPI_ERR_COMM);
    check_class(MPI_Intercomm_create(comm, size, comm, 0, 0, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(comm, -1, comm, 0, 0, &made), MPI_ERR_RANK);
    // An error that only the leader can find is reported on all ranks of its group.
    check_class(MPI_Intercomm_create(comm, 0, comm, size, 0, &made), MPI_ERR_RANK);
    // both groups would contain the same ranks
    check_class(MPI_Intercomm_create(comm, 0, comm, 0, 0, &made), MPI_ERR_GROUP);
    check_class(MPI_Intercomm_create(comm, 0, comm, 0, -3, &made), MPI_ERR_TAG);
    MPI_Comm_group(comm, &group);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_class(
        MPI_Intercomm_create_from_groups(group, 0, group, 0, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
        MPI_ERR_GROUP);
    check_class(MPI_Intercomm_create_from_groups(group, size, group, 0, "tag", MPI_INFO_NULL,
                                                 MPI_ERRORS_RETURN, &made),
                MPI_ERR_RANK);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    if (size > 1) {
        Halves halves(1, false);
        MPI_Comm_set_errhandler(halves.inter, MPI_ERRORS_RETURN);
        check_class(MPI_Intercomm_create(halves.inter, 0, comm, 0, 0, &made), MPI_ERR_COMM);
        check_class(MPI_Comm_create_group(halves.inter, group, 0, &made), MPI_ERR_COMM);
        check_class(MPI_Send(nullptr, 0, MPI_INT, remote_size(halves.inter), 0, halves.inter), MPI_ERR_RANK);
    }
    MPI_Group_free(&group);
    use(comm);
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    errors();
    if (size > 1) {
        made_of_two();
        beside_messages();
        ring_of_three();
        made_of_groups();
        copied();
        divided();
        merged();
    }
    MPI_Finalize();
    return 0;
}
