// Tests every way to create a communicator. The tests check which processes belong to the communicator and in
// which order, that its messages are separate from others, and that it can be freed.
#include "check.h"

#include <sched.h>

#include <algorithm>
#include <vector>

namespace {

int compare(MPI_Comm a, MPI_Comm b) {
    int result;
    MPI_Comm_compare(a, b, &result);
    return result;
}

void duplicates() {
    MPI_Comm copy, copy_of_copy, self_copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(copy, &copy_of_copy);
    MPI_Comm_dup(MPI_COMM_SELF, &self_copy);
    check_equal(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
    check_equal(compare(MPI_COMM_WORLD, copy), MPI_CONGRUENT);
    check_equal(compare(copy, copy_of_copy), MPI_CONGRUENT);
    check_equal(compare(self_copy, MPI_COMM_SELF), MPI_CONGRUENT);
    use(copy);
    MPI_Comm_free(&copy);
    check(copy == MPI_COMM_NULL);
    use(copy_of_copy);
    use(self_copy);
    MPI_Comm_free(&copy_of_copy);
    MPI_Comm_free(&self_copy);

    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "lanyard_no_such_hint", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
    MPI_Info_free(&info);
    use(copy);
    MPI_Comm_get_info(copy, &info);
    int found;
    char value[8];
    MPI_Info_get(info, "lanyard_no_such_hint", 7, value, &found);
    MPI_Info_free(&info);
    MPI_Comm_free(&copy);
}

// Rank 0 sends a message on a new communicator at once. The message may arrive before the last rank has
// created the communicator.
void early_messages() {
    MPI_Comm copy;
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; i < 20 && size > 1; ++i) {
        MPI_Comm next;
        MPI_Comm_dup(copy, &next);
        if (rank == 0) MPI_Send(&i, 1, MPI_INT, size - 1, i, next);
        if (rank == size - 1) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, 0, i, next, MPI_STATUS_IGNORE);
            check_equal(got, i);
        }
        MPI_Comm_free(&copy);
        copy = next;
    }
    MPI_Comm_free(&copy);
}

void nonblocking_duplicates() {
    constexpr int count = 5;
    MPI_Comm copies[count];
    MPI_Request requests[count];
    for (int i = 0; i < count - 1; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copies[count - 1], &requests[count - 1]);
    use(MPI_COMM_WORLD);  // other traffic meanwhile
    MPI_Status status;
    MPI_Wait(&requests[count - 1], &status);
    check(requests[count - 1] == MPI_REQUEST_NULL);
    MPI_Waitall(count - 1, requests, MPI_STATUSES_IGNORE);
    for (MPI_Comm &copy : copies) {
        check_equal(compare(copy, MPI_COMM_WORLD), MPI_CONGRUENT);
        use(copy);
        MPI_Comm_free(&copy);
    }
    // MPI_Test completes the requests, and the original communicator is freed before the copy is used.
    for (int done = 0, i = 0; i < 3; ++i, done = 0) {
        MPI_Comm base, copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &base);
        MPI_Comm_idup(base, &copy, &requests[0]);
        while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        MPI_Comm_free(&base);
        use(copy);
        MPI_Comm_free(&copy);
    }
}

void splits() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, 3, -rank, &part);  // all ranks in reverse order
    check_equal(rank_in(part), size - 1 - rank);
    check_equal(compare(part, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    use(part);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 5, &part);  // equal keys keep the order
    check_equal(rank_in(part), rank / 2);
    check_equal(size_of(part), (size - rank % 2 + 1) / 2);
    if (size > 2) check_equal(compare(part, MPI_COMM_WORLD), MPI_UNEQUAL);
    use(part);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 2147483647, rank, &part);
    check((part == MPI_COMM_NULL) == (rank == 0));
    if (rank != 0) {
        check_equal(size_of(part), size - 1);
        use(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &part);
    check(part == MPI_COMM_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &part);
    check_equal(size_of(part), 1);
    use(part);
    MPI_Comm_free(&part);
}

