// Uses the world model and sessions in one process in every order: before, during and after each other.
#include <vector>

#include "session.h"

namespace {

bool initialized() {
    int flag = -1;
    MPI_Initialized(&flag);
    return flag;
}
bool finalized() {
    int flag = -1;
    MPI_Finalized(&flag);
    return flag;
}

void use_once(const char *tag) {
    MPI_Session session = begin();
    MPI_Comm world = comm_of(session, "mpi://WORLD", tag), self = comm_of(session, "mpi://SELF", tag);
    use(world);
    check_equal(size_of(self), 1);
    use(self);
    MPI_Comm_free(&self);
    MPI_Comm_free(&world);
    end(session);
}

// Without the world model, MPI_COMM_WORLD is not a communicator, and errors that concern no object reach the
// initial error handler.
void without_world(MPI_Session session) {
    MPI_Comm world = comm_of(session, "mpi://WORLD", "without");
    int size, provided;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    check_error(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM, "MPI_COMM_WORLD");
    check_error(MPI_Query_thread(&provided), MPI_ERR_OTHER, "MPI_Session_get_info");
    check_error(MPI_Finalize(), MPI_ERR_OTHER, "MPI_Init");
    MPI_Comm_free(&world);
}

}  // namespace

int main(int argc, char **argv) {
    check(!initialized() && !finalized());
    use_once("before");
    check(!initialized() && !finalized(), "sessions are not the world model");

    MPI_Session across = begin();
    without_world(across);
    MPI_Init(&argc, &argv);
    check(initialized() && !finalized());
    use(MPI_COMM_WORLD);
    use_once("beside");
    MPI_Comm comm = comm_of(across, "mpi://WORLD", "across");
    int result;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    check_equal(result, MPI_CONGRUENT);

    // This message is under way during MPI_Finalize, which must not affect the session's traffic.
    int rank = rank_in(comm), size = size_of(comm);
    std::vector<int> sent(200'000, rank), got(200'000, -1);
    MPI_Request request;
    MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_INT, (rank + 1) % size, 3, comm, &request);
    MPI_Finalize();
    check(initialized() && finalized());
    MPI_Recv(got.data(), static_cast<int>(got.size()), MPI_INT, (rank + size - 1) % size, 3, comm,
             MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(got == std::vector<int>(got.size(), (rank + size - 1) % size), "the message is not what was sent");
    use(comm);
    MPI_Comm_free(&comm);
    end(across);

    for (int round = 0; round < 3; ++round) use_once("after");
    check_error(MPI_Init(&argc, &argv), MPI_ERR_OTHER, "a second time");
    check(initialized() && finalized());
    return 0;
}
