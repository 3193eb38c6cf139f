// Tests sessions without the world model: any number of them, nested, one after the other, and different
// numbers on different ranks. Also tests their groups and communicators, and what these inherit.
#include "session.h"

namespace {

void local_rounds() {
    for (int round = 0; round < 20; ++round) {
        MPI_Session session = begin(), inner = begin();
        check(session != inner);
        MPI_Comm self = comm_of(inner, "mpi://SELF", "local");
        use(self);
        MPI_Comm_free(&self);
        end(session);
        end(inner);
    }
}

void derived(MPI_Session session) {
    MPI_Comm world = comm_of(session, "mpi://WORLD", "derived"), copy, half;
    int rank = rank_in(world), size = size_of(world);
    MPI_Comm_dup(world, &copy);
    MPI_Comm_split(copy, rank % 2, 0, &half);
    use(copy);
    use(half);
    MPI_Group whole, part;
    MPI_Comm_group(half, &whole);
    int first = 0;
    MPI_Group_incl(whole, 1, &first, &part);
    check_equal(size_of(half), (size + 1 - rank % 2) / 2);
    MPI_Group_free(&part);
    MPI_Group_free(&whole);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&world);
}

// Uses two sessions at once. Their messages have the same sources and tags.
void beside() {
    MPI_Session sessions[2] = {begin(), begin()};
    MPI_Comm comms[2] = {comm_of(sessions[0], "mpi://WORLD", "first"),
                         comm_of(sessions[1], "mpi://WORLD", "second")};
    int rank = rank_in(comms[0]), size = size_of(comms[0]), got[2] = {-1, -1};
    MPI_Request requests[4];
    int told[2] = {100 + rank, 200 + rank};
    for (int i = 0; i < 2; ++i) MPI_Isend(&told[i], 1, MPI_INT, (rank + 1) % size, 0, comms[i], &requests[i]);
    for (int i = 1; i >= 0; --i)
        MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    check_equal(got[0], 100 + (rank + size - 1) % size);
    check_equal(got[1], 200 + (rank + size - 1) % size);
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_free(&comms[i]);
        end(sessions[i]);
    }
}

}  // namespace

int main() {
    MPI_Session session = begin();
    MPI_Comm world = comm_of(session, "mpi://WORLD", "main");
    int rank = rank_in(world);
    use(world);
    beside();
    derived(session);
    MPI_Comm_free(&world);
    end(session);
    if (rank % 2 == 0) local_rounds();
    session = begin();
    derived(session);
    end(session);
    return 0;
}