// Each rank binds itself to one processor. Ranks on the same processor are in the same part.
void by_processor(MPI_Info info) {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    std::vector<int> processors;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &before)) processors.push_back(i);
    int own = processors[static_cast<size_t>(rank_in(MPI_COMM_WORLD)) % processors.size()];
    CPU_ZERO(&one);
    CPU_SET(own, &one);
    sched_setaffinity(0, sizeof one, &one);
    MPI_Comm node, part;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://PU");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
    check(part != MPI_COMM_NULL);
    std::vector<int> on_node(static_cast<size_t>(size_of(node))),
        together(static_cast<size_t>(size_of(part)));
    MPI_Allgather(&own, 1, MPI_INT, on_node.data(), 1, MPI_INT, node);
    MPI_Allgather(&own, 1, MPI_INT, together.data(), 1, MPI_INT, part);
    check_equal(std::count(together.begin(), together.end(), own),
                static_cast<std::ptrdiff_t>(together.size()));
    check_equal(std::count(on_node.begin(), on_node.end(), own),
                static_cast<std::ptrdiff_t>(together.size()));
    MPI_Comm_free(&part);
    MPI_Comm_free(&node);
    sched_setaffinity(0, sizeof before, &before);
}

// Splits the world repeatedly into smaller parts of the machine, until no part is left. A rank that is in no
// part stops, and the other ranks continue.
void by_ever_smaller_parts() {
    MPI_Comm whole;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &whole);
    MPI_Info_create(&info);
    std::vector<std::string> seen;
    while (whole != MPI_COMM_NULL) {
        MPI_Comm part;
        MPI_Comm_split_type(whole, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
        if (part != MPI_COMM_NULL) {
            char name[64];
            int length = sizeof name, found;
            MPI_Info_get_string(info, "mpi_hw_resource_type", &length, name, &found);
            check(found && std::find(seen.begin(), seen.end(), name) == seen.end(),
                  "the part is not called what it is, or was before");
            seen.push_back(name);
            check(size_of(part) < size_of(whole), "the part is not smaller");
            use(part);
        }
        MPI_Comm_free(&whole);
        whole = part;
    }
    MPI_Info_free(&info);
}

MPI_Comm split_by(const char *key, const char *value) {
    MPI_Info info;
    MPI_Comm part;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    check_equal(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part),
                MPI_SUCCESS);
    MPI_Info_free(&info);
    return part;
}

void check_congruent(MPI_Comm part, MPI_Comm wanted) {
    check(part != MPI_COMM_NULL);
    check_equal(compare(part, wanted), MPI_CONGRUENT);
    use(part);
    MPI_Comm_free(&part);
}

// Splits by the name of a process set or of a hardware resource.
void by_resource() {
    int rank = rank_in(MPI_COMM_WORLD);
    check_congruent(split_by("mpi_pset_name", "mpi://WORLD"), MPI_COMM_WORLD);
    check_congruent(split_by("mpi_pset_name", "mpi://SELF"), MPI_COMM_SELF);
    // Process set names are URIs, in which the case of letters does not matter.
    check_congruent(split_by("mpi_pset_name", "MPI://self"), MPI_COMM_SELF);
    check(split_by("mpi_pset_name", "mpi://nobody") == MPI_COMM_NULL);
    check(split_by("mpi_hw_resource_type", "no such resource") == MPI_COMM_NULL);
    MPI_Comm part, node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, MPI_INFO_NULL, &part);
    check(part == MPI_COMM_NULL, "nothing to split by was given");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    check_congruent(split_by("mpi_hw_resource_type", "mpi_shared_memory"), node);
    MPI_Comm_free(&node);
    // All ranks that gave the same name are in one part.
    part = split_by("mpi_pset_name", rank == 0 ? "mpi://SELF" : "mpi://WORLD");
    check_equal(size_of(part), rank == 0 ? 1 : size_of(MPI_COMM_WORLD) - 1);
    use(part);
    MPI_Comm_free(&part);
}

void splits_by_type() {
    int rank = rank_in(MPI_COMM_WORLD);
    MPI_Comm node, part;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &node);
    check(node != MPI_COMM_NULL && size_of(node) <= size_of(MPI_COMM_WORLD));
    use(node);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &part);
    check((part == MPI_COMM_NULL) == (rank % 2 == 1));
    if (part != MPI_COMM_NULL) {
        use(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &part);
    check(part == MPI_COMM_NULL);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
    check(part != MPI_COMM_NULL);
    use(part);
    MPI_Comm_free(&part);
    by_processor(info);
    by_ever_smaller_parts();
    by_resource();
    MPI_Info_set(info, "mpi_hw_resource_type", "no such resource");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
    check(part == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

// Returns the even or the odd ranks, in reverse order.
MPI_Group half_of(MPI_Group all, int parity, int size) {
    std::vector<int> ranks;
    for (int rank = size - 1; rank >= 0; --rank)
        if (rank % 2 == parity) ranks.push_back(rank);
    MPI_Group half;
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &half);
    return half;
}

void check_members(MPI_Comm comm, MPI_Group wanted) {
    MPI_Group group;
    int result;
    MPI_Comm_group(comm, &group);
    MPI_Group_compare(group, wanted, &result);
    check_equal(result, MPI_IDENT);
    MPI_Group_free(&group);
    use(comm);
}

void from_groups() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group mine = half_of(all, rank % 2, size), even = half_of(all, 0, size);
    MPI_Comm made;

    MPI_Comm_create(MPI_COMM_WORLD, even, &made);
    check((made == MPI_COMM_NULL) == (rank % 2 == 1));
    if (made != MPI_COMM_NULL) {
        check_members(made, even);
        MPI_Comm_free(&made);
    }
    MPI_Comm_create(MPI_COMM_WORLD, mine, &made);  // each rank passes a group of its own half
    check_members(made, mine);
    MPI_Comm_free(&made);
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &made);
    check(made == MPI_COMM_NULL);

    if (rank % 2 == 0) {  // the odd ranks do not take part
        for (int tag : {0, 5, 32767}) {
            MPI_Comm_create_group(MPI_COMM_WORLD, even, tag, &made);
            check_members(made, even);
            MPI_Comm_free(&made);
        }
    }
    for (const char *tag : {"org.lanyard.a", "org.lanyard.b", "org.lanyard.a"}) {
        MPI_Comm_create_from_group(mine, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
        check_members(made, mine);
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(made, &handler);
        check(handler == MPI_ERRORS_RETURN);
        MPI_Comm_free(&made);
    }
    for (MPI_Group *group : {&all, &mine, &even}) MPI_Group_free(group);
}

// Neighbours create communicators one after the other, always from the same parent and with the same tag.
void overlapping_groups() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int first = 0; first + 1 < size; ++first) {
        if (rank != first && rank != first + 1) continue;
        int pair[] = {first + 1, first};
        MPI_Group group;
        MPI_Comm made;
        MPI_Group_incl(all, 2, pair, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &made);
        check_members(made, group);
        MPI_Comm_free(&made);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&all);
}

// Creates more communicators than a table of fixed size could hold: 2,000 in succession, and 200 at once.
void many() {
    for (int i = 0; i < 2000; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
    }
    std::vector<MPI_Comm> copies(200);
    for (MPI_Comm &copy : copies) MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    use(copies.front());
    use(copies.back());
    for (MPI_Comm &copy : copies) MPI_Comm_free(&copy);
}

// A communicator may be freed while operations still use it.
void freed_while_used() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), got = -1;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, copy, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, copy, &requests[1]);
    MPI_Comm_free(&copy);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_equal(got, (rank + size - 1) % size);
}

void names() {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    check(std::string(name) == "MPI_COMM_WORLD" && length == 14);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    check(std::string(name) == "MPI_COMM_SELF");
    MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
    check(std::string(name) == "MPI_COMM_NULL");
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_name(copy, name, &length);
    check(length == 0 && name[0] == 0, "a copy has no name");
    MPI_Comm_set_name(copy, "mine");
    MPI_Comm_get_name(copy, name, &length);
    check(std::string(name) == "mine" && length == 4);
    MPI_Comm_free(&copy);
    int inter = -1;
    MPI_Comm_test_inter(MPI_COMM_WORLD, &inter);
    check_equal(inter, 0);
}

// All ranks disconnect the communicator while operations on it are under way. MPI_Waitall must still complete
// them.
void disconnected() {
    MPI_Comm comm, two_groups;
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), received = -1;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, 3, comm, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, comm, &requests[1]);
    check_equal(MPI_Comm_disconnect(&comm), MPI_SUCCESS);
    check(comm == MPI_COMM_NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_equal(received, (rank + size - 1) % size);
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
        MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 1 - rank % 2, 4, &two_groups);
        check_equal(MPI_Comm_disconnect(&two_groups), MPI_SUCCESS);
        check_equal(MPI_Comm_disconnect(&comm), MPI_SUCCESS);
        check(comm == MPI_COMM_NULL && two_groups == MPI_COMM_NULL);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_class(MPI_Comm_disconnect(&world), MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_disconnect(&comm);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    duplicates();
    early_messages();
    nonblocking_duplicates();
    splits();
    splits_by_type();
    from_groups();
    overlapping_groups();
    many();
    freed_while_used();
    names();
    disconnected();
    MPI_Finalize();
}
